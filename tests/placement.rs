//! Where squire's arguments go among the user's, as the agent sees them (cases B01, B03, B04, B05, B73).

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use crate::support::{SQUIRE, Test};

const DOCS: &str = "[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n";
const CLAUDE: &[&str] = &["--mcp-config=<T>/home/.local/state/squire/private/<private>/claude.json"];
const CODEX: &[&str] = &[
    "-c",
    "mcp_servers.docs.url=\"https://docs.example.com/mcp\"",
    "-c",
    "mcp_servers.docs.enabled=true",
    "-c",
    "mcp_servers.docs.required=true",
    "-c",
    "mcp_servers.docs.startup_timeout_sec=35.0",
    "-c",
    "mcp_servers.docs.tool_timeout_sec=305.0",
];
const ALLOW_CODEX: &str =
    "; to let it use them: -c 'mcp_servers.docs.default_tools_approval_mode=\"approve\"'";
const ALLOW_CLAUDE: &str = "; to let it use them: --allowedTools mcp__docs";

fn launch(agent: &str) -> Test {
    Test::new().config(DOCS).agent(agent, "exit 5").args(["launch", agent, "--server", "docs", "--"])
}

/// The agent sees exactly the user's words, with ours before the one at `place`.
#[track_caller]
fn assert_ours_at<Word: Into<OsString> + Clone>(agent: &str, words: &[Word], place: usize, told: &str) {
    let words: Vec<OsString> = words.iter().cloned().map(Into::into).collect();
    let ours = if agent == "claude" { CLAUDE } else { CODEX };
    let run = launch(agent)
        .args(words.clone())
        .stderr(format!("squire: {agent} gets 1 of 1: docs{told}\n"))
        .code(5);
    let found = run.agent_argument_bytes();
    assert_eq!(found.len(), words.len() + ours.len(), "{agent} {words:?}: {:?}", run.agent_arguments());
    let of_user = found[..place].iter().chain(&found[place + ours.len()..]);
    assert!(of_user.eq(words.iter().map(|word| word.as_bytes())), "{agent} {words:?}");
    assert_eq!(run.agent_arguments()[place..place + ours.len()], *ours, "{agent} {words:?}");
}

/// The agent sees exactly the user's words, nothing is written for it, and stderr says why.
#[track_caller]
fn assert_nothing_added<Word: Into<OsString> + Clone>(agent: &str, words: &[Word], reason: &str) {
    let words: Vec<OsString> = words.iter().cloned().map(Into::into).collect();
    let run = launch(agent)
        .args(words.clone())
        .stderr(format!("squire: {agent} gets no servers: nothing is added: {reason}\n"))
        .code(5);
    assert!(run.agent_argument_bytes().iter().eq(words.iter().map(|word| word.as_bytes())), "{words:?}");
    for variable in ["SQUIRE_LAUNCH", "MCP_CONNECT_TIMEOUT_MS", "MCP_TIMEOUT"] {
        assert_eq!(run.agent_variable(variable), None, "{words:?}");
    }
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
}

#[test]
fn b01_claude_gets_ours_behind_the_users_words() {
    let long = "x".repeat(100 * 1024);
    for (words, told) in [
        (vec![], ""),
        (vec!["fix the bug"], ""),
        (vec!["-p", "say hello"], ALLOW_CLAUDE),
        (vec!["-p", ""], ALLOW_CLAUDE),
        (vec!["--print", "hi", "--allowedTools", "mcp__docs"], ""),
        (vec!["--resume", "mcp"], ""),
        (vec!["hi", "--brand-new", "mcp"], ""),
        (vec![&long], ""),
        (vec!["  ", "\n", "a;b", "$HOME", "\"'", "*"], ""),
    ] {
        assert_ours_at("claude", &words, words.len(), told);
    }
}

#[test]
fn b01_codex_gets_ours_behind_the_users_words() {
    let long = "x".repeat(100 * 1024);
    for (words, told) in [
        (vec![], ""),
        (vec!["Fix the bug"], ""),
        (vec!["exec", "do it"], ALLOW_CODEX),
        (vec!["exec", ""], ALLOW_CODEX),
        (vec!["e", "--json", "do it"], ALLOW_CODEX),
        (vec!["-m", "gpt", "exec", "do it"], ALLOW_CODEX),
        (vec!["exec", "--yolo", "do it"], ""),
        (vec!["resume", "--last"], ""),
        (vec!["fork"], ""),
        (vec!["review", "--uncommitted"], ALLOW_CODEX),
        (vec!["exec", &long], ALLOW_CODEX),
        (vec!["exec", "-c", "mcp_servers.docs.enabled_tools=[]", "hi"], ALLOW_CODEX),
    ] {
        assert_ours_at("codex", &words, words.len(), told);
    }
}

