//! `[agents.NAME]`: the user's own commands, which speak a known agent's language, and what is set for known ones.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Run, SQUIRE, Test, gateway_words};

const SERVER: &str = "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n";
const OWN: &str = "[agents.my-claude]\nstrategy = \"claude\"\nprogram = [\"fuelclaude\", \"--team\"]\n";
const OURS: &str = "--mcp-config=<T>/home/.local/state/squire/private/<private>/claude.json";

fn own(more: &str) -> Test {
    Test::new().config(&format!("{SERVER}{OWN}{more}"))
}

fn claude_file(run: &Run) -> Value {
    serde_json::from_str(run.agent_file("claude.json")["content"].as_str().unwrap()).unwrap()
}

#[test]
fn program_and_first_arguments_before_the_users_and_ours_as_for_claude() {
    let run = own("")
        .agent("fuelclaude", "exit 5")
        .args(["launch", "my-claude", "--", "-p", "x y", "--", "--last"])
        .stderr("squire: my-claude gets 2 of 2: squire, a; to let it use them: --allowedTools mcp__squire,mcp__a\n")
        .code(5);
    assert_eq!(run.agent()["name"], "fuelclaude");
    assert_eq!(run.agent_arguments(), ["--team", "-p", "x y", OURS, "--", "--last"]);
    assert_eq!(run.agent_variable("MCP_CONNECT_TIMEOUT_MS").as_deref(), Some("35000"));
    // Nothing is left of the launch.
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
}

#[test]
fn a_subcommand_of_claude_is_one_of_my_claude() {
    let run = own("")
        .agent("fuelclaude", "")
        .args(["launch", "my-claude", "--", "mcp", "list"])
        .any_stderr()
        .success();
    assert!(
        run.stderr.starts_with("squire: my-claude gets no servers: nothing is added: "),
        "{}",
        run.stderr
    );
    assert_eq!(run.agent_arguments(), ["--team", "mcp", "list"]);
}

#[test]
fn its_gateway_entry_names_it_and_works() {
    let test = own("").agent("fuelclaude", "");
    let run = test.clone().args(["launch", "my-claude", "--quiet"]).success();
    let entry = claude_file(&run)["mcpServers"]["a"].clone();
    assert_eq!(entry["args"], json!(gateway_words(&test, "a", "my-claude")));
    let words: Vec<String> = serde_json::from_value(entry["args"].clone()).unwrap();
    let run = test.args(words).stdin(crate::gateway::CONVERSATION).any_stdout().success();
    assert!(run.path("log").exists(), "the server was not started");
}

/// The built-in server tells what this launch was given.
#[test]
fn its_built_in_server_knows_the_launch() {
    let call = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_servers","arguments":{}}}"#,
        "\n"
    );
    let test = own("[servers.b]\ncommand = \"b\"\ndescription = \"mine\"\n");
    let words = gateway_words(&test, "squire", "my-claude").join(" ");
    let run = test
        .write("call", call)
        .script("bin/fuelclaude", &format!("#!/bin/sh\n{SQUIRE} {words} < <T>/call > <T>/answer\n"))
        .args(["launch", "my-claude", "--quiet", "--server", "squire", "--server", "b"])
        .success();
    let answers = fs::read_to_string(run.path("answer")).unwrap();
    let answer: Value = serde_json::from_str(answers.lines().nth(1).unwrap()).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["agent"], "my-claude");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("\nb (stdio): mine [delivered; the agent has not started it]"), "{text}");
}

#[test]
fn a_gateway_of_an_agent_that_is_gone_says_so() {
    let test = Test::new().config(SERVER);
    let run = test.clone().args(gateway_words(&test, "a", "my-claude")).any_stdout().any_stderr().code(1);
    assert!(
        run.stderr.starts_with("squire: the server a could not be started: there is no"),
        "{}",
        run.stderr
    );
    assert!(!run.path("log").exists());
}

#[test]
fn the_program_is_a_path_or_below_home() {
    for (program, place) in [("<T>/opt/x y/agent", "opt/x y/agent"), ("~/tools/agent", "home/tools/agent")] {
        let test = Test::new().config(&format!(
            "{SERVER}[agents.mine]\nstrategy = \"codex\"\nprogram = [\"{program}\", \"-m\", \"o3\"]\n"
        ));
        let run = test
            .agent("unused", "exit 5")
            .link(crate::support::fake_agent(), place)
            .args(["launch", "mine", "--quiet", "--server", "a", "--", "hi there"])
            .code(5);
        assert_eq!(run.agent_arguments()[..4], ["-m", "o3", "hi there", "-c"]);
    }
}

