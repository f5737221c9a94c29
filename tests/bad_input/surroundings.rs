//! What stands around the files: the command line, the environment, directories and the disk.

use super::with_agents;
use crate::support::{Run, Test};

#[test]
fn b86_unknown_names_on_the_command_line() {
    let config = "[servers.github]\ncommand = \"g\"\n[servers.docs]\ncommand = \"d\"\n[profiles.work]\nservers = [\"docs\"]\n";
    let test = || with_agents(Test::new().config(config)).unchanged();
    let profile = "squire: there is no profile \"wrok\"; did you mean `work`?\n";
    test().args(["list", "--profile", "wrok"]).stderr(profile).code(2);
    test().args(["describe", "claude", "--profile", "wrok"]).stderr(profile).code(2);
    for agent in ["claude", "codex", "cursor", "opencode", "inspect"] {
        let run = test()
            .args(["launch", agent, "--profile", "wrok", "--server", "guthib", "--server", "zzz"])
            .stderr(format!(
                "{profile}there is no server \"guthib\"; did you mean `github`?\n\
                 there is no server \"zzz\"; there are: squire, github, docs\n"
            ))
            .code(125);
        assert!(!run.agent_was_started());
    }
    Test::new()
        .args(["list", "--profile", "x"])
        .stderr("squire: there is no profile \"x\"; no profile is declared\n")
        .unchanged()
        .code(2);
}

#[test]
fn a_wrong_command_line() {
    for (arguments, code) in [
        (&["list", "--nonsense"][..], 2),
        (&["describe", "emacs"], 2),
        (&["describe", "--profile", "x"], 2),
        (&["launch"], 125),
        (&["launch", "emacs"], 125),
        (&["launch", "claude", "--nonsense"], 125),
        (&["launch", "claude", "hello"], 125),
        (&["gateway", "a"], 2),
        (&["nonsense"], 2),
        (&[], 2),
    ] {
        let run =
            with_agents(Test::new()).args(arguments.iter().copied()).any_stderr().unchanged().code(code);
        assert!(!run.agent_was_started() && !run.stderr.is_empty());
    }
}

/// B21: a launch names every server and reference at once; looking needs no values.
#[test]
fn b21_unset_variables() {
    let config = "[servers.a]\ncommand = [\"srv\", \"--as=${env:NOPE_USER}\"]\ncwd = \"${env:NOPE_DIR}\"\n\
                  env = { TOKEN = \"${env:NOPE_TOKEN}\", D = \"${env:NOPE_TOKEN:-dev}\", E = \"${env:NOPE_TOKEN:-}\" }\n\
                  inherit_env = [\"NOPE_INHERITED\"]\n\
                  [servers.b]\ncommand = \"srv\"\nenv = { TOKEN = \"x${env:NOPE_TOKEN}\", SET = \"${env:HOME}\" }\n\
                  [servers.off]\ncommand = \"srv\"\ndisabled = true\nenv = { TOKEN = \"${env:NOPE_TOKEN}\" }\n\
                  [servers.c]\ncommand = \"srv\"\n";
    let told = "squire: nothing was started:\n  \
                a: args needs ${env:NOPE_USER}, which is not set or empty\n  \
                a: env.TOKEN needs ${env:NOPE_TOKEN}, which is not set or empty\n  \
                a: cwd needs ${env:NOPE_DIR}, which is not set or empty\n  \
                b: env.TOKEN needs ${env:NOPE_TOKEN}, which is not set or empty\n  \
                help: set it, give it a default as in ${env:NAME:-default}, or leave such servers out with --allow-missing\n";
    // Set to nothing is not set.
    let test = || with_agents(Test::new().config(config)).env("NOPE_TOKEN", "").unchanged();
    for agent in ["claude", "codex", "cursor", "opencode", "inspect"] {
        let run = test().args(["launch", agent]).stderr(told).code(125);
        assert!(!run.agent_was_started());
        test().args(["describe", agent]).any_stdout().success();
    }
    test().args(["list"]).any_stdout().success();
    // What is not selected needs nothing.
    let run = with_agents(Test::new().config(config))
        .args(["launch", "codex", "--quiet", "--server", "c"])
        .success();
    assert!(run.agent_was_started());
}

/// B60: looking needs no home and writes nothing, wherever a home would be.
#[test]
fn b60_without_a_home() {
    for arguments in [&["list"][..], &["describe"], &["describe", "claude"], &["--version"], &["--help"]] {
        let run =
            |test: Test| -> Run { test.args(arguments.iter().copied()).any_stdout().unchanged().success() };
        run(Test::new()
            .env("SQUIRE_CONFIG_DIR", "/nonexistent/c")
            .env("SQUIRE_STATE_DIR", "/nonexistent/s")
            .env_remove("HOME"));
        run(Test::new().env("HOME", "/"));
        run(Test::new().env("HOME", "").env("SQUIRE_CONFIG_DIR", "/nonexistent/c"));
        run(Test::new().env("TMPDIR", "/nonexistent").env("XDG_CONFIG_HOME", "relative"));
    }
    assert!(!std::path::Path::new("/.config/squire").exists());
    Test::new()
        .env("HOME", "relative")
        .args(["list"])
        .stderr("squire: there is no home directory: set HOME to an absolute path, or SQUIRE_CONFIG_DIR\n")
        .unchanged()
        .code(1);
}

