//! `squire gateway NAME`: becomes the server with exactly what is declared, or answers in its place with the reason.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::inspecting::HttpServer;
use crate::support::{Run, SQUIRE, Test};

const SECRET: &str = "S3CR3T_90ab12";
pub(crate) const CONVERSATION: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_servers","arguments":{}}}"#,
    "\n",
);

/// The words of a gateway's entry, as `describe` shows them.
fn words(test: &Test, name: &str) -> Vec<String> {
    let path = |relative: &str| test.path(relative).display().to_string();
    let [project, config, state] =
        [path("project"), path("home/.config/squire"), path("home/.local/state/squire")];
    let words =
        ["gateway", name, "--agent", "claude", "--project", &project, "--config", &config, "--state", &state];
    words.map(str::to_owned).to_vec()
}

/// A gateway that is spoken to as an agent does.
pub(crate) fn gateway(test: Test, name: &str) -> Test {
    let words = words(&test, name);
    test.args(words).stdin(CONVERSATION).any_stdout()
}

/// `[servers.a]` is the fake server with its log at `<T>/log`, and what `more` declares.
pub(crate) fn fake(more: &str) -> Test {
    let test = Test::new()
        .config(&format!("[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n{more}"));
    // One that refers to something is to have it.
    if more.contains("${") { test.receiver("log") } else { test }
}

/// How the fake server was started.
#[track_caller]
pub(crate) fn started(run: &Run) -> Value {
    let log = fs::read_to_string(run.path("log")).expect("the server was not started");
    serde_json::from_str(log.lines().next().unwrap()).unwrap()
}

pub(crate) fn environment(run: &Run) -> BTreeMap<String, String> {
    serde_json::from_value(started(run)["env"].clone()).unwrap()
}

