//! What an agent is started with.

use crate::support::Test;

#[test]
fn claude_gets_a_private_file_behind_the_users_arguments() {
    let run = Test::new()
        .config("[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n")
        .agent("claude", "exit 3")
        .args(["launch", "claude", "--server", "docs", "--", "-p", "hello"])
        .stderr("squire: claude gets 1 of 1: docs; to let it use them: --allowedTools mcp__docs\n")
        .code(3);
    assert_eq!(
        run.agent_arguments(),
        ["-p", "hello", "--mcp-config=<T>/home/.local/state/squire/private/<private>/claude.json"]
    );
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
}