#[test]
fn an_empty_word_is_a_prompt_and_no_subcommand_of_codex() {
    assert_ours_at("codex", &[""], 1, "");
}

#[test]
fn words_that_are_not_utf_8_keep_their_bytes() {
    let strange = OsString::from_vec(b"caf\xe9 \xff\xfe\x01".to_vec());
    assert_ours_at("claude", &[OsString::from("-p"), strange.clone()], 2, ALLOW_CLAUDE);
    assert_ours_at("codex", &[OsString::from("exec"), strange.clone()], 2, ALLOW_CODEX);
    assert_ours_at("claude", &[strange.clone(), OsString::from("--"), strange], 1, "");
}

#[test]
fn ours_stand_before_the_users_first_separator() {
    assert_ours_at("claude", &["-p", "--", "--mcp-config", "x"], 1, ALLOW_CLAUDE);
    assert_ours_at("claude", &["--", "a", "--", "b"], 0, "");
    assert_ours_at("claude", &["--"], 0, "");
    assert_ours_at("claude", &["--", "--", "--"], 0, "");
    // The first `--` is the model's value.
    assert_ours_at("claude", &["--model", "--", "hi", "--", "x"], 3, "");
    assert_ours_at("codex", &["exec", "--", "mcp", "--", "add"], 1, ALLOW_CODEX);
    assert_ours_at("codex", &["--", "fix"], 0, "");
}

#[test]
fn b04_the_users_own_files_stay_together() {
    for words in [
        &["--mcp-config", "a.json", "b.json", "--strict-mcp-config", "-p", "hi"][..],
        &["-p", "hi", "--mcp-config", "a.json", "b.json"],
        &["-p", "--mcp-config", "a.json", "b.json", "--", "hi"],
    ] {
        let place = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        assert_ours_at("claude", words, place, ALLOW_CLAUDE);
        // As a parser that collects every word up to an option reads it.
        let run = launch("claude").args(words.iter().copied()).any_stderr().code(5);
        let mut files = Vec::new();
        let mut collecting = false;
        for argument in run.agent_arguments().into_iter().take_while(|argument| argument != "--") {
            if let Some(file) = argument.strip_prefix("--mcp-config=") {
                files.push(file.to_owned());
            } else if collecting && !argument.starts_with('-') {
                files.push(argument.clone());
            }
            collecting = argument == "--mcp-config" || (collecting && !argument.starts_with('-'));
        }
        let ours = CLAUDE[0].strip_prefix("--mcp-config=").unwrap();
        assert_eq!(files, ["a.json", "b.json", ours]);
    }
}

#[test]
fn b03_what_runs_no_session_of_claude_gets_nothing() {
    for words in [
        &["mcp", "list"][..],
        &["doctor"],
        &["update"],
        &["--version"],
        &["-v"],
        &["--help"],
        &["-h"],
        &["install", "--", "x"],
    ] {
        assert_nothing_added("claude", words, &format!("`{}` runs no session", words[0]));
    }
    assert_nothing_added("claude", &["-p", "--version"], "`--version` runs no session");
    assert_nothing_added("claude", &["--debug", "api", "mcp", "add", "x"], "`mcp` runs no session");
}

#[test]
fn b03_what_runs_no_session_of_codex_gets_nothing() {
    for words in [
        &["mcp", "add", "x", "--", "y"][..],
        &["login"],
        &["--version"],
        &["-V"],
        &["--help"],
        &["help", "exec"],
        &["completion", "bash"],
        &["cloud"],
    ] {
        assert_nothing_added("codex", words, &format!("`{}` runs no session", words[0]));
    }
    assert_nothing_added("codex", &["-m", "gpt", "mcp", "list"], "`mcp` runs no session");
    assert_nothing_added("codex", &["exec", "--help"], "`--help` runs no session");
    let reason = "`newcommand` may be a subcommand; a prompt of one word goes behind `--`";
    assert_nothing_added("codex", &["newcommand", "x"], reason);
}

#[test]
fn b03_an_unknown_option_before_the_first_word_gets_nothing() {
    let reason =
        "it is not known whether `--brand-new` takes a value; write `--brand-new=VALUE`, or put it last";
    assert_nothing_added("claude", &["--brand-new", "mcp", "add"], reason);
    assert_nothing_added("codex", &["--brand-new", "exec", "hi"], reason);
    assert_ours_at("claude", &["--brand-new=mcp", "hi"], 2, "");
    assert_ours_at("codex", &["exec", "hi", "--brand-new", "x"], 4, ALLOW_CODEX);
}

#[test]
fn a_last_option_without_its_value_gets_nothing() {
    assert_nothing_added("claude", &["hi", "--model"], "`--model` lacks its value");
    assert_nothing_added("claude", &["hi", "--mcp-config"], "`--mcp-config` lacks its value");
    assert_nothing_added("codex", &["exec", "hi", "-m"], "`-m` lacks its value");
}