#[test]
fn a_program_that_is_not_there_is_127_and_one_that_is_none_126() {
    let launch = |program: &str| {
        let test = Test::new()
            .config(&format!("{SERVER}[agents.mine]\nstrategy = \"codex\"\nprogram = [\"{program}\"]\n"));
        test.args(["launch", "mine", "--quiet"]).any_stderr()
    };
    let run = launch("nowhere").unchanged().code(127);
    assert_eq!(run.stderr, "squire: nowhere was not found on PATH\n");
    let run = launch("<T>/plain").write("plain", "text").code(126);
    assert!(run.stderr.contains("<T>/plain"), "{}", run.stderr);
}

/// The name is looked up as any agent's: nothing that a repository could have put on PATH.
#[test]
fn b43_a_program_of_the_project_is_skipped() {
    let test = own("").script("project/bin/fuelclaude", "#!/bin/sh\nexit 66\n");
    let path = format!("{}:/usr/bin:/bin", test.path("project/bin").display());
    test.env("PATH", path)
        .args(["launch", "my-claude", "--quiet"])
        .stderr("squire: fuelclaude was not found on PATH; <T>/project/bin/fuelclaude is skipped: it lies in the project\n")
        .code(127);
}

#[test]
fn a_known_agent_has_another_program() {
    let run = Test::new()
        .config(&format!("{SERVER}[agents.codex]\nprogram = [\"codex-nightly\", \"-m\", \"o3\"]\n"))
        .agent("codex-nightly", "")
        .args(["launch", "codex", "--quiet", "--", "hi there"])
        .success();
    assert_eq!(run.agent()["name"], "codex-nightly");
    assert_eq!(run.agent_arguments()[..4], ["-m", "o3", "hi there", "-c"]);
    let run = Test::new()
        .config("[agents.codex]\nprogram = [\"codex-nightly\"]\n")
        .agent("codex-nightly", "")
        .args(["describe", "codex", "--json"])
        .any_stdout()
        .success();
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told["program"], "<T>/bin/codex-nightly");
}

#[test]
fn its_own_profile_is_the_default_selection() {
    let config = "[servers.a]\ncommand = \"a\"\n[servers.b]\ncommand = \"b\"\n[servers.c]\ncommand = \"c\"\n\
        [profiles.default]\nservers = [\"a\"]\n[profiles.work]\nservers = [\"b\"]\n\
        [agents.codex]\nprofile = \"work\"\n\
        [agents.mine]\nstrategy = \"codex\"\nprogram = [\"codex\"]\nprofile = \"work\"\n\
        [agents.plain]\nstrategy = \"codex\"\nprogram = [\"codex\"]\n";
    for (words, expected) in [
        (&["codex"][..], "1 of 1: b"),
        (&["mine"], "1 of 1: b"),
        (&["plain"], "1 of 1: a"),
        (&["mine", "--server", "c"], "1 of 1: c"),
        (&["mine", "--profile", "default", "--server", "c"], "2 of 2: a, c"),
    ] {
        let test = Test::new().config(config).agent("codex", "").args(["launch"]).args(words.iter().copied());
        test.stderr(format!("squire: {} gets {expected}\n", words[0])).success();
    }
    let run = Test::new().config(config).args(["describe", "mine"]).any_stdout().success();
    assert!(run.stdout.contains("\nservers\n  b (stdio, gateway)\n"), "{}", run.stdout);
}

#[test]
fn an_unknown_agent_is_told_with_the_nearest() {
    for (words, code) in [(["launch", "my-cluade"], 125), (["describe", "my-cluade"], 2)] {
        own("")
            .args(words)
            .stderr("squire: there is no agent \"my-cluade\"; did you mean `my-claude`?\n")
            .unchanged()
            .code(code);
        own("")
            .args([words[0], "zzz"])
            .stderr("squire: there is no agent \"zzz\"; there are: claude, codex, cursor, opencode, inspect, my-claude\n")
            .unchanged()
            .code(code);
    }
}