fn answers(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a shell around the agent has: the base set, and much else.
fn surrounded(mut test: Test) -> Test {
    for (name, value) in BASE {
        test = test.env(name, *value);
    }
    for number in 0..20 {
        test = test.env(&format!("OTHER_{number}"), "x");
    }
    for name in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY", "SSH_AUTH_SOCK", "SQUIRE_LAUNCH"]
    {
        test = test.env(name, SECRET);
    }
    test.env("LD_LIBRARY_PATH", "/nonexistent")
        .env("HTTP_PROXY", "http://user:pw@proxy:3128")
        .env("all_proxy", "socks5://user@proxy")
}

const BASE: &[(&str, &str)] = &[
    ("USER", "u"),
    ("LOGNAME", "u"),
    ("SHELL", "/bin/sh"),
    ("TERM", "xterm"),
    ("TMPDIR", "/tmp/with space"),
    ("TZ", "UTC"),
    ("LANG", "C.UTF-8"),
    ("LC_TIME", "C"),
    ("XDG_RUNTIME_DIR", "/run/user/1"),
    ("XDG_CONFIG_HOME", "/nonexistent"), // A gateway takes its config directory from its entry alone.
    ("HTTPS_PROXY", "http://proxy:3128"),
    ("no_proxy", "user@example.com,localhost"),
    ("SSL_CERT_FILE", "/ca.pem"),
    ("NODE_EXTRA_CA_CERTS", "/ca.pem"),
];

#[track_caller]
fn check_environment(run: &Run, more: &[(&str, &str)]) {
    let root = run.temp.path().canonicalize().unwrap();
    let mut expected: BTreeMap<String, String> =
        BASE.iter().chain(more).map(|(name, value)| ((*name).into(), (*value).into())).collect();
    expected.insert("HOME".into(), root.join("home").display().to_string());
    expected.insert("PATH".into(), format!("{}:/usr/local/bin:/usr/bin:/bin", root.join("bin").display()));
    assert_eq!(environment(run), expected);
}

#[test]
fn b44_b91_the_base_environment_and_nothing_else() {
    let run = gateway(surrounded(fake("")), "a").success();
    check_environment(&run, &[]);
    assert_eq!(answers(&run)[1]["result"]["tools"].as_array().unwrap().len(), 3);
}

#[test]
fn b44_b91_what_is_declared_is_added() {
    let run = gateway(
        surrounded(fake(
            "env = { PLAIN = \"x\", TOKEN = \"Bearer ${env:GITHUB_TOKEN}\", TERM = \"dumb\", BOTH = \"env wins\", EMPTY = \"\" }\n\
             inherit_env = [\"OTHER_7\", \"HTTP_PROXY\", \"BOTH\", \"UNSET\", \"SET_EMPTY\"]\n",
        ))
        .env("BOTH", "inherited")
        .env("SET_EMPTY", ""),
        "a",
    )
    .success();
    check_environment(
        &run,
        &[
            ("PLAIN", "x"),
            ("TOKEN", "Bearer S3CR3T_90ab12"),
            ("TERM", "dumb"),
            ("BOTH", "env wins"),
            ("EMPTY", ""),
            ("OTHER_7", "x"),
            ("HTTP_PROXY", "http://user:pw@proxy:3128"), // Asked for by name.
        ],
    );
}

/// Claude passes an unset variable on as an empty string, or as its own reference; other agents drop it.
#[test]
fn b44_a_server_gets_the_same_from_every_agent() {
    let declared = "env = { D = \"${env:NOPE:-default}\", E = \"${env:NOPE:-}\" }\ninherit_env = [\"NOPE\", \"NOPE_2\"]\n";
    let absent = gateway(fake(declared), "a").success();
    for forms in [["", ""], ["${NOPE:-}", "${NOPE_2}"], ["${env:NOPE}", "${env:NOPE_2}"]] {
        let mut test = fake(declared).env("NOPE", forms[0]).env("NOPE_2", forms[1]);
        for name in ["TZ", "LC_ALL", "HTTPS_PROXY", "SQUIRE_LAUNCH", "SSL_CERT_DIR"] {
            let form = if forms[0].is_empty() { String::new() } else { format!("${{{name}:-}}") };
            test = test.env(name, form);
        }
        let run = gateway(test, "a").success();
        let names = |run: &Run| environment(run).into_keys().collect::<Vec<_>>();
        assert_eq!(names(&run), names(&absent), "{forms:?}");
        assert_eq!((environment(&run)["D"].as_str(), environment(&run)["E"].as_str()), ("default", ""));
    }
}

/// B22: one pass of expansion, whatever the values hold; B25: arguments to the byte.
#[test]
fn b22_b25_values_and_arguments_arrive_as_they_are() {
    let run = gateway(
        Test::new()
            .config(
                "[servers.a]\ncommand = \"<server>\"\n\
                 args = [\"stdio\", \"--log\", \"<T>/log\", \"\", \" \", \"a b\", \"a\\\"b\", \"a'b\", \"a\\\\b\", \
                 \"line1\\nline2\", \"\\ttab\", \"$HOME\", \"`id`\", \"é🙂\", \"=\", \"--\", \"#no\", \"]\", \"*\", \"~\", \
                 \"-${env:PW}-\", \"$${env:PW}\", \"${env:PW:-unused}\"]\n\
                 env = { PW = \"${env:PW}\", LIT = \"a$b\", ESC = \"$${X}\", TWICE = \"${env:PW}${env:PW}\" }\n",
            )
            .env("PW", "pa$HOME${USER}$$x${env:PW}"),
        "a",
    )
    .success();
    let pw = "pa$HOME${USER}$$x${env:PW}";
    let given = started(&run);
    let argv: Vec<&str> =
        given["argv"].as_array().unwrap()[3..].iter().map(|a| a.as_str().unwrap()).collect();
    let (around, twice) = (format!("-{pw}-"), format!("{pw}{pw}"));
    assert_eq!(
        argv,
        [
            "",
            " ",
            "a b",
            "a\"b",
            "a'b",
            "a\\b",
            "line1\nline2",
            "\ttab",
            "$HOME",
            "`id`",
            "é🙂",
            "=",
            "--",
            "#no",
            "]",
            "*",
            "~",
            &around,
            "${env:PW}",
            pw
        ]
    );
    let environment = environment(&run);
    assert_eq!(
        ["PW", "LIT", "ESC", "TWICE"].map(|name| environment[name].as_str()),
        [pw, "a$b", "${X}", &twice]
    );
}

#[test]
fn the_working_directory() {
    for (declared, expected) in [
        ("", "project"),
        ("cwd = \"<T>/elsewhere\"\n", "elsewhere"),
        ("cwd = \"work\"\n", "home/work"),
        ("cwd = \"./work/\"\n", "home/work"),
        ("cwd = \"~/work\"\n", "home/work"),
        ("cwd = \".\"\n", "home"),
        ("cwd = \"${env:WHERE}/work\"\n", "home/work"),
        ("cwd = \"${env:NOPE:-work}\"\n", "home/work"),
    ] {
        let test = fake(declared).write("home/work/x", "").write("elsewhere/x", "");
        let home = test.path("home");
        let run = gateway(test.env("WHERE", home), "a").success();
        assert_eq!(started(&run)["cwd"], run.path(expected).display().to_string(), "{declared}");
    }
}

/// As `~/work` is below the home directory, `~` is that directory.
#[test]
fn the_home_directory_itself_as_the_working_directory() {
    let run = gateway(fake("cwd = \"~\"\n"), "a").any_stderr().success();
    assert_eq!(started(&run)["cwd"], run.path("home").display().to_string());
}

/// One that dies before its first answer is told with its status and its last words.
#[test]
fn a_server_that_dies_at_once_is_told() {
    let run = gateway(
        Test::new().config(
            "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\", \"--mode\", \"die\"]\n",
        ),
        "a",
    )
    .stderr(
        "fake-server: dying at once, as asked\n\
         squire: the server a could not be started: it ended with status 3: fake-server: dying at once, as asked\n",
    )
    .code(1);
    let instructions = answers(&run)[0]["result"]["instructions"].to_string();
    assert!(
        instructions.contains("it ended with status 3: fake-server: dying at once, as asked"),
        "{instructions}"
    );
    assert_eq!(answers(&run).len(), 3);
}

/// The reason is on stderr and in `instructions`; there are no tools, and the status says that it failed.
#[track_caller]
pub(crate) fn stands_in(test: Test, name: &str, reason: &str) {
    let reason = format!("the server {name} could not be started: {reason}");
    let run = gateway(test, name).stderr(format!("squire: {reason}\n")).unchanged().code(1);
    assert!(!run.path("log").exists(), "the server was started");
    let answers = answers(&run);
    assert_eq!(answers[0]["id"], 1);
    assert_eq!(answers[0]["result"]["instructions"], reason);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], name);
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answers[1], json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [] } }));
    assert_eq!(answers[2]["error"]["code"], -32602);
    assert_eq!(answers.len(), 3);
}

