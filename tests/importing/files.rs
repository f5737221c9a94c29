//! Which files are read, and what is said of those that can't be.

use super::{CLAUDE, DOCS, FILE, ONE, claude, looked_at, written};
use crate::support::Test;

#[test]
fn an_agents_files_are_found_and_said() {
    let run = claude(ONE)
        .stderr(format!(
            "{}squire: docs (<T>/{CLAUDE}:2): new\nsquire: docs is in <T>/{FILE} now, and off until approved\n\
             squire: what remains:\n  squire approve docs\n\
             squire: the agents still have their own; this takes them out there:\n  claude mcp remove -s user docs\n",
            looked_at("not there")
        ))
        .success();
    assert_eq!(written(&run, FILE).as_deref(), Some(DOCS));
}

#[test]
fn variables_move_an_agents_files() {
    let test = Test::new()
        .write("home/elsewhere/.claude.json", ONE)
        .write("home/codex/config.toml", "[mcp_servers.c]\ncommand = \"c\"\n");
    let claude = test.path("home/elsewhere");
    let codex = test.path("home/codex");
    let run = test
        .env("CLAUDE_CONFIG_DIR", claude)
        .env("CODEX_HOME", codex)
        .args(["import", "claude", "codex"])
        .any_stderr()
        .success();
    let expected = format!("{DOCS}\n[servers.c]\ncommand = \"c\"\ntrust = \"community\"\n");
    assert_eq!(written(&run, FILE).as_deref(), Some(expected.as_str()));
}

#[test]
fn where_there_is_nothing_that_is_said() {
    Test::new()
        .args(["import", "windsurf"])
        .stderr("squire: <T>/home/.codeium/windsurf/mcp_config.json (Windsurf): not there\nsquire: there is no server to import in what was looked at\n")
        .unchanged()
        .code(1);
}

/// B15: a broken file is told with line and column, and fails alone.
#[test]
fn b15_a_broken_file_fails_alone() {
    let broken = "{ \"mcpServers\": {\n  \"a\": { \"command\": \"a\", }, oops\n";
    let told =
        "squire: <T>/project/.mcp.json:2:29: error: this is no JSON: expected string for object property\n";
    let test = claude(ONE).write("project/.mcp.json", broken).any_stderr();
    let run = test.clone().code(1);
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert_eq!(written(&run, FILE).as_deref(), Some(DOCS));
    assert_eq!(std::fs::read_to_string(test.path("project/.mcp.json")).unwrap(), broken);
    Test::new()
        .write("project/.mcp.json", broken)
        .args(["import", ".mcp.json"])
        .stderr(told)
        .unchanged()
        .code(1);
}

#[test]
fn b16_what_can_not_be_read_says_why() {
    for (file, bytes, told) in [
        (".mcp.json", &b"\xff\xfe{\0}\0"[..], "1:1: error: this is UTF-16; squire reads UTF-8"),
        (".mcp.json", b"{\n \"a\": \"\xff\"}", "2:8: error: this byte is not UTF-8"),
        (".mcp.json", b"", "1:1: error: this is no JSON: it is empty"),
        (".mcp.json", b"[]", "1:1: error: an object with `mcpServers` was expected"),
        (".mcp.json", b"{\"mcpServers\": []}", "1:16: error: `mcpServers` wants servers by name"),
        (
            ".mcp.json",
            b"{\"mcpServers\": {\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}",
            "2:1: error: \"a\" is in line 1 already: take one of the two out",
        ),
        (
            ".mcp.json",
            b"{\"mcpServers\": {\"a\": {\"command\": \"x\",\n \"command\": \"y\"}}}",
            "2:2: error: \"command\" is in line 1 already: take one of the two out",
        ),
        (".codex/config.toml", b"[mcp_servers.a]\ncommand = x\n", "2:11: error: this is no TOML: "),
        (".kaged/project.yaml", b"mcp:\n  a: [\n", "3:1: error: this is no YAML: "),
        (
            "a.kedi",
            b"> mcp:\n    what is this\n",
            "2:5: error: a field of `> mcp:` was expected, as in `command: uv`",
        ),
        ("a.json", b"{\"other\": 1}", "1:1: error: there are no servers of a known tool in it: "),
        (
            "a.json",
            b"{\"mcpServers\": {\"a\": {\"command\": \"${X}\"}}}",
            "1:1: error: several tools write `mcpServers`, and each has references of its own: say which with --as claude, ",
        ),
    ] {
        let test = Test::new().write(&format!("project/{file}"), bytes).args(["import", file]);
        let run = test.any_stderr().unchanged().code(1);
        let expected = format!("squire: <T>/project/{file}:{told}");
        assert!(run.stderr.starts_with(&expected), "{}\ninstead of\n{expected}", run.stderr);
    }
}

