//! The agents' own user files stay as they are, to the byte and the time: the builder looks at them around every
//! command of the suite, and here every command meets them.

use crate::support::Test;

const FILES: &[(&str, &str)] = &[
    ("home/.claude.json", "{\"projects\": {}, \"mcpServers\": {\"own\": {\"command\": \"own\"}}}"),
    ("home/.claude/settings.json", "{ \"env\": {} }"),
    ("home/.codex/config.toml", "# mine\n[mcp_servers.own]\ncommand = \"own\"\n"),
    ("home/.codex/auth.json", "{}"),
    ("home/.cursor/mcp.json", "{ /* mine */ \"mcpServers\": {} }"),
    ("home/.config/opencode/opencode.jsonc", "{ // mine\n \"mcp\": {} }"),
];

fn test() -> Test {
    let test = Test::new().config("[servers.a]\ncommand = [\"<server>\", \"stdio\"]\n");
    FILES.iter().fold(test, |test, (path, text)| test.write(path, text)).any_stdout().any_stderr()
}

#[test]
fn no_command_touches_them() {
    let commands: &[&[&str]] = &[
        &["list"],
        &["list", "--json"],
        &["describe"],
        &["describe", "claude"],
        &["describe", "codex", "--json"],
        &["describe", "cursor"],
        &["describe", "opencode"],
        &["completions", "bash"],
        &["man"],
        &["schema"],
        &["schema", "secrets"],
        &["launch", "inspect"],
        &["launch", "codex", "--dry-run"],
    ];
    for command in commands {
        test().args(command.iter().copied()).success();
    }
}

#[test]
fn no_launch_touches_them() {
    for (agent, program) in
        [("claude", "claude"), ("codex", "codex"), ("cursor", "cursor-agent"), ("opencode", "opencode")]
    {
        for options in [&[][..], &["--strict"], &["--server", "a"]] {
            if agent == "cursor" && options == ["--strict"] {
                continue;
            }
            let run =
                test().agent(program, "").args(["launch", agent]).args(options.iter().copied()).success();
            assert!(run.agent_was_started(), "{agent}");
        }
    }
}