#[test]
fn b05_a_name_that_some_agent_would_split_is_no_name() {
    let run = Test::new()
        .config("[servers.\"acme.search\"]\ncommand = \"true\"\n")
        .agent("codex", "")
        .args(["launch", "codex", "--", "exec", "hi"])
        .stderr("squire: <T>/home/.config/squire/squire.toml:1:10: the server name `acme.search` holds '.'; letters, digits, `-` and `_` are legal in every agent\n")
        .code(125);
    assert!(!run.agent_was_started());
}

/// What Codex makes of `-c` (`codex-rs/utils/cli/src/config_override.rs`): the key is split at every dot, the value
/// is TOML, and would be a plain string where it is not.
fn codex_reads(arguments: &[String]) -> Value {
    let mut tree = json!({});
    for pair in arguments.windows(2).filter(|pair| pair[0] == "-c") {
        let (key, value) = pair[1].split_once('=').unwrap();
        let document = format!("_x_ = {}", value.trim());
        let parsed = DeTable::parse(&document).unwrap_or_else(|_| panic!("no TOML: {value}")).into_inner();
        assert_eq!(parsed.len(), 1, "more than one value: {value}");
        let mut place = &mut tree;
        for part in key.trim().split('.') {
            place = &mut place[part];
        }
        *place = as_json(parsed.get("_x_").unwrap().get_ref());
    }
    tree
}

fn as_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text.as_ref()),
        DeValue::Integer(number) => json!(number.as_str().parse::<i64>().unwrap()),
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().unwrap()),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Datetime(time) => panic!("a time: {time}"),
        DeValue::Array(values) => values.iter().map(|value| as_json(value.get_ref())).collect(),
        DeValue::Table(table) => {
            table.iter().map(|(key, value)| (key.get_ref().to_string(), as_json(value.get_ref()))).collect()
        }
    }
}

#[test]
fn b73_codex_reads_back_what_is_declared() {
    let odd = "odd = \"dir\" é🙂 \\ {x}, 'y' \u{7f}\t";
    let test = Test::new();
    let root = test.root();
    let config = root.join(odd);
    let run = test
        .write(
            &format!("{odd}/squire.toml"),
            r#"
            [servers.db]
            command = "x"
            args = ["a/b", "🙂"]
            env = { A = "${env:HOME}", "B.C" = "2", "é" = "3" }
            inherit_env = ["ODD_ONE"]
            timeout = "1500ms"
            [servers.docs]
            url = "https://docs.example.com/mcp?a=b&c={d}#e"
            headers = { "X-A.b" = "a/b 🙂 \"q\" \\ 'z' \t", "X'`^|~!#$%&*+" = "=", X_plain = "" }
            "#,
        )
        .link(SQUIRE, "bin/s = \"q\".uire")
        .program("bin/s = \"q\".uire")
        .agent("codex", "")
        .env("SQUIRE_CONFIG_DIR", &config)
        .args(["launch", "codex", "--quiet", "--server", "db", "--server", "docs", "--", "exec", "hi"])
        .success();
    let arguments: Vec<String> = serde_json::from_value(run.agent()["argv"].clone()).unwrap();
    assert!(arguments.iter().all(|argument| !argument.contains('\n')));
    let mut tree = codex_reads(&arguments);
    let variables = tree["mcp_servers"]["db"]["env_vars"].take();
    let variables: Vec<&str> = variables.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    for name in ["HOME", "ODD_ONE", "PATH", "SQUIRE_LAUNCH", "LD_PRELOAD"] {
        assert!(variables.contains(&name), "{name} in {variables:?}");
    }
    let path = |relative: &str| root.join(relative).to_str().unwrap().to_owned();
    assert_eq!(
        tree,
        json!({"mcp_servers": {
            "db": {
                "command": path("bin/s = \"q\".uire"),
                "args": [
                    "gateway", "db", "--agent", "codex", "--project", path("project"),
                    "--config", config.to_str().unwrap(), "--state", path("home/.local/state/squire"),
                ],
                "env_vars": null,
                "enabled": true,
                "required": true,
                "startup_timeout_sec": 35.0,
                "tool_timeout_sec": 6.5,
            },
            "docs": {
                "url": "https://docs.example.com/mcp?a=b&c={d}#e",
                "http_headers": {
                    "X-A.b": "a/b 🙂 \"q\" \\ 'z' \t", "X'`^|~!#$%&*+": "=", "X_plain": "",
                },
                "enabled": true,
                "required": true,
                "startup_timeout_sec": 35.0,
                "tool_timeout_sec": 305.0,
            },
        }})
    );
}