/// An entry that is none fails alone, too, and its fields are named.
#[test]
fn b17_b19_a_broken_entry_is_left_out_and_said() {
    for (entry, told) in [
        ("{ \"command\": [] }", "`command` is empty, and names no program"),
        ("{ \"command\": 5 }", "`command` wants an array of strings"),
        ("5", "\"bad\" is no entry of a server: it wants `command` or `url`"),
        ("{ \"type\": \"ws\", \"url\": \"ws://x\" }", "`type` is \"ws\": squire speaks stdio, http and sse"),
        (
            "{ \"httpUrl \": \"https://h/x\" }",
            "it has neither `command` nor `url`, and says not what the server is; squire does not know \"httpUrl \"",
        ),
        (
            "{ \"url\": \"nowhere\", \"type\": \"http\" }",
            "`url` wants an address such as \"https://example.com/mcp\", and this is \"nowhere\"",
        ),
        (
            "{ \"command\": \"x\", \"env\": { \"A=B\": \"1\" } }",
            "`env`: \"A=B\" can't be the name of a variable",
        ),
        ("{ \"command\": \"x\", \"timeout\": \"5s\" }", "`timeout` wants a number"),
    ] {
        let text = ONE.replace("{ \"mcpServers\": {", &format!("{{ \"mcpServers\": {{ \"bad\": {entry},"));
        let run = claude(&text).any_stderr().code(1);
        let line = run.stderr.lines().find(|line| line.contains("error: ")).unwrap_or_default();
        assert!(
            line.starts_with(&format!("squire: <T>/{CLAUDE}:1:")) && line.ends_with(told),
            "{}",
            run.stderr
        );
        assert_eq!(written(&run, FILE).as_deref(), Some(DOCS), "{entry}");
    }
}

/// B27: no link of a project is followed; the user's own may be one.
#[test]
fn b27_links() {
    let test = claude("{}").write("elsewhere.json", ONE).link("../elsewhere.json", "project/.mcp.json");
    let run = test.any_stderr().unchanged().code(1);
    assert!(run.stderr.contains("project/.mcp.json:1:1: error: it can't be read: "), "{}", run.stderr);
    let test = Test::new().write("elsewhere.json", ONE).link("../elsewhere.json", CLAUDE);
    let run = test.args(["import", "claude"]).any_stderr().success();
    assert_eq!(written(&run, FILE).as_deref(), Some(DOCS));
    assert!(run.path(CLAUDE).is_symlink());
}

#[test]
fn what_a_file_is_can_be_said() {
    let text = "{ \"mcpServers\": { \"a\": { \"command\": \"a\", \"args\": [\"${env:X}\", \"${X}\"] } } }";
    for (format, one, other) in [("cursor", "${env:X}", "$${X}"), ("claude", "$${env:X}", "${env:X}")] {
        let run = Test::new()
            .write("project/a.txt", text)
            .args(["import", "a.txt", "--as", format])
            .any_stderr()
            .success();
        let expected =
            format!("[servers.a]\ncommand = \"a\"\nargs = [\"{one}\", \"{other}\"]\ntrust = \"community\"\n");
        assert_eq!(written(&run, FILE).as_deref(), Some(expected.as_str()));
    }
}