/// As [`stands_in`], where only the start itself shows it.
#[track_caller]
fn refuses_to_start(test: Test, reason: &str) {
    let reason = format!("the server a could not be started: {reason}");
    let run = gateway(test, "a").stderr(format!("squire: {reason}\n")).code(1);
    let answers = answers(&run);
    // The agent has said all: nobody needs another start.
    assert_eq!(answers[0]["result"]["instructions"], reason);
    assert_eq!(answers[1], json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [] } }));
    assert_eq!(answers[2]["error"]["code"], -32081);
    assert_eq!(answers.len(), 3);
}

#[test]
fn a_program_that_is_not_there() {
    let declared = |command: &str| Test::new().config(&format!("[servers.a]\ncommand = \"{command}\"\n"));
    stands_in(declared("no-such"), "a", "no-such was not found on PATH");
    refuses_to_start(
        declared("<T>/no-such"),
        "<T>/no-such could not be executed: No such file or directory (os error 2)",
    );
    stands_in(
        declared("srv").write("bin/srv", "#!/bin/sh\n").mode("bin/srv", 0o644),
        "a",
        "<T>/bin/srv can't be executed",
    );
    refuses_to_start(
        declared("<T>/bin/srv").write("bin/srv", "#!/bin/sh\n").mode("bin/srv", 0o644),
        "<T>/bin/srv could not be executed: Permission denied (os error 13)",
    );
    refuses_to_start(declared("<T>/bin"), "<T>/bin could not be executed: Permission denied (os error 13)");
    refuses_to_start(
        declared("srv").write("bin/srv", "#!/no/such/interpreter\n").mode("bin/srv", 0o755),
        "srv could not be executed: the interpreter that its first line names was not found",
    );
}

/// What lies in the project is the repository's, and a relative entry is another program in every directory.
#[test]
fn a_program_of_the_project_is_not_found_by_a_bare_name() {
    let test = || {
        Test::new()
            .config("[servers.a]\ncommand = \"srv\"\n")
            .write("project/tools/srv", "#!/bin/sh\ntouch pwned\n")
            .mode("project/tools/srv", 0o755)
    };
    let path = |test: Test, path: &str| {
        let path = path.replace("<T>", test.root().to_str().unwrap());
        test.env("PATH", path)
    };
    stands_in(
        path(test(), "<T>/project/tools:/usr/bin"),
        "a",
        "srv was not found on PATH; <T>/project/tools/srv is skipped: it lies in the project",
    );
    stands_in(
        path(test().directory("project/tools"), ":tools:/usr/bin"),
        "a",
        "srv was not found on PATH; srv is skipped: its PATH entry is relative",
    );
    stands_in(
        path(test().link("../project/tools/srv", "bin/srv"), "<T>/bin"),
        "a",
        "srv was not found on PATH; <T>/bin/srv is skipped: it lies in the project",
    );
    stands_in(
        path(test().link("../project/tools", "home/tools"), "<T>/home/tools"),
        "a",
        "srv was not found on PATH; <T>/home/tools/srv is skipped: it lies in the project",
    );
}

