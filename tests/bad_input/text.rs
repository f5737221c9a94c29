//! Files as text: encodings, sizes, depths and characters that act on a terminal.

use std::process::Command;

use super::{refused, refused_everywhere, with_agents};
use crate::support::{Test, many_servers};

#[test]
fn b16_other_encodings() {
    refused(b"[servers.a]\ncommand = \"\xc3\xa9\xff\"\n", "<F>:2:13: this byte is not UTF-8");
    let utf16: Vec<u8> = "\u{feff}[servers.a]\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    refused(utf16, "<F>:1:1: this is UTF-16; squire reads UTF-8");
    let utf16: Vec<u8> = "\u{feff}[servers.a]\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    refused(utf16, "<F>:1:1: this is UTF-16; squire reads UTF-8");
}

/// B16: no byte order mark and no carriage return is in any value.
#[test]
fn b16_a_byte_order_mark_and_crlf_are_accepted() {
    let run = Test::new()
        .write(
            "home/.config/squire/squire.toml",
            "\u{feff}[servers.a]\r\ncommand = \"a\"\r\nargs = [\r\n  \"x\",\r\n  \"\"\"\r\ny\"\"\",\r\n]\r\n",
        )
        .args(["list", "--json"])
        .any_stdout()
        .unchanged()
        .success();
    let listed: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(listed["servers"][1]["runs"], "a x y");
    // The place is that of the file, the mark is no column.
    refused("\u{feff}[servers.a\r\n", "<F>:1:11: unclosed table, expected `]`");
}

#[test]
fn a_file_that_is_too_large_or_none() {
    let comment = format!("# {}\n", "x".repeat(1021));
    let exact = comment.repeat(1024);
    assert_eq!(exact.len(), 1024 * 1024);
    Test::new()
        .write("home/.config/squire/squire.toml", &exact)
        .args(["list"])
        .any_stdout()
        .unchanged()
        .success();
    refused(format!("{exact}\n"), "<F>: it is larger than 1024 KiB");
    refused_everywhere(
        |test| test.write("home/.config/squire/squire.toml/x", ""),
        "<F>: it is no regular file",
    );
    refused_everywhere(
        |test| {
            let test = test.write("home/.config/squire/x", "");
            let fifo = test.path("home/.config/squire/squire.toml");
            assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
            test
        },
        "<F>: it is no regular file",
    );
}

/// Depth is refused by the parser, and overflows no stack.
#[test]
fn deep_nesting() {
    let deep = 100_000;
    refused(
        format!("x = {}{}\n", "[".repeat(deep), "]".repeat(deep)),
        "<F>:1:85: cannot recurse further; max recursion depth met",
    );
    refused(format!("x{} = 1\n", ".a".repeat(deep)), "<F>:1:1: recursion limit");
    refused(format!("[x{}]\n", ".a".repeat(deep)), "<F>:1:1: recursion limit");
}

/// A mistake that the parser sees a hundred thousand times is not told a hundred thousand times.
#[test]
fn errors_without_number_are_told_in_a_bounded_text() {
    for bad in ["[".repeat(100_000), "{a=".repeat(100_000), "= 1\n".repeat(100_000)] {
        let run = Test::new().config(&format!("x = {bad}")).args(["list"]).any_stderr().unchanged().code(1);
        let lines = run.stderr.lines().count();
        assert!(lines <= 200, "{lines} lines");
    }
}

/// Nothing acts on the terminal, whoever wrote it: escapes, direction marks, line ends within a value.
#[test]
fn control_characters_are_never_raw() {
    let raw = |text: &str| {
        text.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c))
    };
    refused(
        "[servers.\"\\u001b[2J\\u202e\"]\ncommand = \"a\"\n",
        "<F>:1:10: the server name `\\u{1b}[2J\\u{202e}` holds '\\u{1b}'; letters, digits, `-` and `_` are legal in \
         every agent",
    );
    let odd = "[servers.a]\ncommand = \"\\u001b[2Ja\"\nargs = [\"\\u0007\\u009b31m\", \"\\u202e\", \"a\\nb\"]\n\
               description = \"\\u001b[2J\\u009b\"\nenv = { \"\\u001b[31m\" = \"\\u001b[31m\" }\n\
               [servers.b]\nurl = \"https://h/\\u202e\"\nheaders = { A = \"\\u202e$${\" }\n";
    for arguments in
        [&["list"][..], &["describe", "claude"], &["describe", "codex"], &["describe", "opencode"]]
    {
        let run = Test::new().config(odd).args(arguments.iter().copied()).any_stdout().unchanged().success();
        assert_eq!(raw(&run.stdout), None, "{arguments:?}: {}", run.stdout);
    }
    let run = with_agents(Test::new().config(odd)).args(["launch", "codex"]).any_stderr().success();
    assert_eq!(raw(&run.stderr), None, "{}", run.stderr);
}

/// A directory's name is somebody else's text too: a repository chooses it.
#[test]
fn control_characters_of_a_directory_are_never_raw() {
    let project = "project/\u{1b}[2J\u{202e}";
    for arguments in
        [&["list"][..], &["describe", "claude"], &["describe", "codex"], &["describe", "opencode"]]
    {
        let run = Test::new()
            .write(&format!("{project}/squire.toml"), "[servers.a]\ncommand = \"a\"\n")
            .write(&format!("{project}/opencode.json"), "{ broken")
            .write(&format!("{project}/.codex/config.toml"), "broken")
            .directory(project)
            .args(arguments.iter().copied())
            .any_stdout()
            .success();
        let raw = run.stdout.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(raw, None, "{arguments:?}: {}", run.stdout);
    }
}

/// A time that no clock can hold is an error in the file or the longest wait there is, never a crash.
#[test]
fn times_without_end() {
    for time in ["18446744073709551615s", "10000000000000000000s", "584000000000years"] {
        for field in ["timeout", "startup_timeout"] {
            for agent in ["claude", "codex", "cursor", "opencode", "inspect"] {
                let run = Test::new()
                    .config(&format!("[servers.a]\ncommand = \"a\"\n{field} = \"{time}\"\n"))
                    .args(["describe", agent])
                    .any_stdout()
                    .any_stderr()
                    .ends();
                let code = run.1;
                assert!(matches!(code, Some(0 | 1)), "{agent}, {field} = {time}: {code:?} {}", run.0.stderr);
            }
        }
    }
}

#[test]
fn a_thousand_servers() {
    let test = || with_agents(Test::new()).config(&many_servers(1000));
    let listed = test().args(["list"]).any_stdout().unchanged().success();
    assert_eq!(listed.stdout.lines().count(), 1002);
    let run = test().args(["launch", "claude", "--quiet"]).success();
    let file: serde_json::Value =
        serde_json::from_str(run.agent()["files"][0]["content"].as_str().unwrap()).unwrap();
    assert_eq!(file["mcpServers"].as_object().unwrap().len(), 1001);
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
    let run = test().args(["launch", "opencode"]).any_stderr().unchanged().code(125);
    assert!(!run.agent_was_started());
    assert!(run.stderr.contains("launch with fewer servers (--profile, --server)"), "{}", run.stderr);
    // More than the kernel takes, or all of them: never a start that the kernel refuses.
    let (run, code) = test().args(["launch", "codex", "--quiet"]).any_stderr().ends();
    assert!(code == Some(0) && run.agent_was_started() || code == Some(125), "{code:?} {}", run.stderr);
    assert!(!run.stderr.contains("Argument list too long"), "{}", run.stderr);
}