#[test]
fn what_is_wrong_with_agents() {
    let refused = |config: &str, message: &str| {
        let message = message.replace("<F>", "<T>/home/.config/squire/squire.toml");
        Test::new().config(config).args(["list"]).stderr(format!("squire: {message}\n")).unchanged().code(1);
    };
    refused(
        "[agents.mine]\n[agents.half]\nstrategy = \"claude\"\n[agents.other]\nprogram = [\"x\"]\n",
        "<F>:1:9: `mine` is no agent that squire knows: it wants `strategy` and `program`\n\
         <F>:2:9: `half` is no agent that squire knows: it wants `strategy` and `program`\n\
         <F>:4:9: `other` is no agent that squire knows: it wants `strategy` and `program`",
    );
    refused(
        "[agents.claude]\nstrategy = \"codex\"\nprogram = []\n[agents.codex]\nprogram = \"codex\"\nprofile = [\"p\"]\ntools = 1\nprofiles = \"x\"\n",
        "<F>:2:1: `claude` is an agent that squire knows, and speaks its own language alone\n  help: give the custom command a name of its own\n\
         <F>:3:1: `program` wants a program, and this is empty\n\
         <F>:5:11: `program` wants an array of a program and its first arguments, and this is of type string\n\
         <F>:6:11: `profile` wants a string, and this is of type array\n\
         <F>:7:9: `tools` wants a table of filters, as in tools.NAME = { deny = [] }, and this is of type integer\n\
         <F>:8:1: unknown key `profiles` in [agents.codex]\n  help: did you mean `profile`?",
    );
    refused(
        "[agents.mine]\nstrategy = \"gemini\"\nprogram = [\"x\"]\n",
        "<F>:1:9: `mine` is no agent that squire knows: it wants `strategy` and `program`\n\
         <F>:2:12: `strategy` wants one of \"claude\", \"codex\", \"cursor\", \"opencode\", \"inspect\", and this is \"gemini\"",
    );
    refused(
        "[agents.\"my claude\"]\nstrategy = \"claude\"\nprogram = [\"x\"]\n[agents.-x]\nstrategy = \"claude\"\nprogram = [\"x\"]\n",
        "<F>:1:9: the agent name \"my claude\" wants letters, digits, `-` and `_`\n\
         <F>:4:9: the agent name \"-x\" wants letters, digits, `-` and `_`",
    );
    refused(
        "[servers.docs]\ncommand = \"x\"\n[agents.codex]\nprofile = \"wrok\"\ntools.dosc = { deny = [] }\n[profiles.work]\n",
        "<F>:4:1: there is no profile \"wrok\" in this layer\n  help: did you mean `work`?\n\
         <F>:5:7: there is no server \"dosc\" in this layer\n  help: did you mean `docs`?",
    );
}

/// A project sets nothing for an agent.
#[test]
fn an_agent_of_a_project_is_none() {
    Test::new()
        .project("[agents.evil]\nstrategy = \"claude\"\nprogram = [\"evil\"]\n")
        .args(["describe", "evil"])
        .stderr("squire: there is no agent \"evil\"; there are: claude, codex, cursor, opencode, inspect\n")
        .unchanged()
        .code(2);
}

/// A path at which nothing is is not found, as a name is, and nothing is left of the attempt.
#[test]
fn a_path_that_is_not_there_is_127() {
    for (program, shown) in [("<T>/nowhere", "<T>/nowhere"), ("~/nowhere", "<T>/home/nowhere")] {
        for strategy in ["codex", "claude"] {
            let run = Test::new()
                .config(&format!(
                    "{SERVER}[agents.mine]\nstrategy = \"{strategy}\"\nprogram = [\"{program}\"]\n"
                ))
                .args(["launch", "mine", "--quiet"])
                .any_stderr()
                .unchanged()
                .code(127);
            assert!(run.stderr.contains(shown), "{}", run.stderr);
        }
    }
}