const OPENCODE_DOCS: &str =
    r#""docs":{"type":"remote","url":"https://docs.example.com/mcp","enabled":true,"timeout":305000}"#;

#[test]
fn opencode_gets_a_variable_alone() {
    for words in [vec![], vec!["mcp", "list"], vec!["run", "--", "x", "--"], vec!["--version"], vec![""]] {
        let run =
            launch("opencode").args(words.clone()).stderr("squire: opencode gets 1 of 1: docs\n").code(5);
        assert_eq!(run.agent_arguments(), words);
        let expected = format!("{{\"mcp\":{{{OPENCODE_DOCS}}}}}");
        assert_eq!(run.agent_variable("OPENCODE_CONFIG_CONTENT"), Some(expected));
    }
    let strange = OsString::from_vec(b"\xff".to_vec());
    let run = launch("opencode").args([&strange]).any_stderr().code(5);
    assert_eq!(run.agent_argument_bytes(), [b"\xff"]);
}

#[test]
fn opencode_keeps_what_the_users_variable_says() {
    let own = "{ // mine\n \"model\": \"x/{env:MODEL}\", \"mcp\": {\"own\": {\"type\": \"local\", \"command\": [\"{file:~/c}\"],},}, \"n\": [1.5, \"\\u00e9\"] }";
    let run = launch("opencode")
        .env("OPENCODE_CONFIG_CONTENT", own)
        .stderr("squire: opencode gets 1 of 1: docs\n")
        .code(5);
    let expected = format!(
        r#"{{"model":"x/{{env:MODEL}}","n":[1.5,"é"],"mcp":{{"own":{{"type":"local","command":["{{file:~/c}}"]}},{OPENCODE_DOCS}}}}}"#
    );
    assert_eq!(run.agent_variable("OPENCODE_CONFIG_CONTENT"), Some(expected));
}

#[test]
fn an_empty_variable_of_opencode_counts_as_none() {
    let run = launch("opencode").env("OPENCODE_CONFIG_CONTENT", "").any_stderr().code(5);
    let expected = format!("{{\"mcp\":{{{OPENCODE_DOCS}}}}}");
    assert_eq!(run.agent_variable("OPENCODE_CONFIG_CONTENT"), Some(expected));
}

#[test]
fn a_variable_that_opencode_could_not_read_refuses_the_launch() {
    for (own, reason) in [
        ("{", "OpenCode could not read it: "),
        ("[]", "OpenCode could not read it: it is no object\n"),
        ("{\"mcp\": []}", "its `mcp` is no object\n"),
    ] {
        let run = launch("opencode").env("OPENCODE_CONFIG_CONTENT", own).any_stderr().code(125);
        assert!(!run.agent_was_started());
        let start = format!("squire: OPENCODE_CONFIG_CONTENT is set, and {reason}");
        assert!(run.stderr.starts_with(&start), "{own}: {}", run.stderr);
        assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
    }
}

#[test]
fn opencode_replaces_nothing_in_ours() {
    let run = Test::new()
        .config("[servers.docs]\nurl = \"https://docs.example.com/{env:HOME}\"\nheaders = { X = \"{file:/etc/passwd}\" }\n")
        .agent("opencode", "")
        .args(["launch", "opencode", "--quiet", "--server", "docs"])
        .success();
    let text = run.agent_variable("OPENCODE_CONFIG_CONTENT").unwrap();
    assert!(!text.contains("{env:") && !text.contains("{file:"), "{text}");
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["mcp"]["docs"]["url"], "https://docs.example.com/{env:HOME}");
    assert_eq!(value["mcp"]["docs"]["headers"]["X"], "{file:/etc/passwd}");
}

/// A session that outlives the launch would look for files that are gone.
#[test]
fn a_background_session_of_claude_gets_nothing_and_says_why() {
    for option in ["--bg", "--background", "--tmux", "--tmux=classic"] {
        let run = Test::new()
            .config("[servers.a]\ncommand = \"a\"\n")
            .agent("claude", "")
            .args(["launch", "claude", "--", option, "do it"])
            .stderr(format!("squire: claude gets no servers: nothing is added: the session of `{option}` outlives the launch, whose files are gone by then\n"))
            .success();
        assert_eq!(run.agent_arguments(), [option, "do it"]);
    }
}

/// What starts no server needs no variable of a server.
#[test]
fn b03_an_unset_variable_does_not_stop_a_subcommand() {
    for words in [&["--version"][..], &["mcp", "list"]] {
        let run = Test::new()
            .config("[servers.a]\ncommand = \"${env:NOPE}\"\n")
            .agent("claude", "")
            .args(["launch", "claude", "--quiet", "--"])
            .args(words.iter().copied())
            .success();
        assert_eq!(run.agent_arguments(), words);
    }
}