#[test]
fn squires_own_directories_must_be_the_users() {
    Test::new()
        .env("SQUIRE_CONFIG_DIR", "relative")
        .args(["list"])
        .stderr("squire: SQUIRE_CONFIG_DIR is relative: it must be an absolute path\n")
        .unchanged()
        .code(1);
    for variable in ["SQUIRE_CONFIG_DIR", "SQUIRE_STATE_DIR"] {
        let test = with_agents(Test::new());
        let inside = test.path("project/inside");
        let run = test
            .env(variable, inside)
            .args(["launch", "claude"])
            .stderr(format!(
                "squire: <T>/project/inside lies inside the project <T>/project: a repository could fill it; set \
                 {variable} to a directory of your own\n"
            ))
            .unchanged()
            .code(125);
        assert!(!run.agent_was_started());
    }
    for words in [&["list"][..], &["show", "squire"], &["describe", "claude"]] {
        let test = with_agents(Test::new());
        let inside = test.path("project/inside");
        test.env("SQUIRE_CONFIG_DIR", inside)
            .args(words.iter().copied())
            .stderr(
                "squire: <T>/project/inside lies inside the project <T>/project: a repository could fill it; set \
                 SQUIRE_CONFIG_DIR to a directory of your own\n",
            )
            .unchanged()
            .code(1);
    }
}

/// What is not written is not done: a full disk is told, whatever the command.
#[test]
fn a_full_disk_is_told() {
    for (words, code) in [
        (&["list"][..], 1),
        (&["list", "--json"], 1),
        (&["show", "squire"], 1),
        (&["check", "--sarif"], 1),
        (&["describe"], 1),
        (&["schema"], 1),
        (&["man"], 1),
        (&["completions", "bash"], 1),
        (&["launch", "inspect", "--dry-run"], 125),
    ] {
        Test::new()
            .behind("exec > /dev/full")
            .args(words.iter().copied())
            .stderr("squire: stdout can't be written: No space left on device (os error 28)\n")
            .code(code);
    }
}

/// B60: a place for private files is needed, and one that others can enter is none.
#[test]
fn b60_private_files_want_a_private_place() {
    let test = || {
        with_agents(Test::new().config("[servers.a]\ncommand = \"a\"\n"))
            .args(["launch", "claude", "--server", "a", "--quiet"])
    };
    let place = |run: &Run| run.agent_arguments()[0].clone();
    let open = test().write("home/run/x", "").mode("home/run", 0o777);
    let directory = open.path("home/run");
    let run = open.env("XDG_RUNTIME_DIR", directory).success();
    assert_eq!(place(&run), "--mcp-config=<T>/home/.local/state/squire/private/<private>/claude.json");
    assert_eq!(run.files_below("home/run"), ["x"]);
    let own = test().write("home/run/x", "").mode("home/run", 0o700);
    let directory = own.path("home/run");
    let run = own.env("XDG_RUNTIME_DIR", directory).success();
    assert_eq!(place(&run), "--mcp-config=<T>/home/run/squire/<private>/claude.json");
    assert_eq!(run.files_below("home/run"), ["x"]);
    let run = test()
        .env("SQUIRE_STATE_DIR", "/dev/null/squire")
        .stderr("squire: no private directory can be had in /dev/null/squire/private; set SQUIRE_STATE_DIR to one that can be written: Not a directory (os error 20)\n")
        .unchanged()
        .code(125);
    assert!(!run.agent_was_started());
    // Codex needs no file, so it needs no place.
    let run = with_agents(Test::new())
        .env("SQUIRE_STATE_DIR", "/dev/null/squire")
        .args(["launch", "codex", "--quiet"])
        .unchanged()
        .success();
    assert!(run.agent_was_started());
}

/// B16: what stands around our entries in the agent's own file stays to the byte, mark and line ends included.
#[test]
fn b16_a_file_of_the_agent_keeps_its_mark_and_line_ends() {
    let original = "\u{feff}{\r\n  \"mcpServers\": {\r\n    \"own\": { \"command\": \"x\" }\r\n  },\r\n  \"z\": 1\r\n}\r\n";
    let run = with_agents(Test::new())
        .write("project/.cursor/mcp.json", original)
        .args(["launch", "cursor", "--quiet"])
        .success();
    let during = run.agent()["files"][0]["content"].as_str().unwrap().to_owned();
    assert!(during.starts_with("\u{feff}{\r\n  \"mcpServers\": {\r\n    \"squire\": {"), "{during:?}");
    assert!(
        during.ends_with(",\r\n    \"own\": { \"command\": \"x\" }\r\n  },\r\n  \"z\": 1\r\n}\r\n"),
        "{during:?}"
    );
    assert!(!during.replace("\r\n", "").contains(['\r', '\n']), "line ends are mixed: {during:?}");
    assert_eq!(std::fs::read_to_string(run.path("project/.cursor/mcp.json")).unwrap(), original);
    let utf16: Vec<u8> = original.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let run = with_agents(Test::new())
        .write("project/.cursor/mcp.json", utf16)
        .args(["launch", "cursor", "--quiet"])
        .stderr("squire: <T>/project/.cursor/mcp.json:1:1: it is not UTF-8\n  help: mend the file, or move it away\n")
        .unchanged()
        .code(125);
    assert!(!run.agent_was_started());
}