/// B43: a relative path would be another program in every repository.
#[test]
fn b43_a_relative_program_is_none_of_the_project() {
    for program in ["./agent", "tools/agent"] {
        let decoy = "#!/bin/sh\ntouch ../pwned\nexit 66\n";
        let (run, code) = Test::new()
            .config(&format!("{SERVER}[agents.mine]\nstrategy = \"codex\"\nprogram = [\"{program}\"]\n"))
            .script("project/agent", decoy)
            .script("project/tools/agent", decoy)
            .args(["launch", "mine", "--quiet"])
            .any_stderr()
            .ends();
        assert!(!run.path("pwned").exists(), "{program} of the project was run");
        assert!(matches!(code, Some(125..=127)), "{code:?}");
    }
}

/// The first arguments are part of the command line that the agent reads (case B04).
#[test]
fn b04_first_arguments_decide_what_runs_a_session() {
    let launch = |strategy: &str, word: &str| {
        let own =
            format!("[agents.mine]\nstrategy = \"{strategy}\"\nprogram = [\"{strategy}\", \"{word}\"]\n");
        Test::new()
            .config(&format!("{SERVER}{own}"))
            .agent(strategy, "")
            .args(["launch", "mine", "--quiet", "--"])
    };
    assert_eq!(launch("claude", "mcp").args(["list"]).success().agent_arguments(), ["mcp", "list"]);
    assert_eq!(launch("codex", "mcp").success().agent_arguments(), ["mcp"]);
    // `update` is a prompt of `codex exec`.
    assert_eq!(
        launch("codex", "exec").args(["update"]).success().agent_arguments()[..3],
        ["exec", "update", "-c"]
    );
}

/// The words of a wrapper are none of the agent's, so the first word of the user's is the agent's first.
#[test]
fn b04_the_words_of_a_wrapper_are_not_the_agents() {
    let launch = || {
        let own = "[agents.mine]\nstrategy = \"claude\"\nprogram = [\"npx\", \"-p\", \"@scope/agent\", \"claude\"]\n";
        Test::new()
            .config(&format!("{SERVER}{own}"))
            .agent("npx", "")
            .args(["launch", "mine", "--quiet", "--"])
    };
    let words = ["-p", "@scope/agent", "claude"];
    assert_eq!(
        launch().args(["mcp", "list"]).success().agent_arguments(),
        [&words[..], &["mcp", "list"]].concat()
    );
    let run = launch().args(["hi", "--", "x"]).success();
    assert_eq!(run.agent_arguments(), [&words[..], &["hi", OURS, "--", "x"]].concat());
}

/// A headless session refuses tools, wherever the word for it stands.
#[test]
fn a_headless_command_is_told_what_lets_it_use_tools() {
    Test::new()
        .config(&format!("{SERVER}[agents.mine]\nstrategy = \"claude\"\nprogram = [\"claude\", \"-p\"]\n"))
        .agent("claude", "")
        .args(["launch", "mine", "--server", "a", "--", "hi"])
        .stderr("squire: mine gets 1 of 1: a; to let it use them: --allowedTools mcp__a\n")
        .success();
}

/// Without an agent all are listed, the user's own behind those that squire knows.
#[test]
fn describe_lists_the_users_own_agents() {
    let test = || {
        Test::new().config(
            "[agents.my-very-own-claude]\nstrategy = \"claude\"\nprogram = [\"fuelclaude\", \"--team\"]\n\
             [agents.codex]\nprogram = [\"~/codex\"]\n",
        )
    };
    let run = test().args(["describe"]).any_stdout().unchanged().success();
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[1], "codex               Codex CLI: arguments -c mcp_servers.NAME.KEY=VALUE");
    assert_eq!(
        lines[5],
        "my-very-own-claude  Claude Code (fuelclaude, as claude): a private file named by --mcp-config=FILE, removed after the launch"
    );
    let run = test().args(["describe", "--json"]).any_stdout().unchanged().success();
    let described: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let told = |index: usize| {
        let agent = &described["agents"][index];
        ["agent", "strategy", "program"].map(|key| agent[key].as_str().unwrap().to_owned())
    };
    assert_eq!(told(0), ["claude", "claude", "claude"]);
    assert_eq!(told(1), ["codex", "codex", "~/codex"]);
    assert_eq!(told(4), ["inspect", "inspect", "squire"]);
    assert_eq!(told(5), ["my-very-own-claude", "claude", "fuelclaude"]);
    Test::new().config("[agents.mine]\n").args(["describe"]).any_stderr().unchanged().code(1);
}