#[test]
fn b21_a_variable_that_is_not_set() {
    for form in [None, Some(""), Some("${NOPE:-}")] {
        let mut test = fake("env = { TOKEN = \"Bearer ${env:NOPE}\" }\n");
        if let Some(form) = form {
            test = test.env("NOPE", form);
        }
        stands_in(test, "a", "env.TOKEN: ${env:NOPE} is not set");
    }
    stands_in(
        Test::new().config("[servers.a]\ncommand = [\"<server>\", \"${env:NOPE}\"]\n"),
        "a",
        "args: ${env:NOPE} is not set",
    );
    stands_in(fake("cwd = \"${env:NOPE}\"\n"), "a", "cwd: ${env:NOPE} is not set");
}

#[test]
fn a_directory_that_is_not_there() {
    stands_in(fake("cwd = \"nowhere\"\n"), "a", "cwd: <T>/home/nowhere is no directory");
    stands_in(fake("cwd = \"<T>/file\"\n").write("file", ""), "a", "cwd: <T>/file is no directory");
}

#[test]
fn a_server_that_is_not_declared_or_not_on() {
    stands_in(fake(""), "b", "it is not declared in <T>/home/.config/squire/squire.toml");
    stands_in(fake("disabled = true\n"), "a", "disabled in squire.toml");
    stands_in(Test::new(), "a", "it is not declared in <T>/home/.config/squire/squire.toml");
}

#[test]
fn a_malformed_file() {
    stands_in(
        Test::new().config("[servers.a\n"),
        "a",
        "<T>/home/.config/squire/squire.toml:1:11: unclosed table, expected `]`",
    );
}

/// What comes from a variable goes to the server, not to the model that reads why it failed.
#[test]
fn b91_a_value_is_in_no_reason() {
    for declared in [
        "command = \"/nonexistent/${env:TOKEN}\"",
        "command = \"${env:TOKEN}\"",
        "command = \"true\"\ncwd = \"${env:TOKEN}\"",
        "command = \"true\"\nargs = [\"${env:TOKEN}\", \"${env:NOPE}\"]",
    ] {
        let test = Test::new().config(&format!("[servers.a]\n{declared}\n")).env("TOKEN", SECRET);
        let run = gateway(test, "a").any_stderr().code(1);
        assert!(!run.stderr.contains(SECRET) && !run.stdout.contains(SECRET), "{declared}: {}", run.stderr);
    }
}

/// B33: a repository around the gateway changes nothing: no config of it is read, no walk up is done.
#[test]
fn a_gateway_takes_no_directory_from_where_it_stands() {
    let test = fake("").write(
        "project/squire.toml",
        "[servers.a]\ncommand = \"./evil\"\n[servers.b]\ncommand = \"./evil\"\n",
    );
    let evil = test.path("project");
    let run = gateway(test.env("SQUIRE_CONFIG_DIR", &evil).env("XDG_CONFIG_HOME", &evil), "a").success();
    assert_eq!(started(&run)["argv"].as_array().unwrap().len(), 3);
    let test = fake("").write("project/squire.toml", "[servers.b]\ncommand = \"./evil\"\n");
    stands_in(test, "b", "declared by the project, and not approved");
}

#[track_caller]
fn check_built_in(answers: &[Value]) -> Value {
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "squire");
    assert_eq!(
        answers[0]["result"]["instructions"],
        "Which MCP servers this session has, and why one is missing."
    );
    let tools = answers[1]["result"]["tools"].as_array().unwrap();
    let named: Vec<_> =
        tools.iter().map(|tool| (&tool["name"], &tool["annotations"]["readOnlyHint"])).collect();
    assert_eq!(named, [(&json!("list_servers"), &json!(true)), (&json!("explain_server"), &json!(true))]);
    answers[2]["result"].clone()
}

#[test]
fn the_built_in_server_without_a_launch() {
    for launch in
        [None, Some(""), Some("${SQUIRE_LAUNCH:-}"), Some("../../../etc/passwd"), Some(&"0".repeat(32)[..])]
    {
        let mut test = Test::new();
        if let Some(launch) = launch {
            test = test.env("SQUIRE_LAUNCH", launch);
        }
        let run = gateway(test, "squire").unchanged().success();
        let result = check_built_in(&answers(&run));
        assert_eq!(result["structuredContent"], json!({ "servers": [] }));
        assert!(
            result["content"][0]["text"].as_str().unwrap().starts_with("There is no record of this launch")
        );
    }
}

