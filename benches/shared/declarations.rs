//! Lists of servers.

/// Servers of every kind that a launch delivers: programs with references and variables, and an address in four.
pub(crate) fn declarations(servers: usize) -> String {
    let one = |number: usize| {
        let kind = if number % 4 == 3 {
            format!("url = \"https://server-{number}.example.com/mcp\"\n")
        } else {
            format!(
                "command = [\"npx\", \"-y\", \"@example/mcp-{number}\"]\n\
                 env = {{ API_URL = \"${{env:API_URL:-https://example.com}}\", LEVEL = \"info\" }}\n\
                 inherit_env = [\"PGHOST\"]\nstartup_timeout = \"1m\"\n"
            )
        };
        format!("[servers.server-{number}]\n{kind}description = \"the server of number {number}\"\n\n")
    };
    (0..servers).map(one).collect()
}