/// The built-in server under a real launch tells what the agent has, and why something is missing.
#[test]
fn the_built_in_server_under_a_launch() {
    for agent in ["claude", "codex"] {
        let test = Test::new()
            .config(
                "[servers.docs]\nurl = \"https://docs.example.com/mcp\"\ndescription = \"the docs\"\n\
                 [servers.db]\ncommand = \"db\"\nenv = { T = \"${env:GITHUB_TOKEN}\" }\n\
                 [servers.wiki]\ncommand = \"wiki\"\n[policy]\ndeny_servers = [\"wiki\"]\n",
            )
            .agent(agent, "touch <T>/ready; wait-file <T>/go")
            .env("GITHUB_TOKEN", SECRET)
            .args(["launch", agent]);
        let mut launched =
            test.command().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while !test.path("ready").exists() {
            assert!(began.elapsed() < Duration::from_secs(20), "the agent does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let given: Value = serde_json::from_slice(&fs::read(test.path("agent.json")).unwrap()).unwrap();
        let id = given["env"]["SQUIRE_LAUNCH"].as_str().unwrap();
        let record = test.path("home/.local/state/squire/launches").join(format!("{id}.json"));
        let recorded = fs::read_to_string(&record).unwrap();
        assert!(!recorded.contains(SECRET), "{recorded}");
        let mode = |path: &std::path::Path| {
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o7777
        };
        assert_eq!((mode(&record), mode(record.parent().unwrap())), (0o600, 0o700));
        let mut gateway = Command::new(SQUIRE);
        gateway
            .args(words(&test, "squire"))
            .env_clear()
            .env("SQUIRE_LAUNCH", id)
            .current_dir(test.path("project"));
        let mut gateway = gateway.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut gateway.stdin.take().unwrap(), CONVERSATION.as_bytes()).unwrap();
        let output = gateway.wait_with_output().unwrap();
        fs::write(test.path("go"), "").unwrap();
        assert!(launched.wait().unwrap().success());
        assert!(output.status.success());
        let answers: Vec<Value> = output
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let result = check_built_in(&answers);
        assert_eq!(
            result["content"][0]["text"],
            format!(
                "squire (builtin): which servers this launch has, and why one is missing [listed]\n\
                 docs (http): the docs [delivered; the agent reaches it by itself: squire sees nothing more]\n\
                 db (stdio) [delivered; the agent has not started it]\nwiki is missing: denied by the policy in {}:10",
                test.path("home/.config/squire/squire.toml").display()
            )
        );
        assert_eq!(result["structuredContent"]["agent"], agent);
        let servers = result["structuredContent"]["servers"].as_array().unwrap();
        assert_eq!(servers.len(), 4);
        assert_eq!(servers[3]["code"], "policy");
        // Where squire stayed it takes its record away; one that became the agent can't.
        assert_eq!(record.exists(), agent == "codex");
    }
}

#[test]
fn the_built_in_server_can_be_switched_off() {
    let run = Test::new()
        .config("[servers.squire]\ndisabled = true\n[servers.a]\ncommand = \"a\"\n")
        .agent("claude", "")
        .args(["launch", "claude"])
        .stderr("squire: claude gets 1 of 1: a\n")
        .success();
    assert!(!run.agent()["files"][0]["content"].as_str().unwrap().contains("\"squire\":"));
}

/// B74: what is no message does not end a stand-in; a request gets one answer.
#[test]
fn b74_garbage_does_not_end_a_stand_in() {
    let test = Test::new();
    let words = words(&test, "squire");
    let run = test
        .args(words)
        .stdin("not JSON\n\n[]\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}\n")
        .any_stdout()
        .success();
    let answers = answers(&run);
    assert_eq!(answers.last().unwrap(), &json!({ "jsonrpc": "2.0", "id": "x", "result": {} }));
    assert_eq!(answers.len(), 3);
}

/// An agent that says all at once and goes is answered all the same.
#[test]
fn what_is_asked_of_a_remote_server_before_the_end_is_answered() {
    let server = HttpServer::start("ok");
    let test = Test::new().config(&format!("[servers.a]\nurl = {:?}\n", server.url));
    let run = gateway(test, "a").success();
    let ids: Vec<Value> = answers(&run).iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert!(answers(&run)[1]["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
}
