//! `squire probe` and `squire tools`: squire asks servers itself, through the gateway that an agent would be given.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, test_kill_process_group};
use serde_json::{Value, json};

use crate::inspecting::HttpServer;
use crate::support::{Place, Run, Session, Test, eventually};

/// How long a debug build on a busy machine may take beyond what is measured.
const SLACK: Duration = Duration::from_secs(4);
/// Answers in a session with these lines, one for each request, and ends with its input.
const SCRIPTED: &str = "for line; do read -r _; printf '%s\\n' \"$line\"; done; cat > /dev/null";

/// `[servers.NAME]` is the fake server in this mode.
fn fake(name: &str, mode: &str, more: &str) -> String {
    format!("[servers.{name}]\ncommand = [\"<server>\", \"stdio\", \"--mode\", \"{mode}\"]\n{more}\n")
}

/// `[servers.a]` is a shell that answers with these lines.
fn scripted(lines: &[&str]) -> String {
    let words = ["/bin/sh", "-c", SCRIPTED, "sh"].iter().chain(lines);
    format!("[servers.a]\ncommand = {}\nstartup_timeout = \"2s\"\n", json!(words.collect::<Vec<_>>()))
}

/// The lines of a table, with one blank between cells.
fn cells(run: &Run) -> Vec<String> {
    run.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[track_caller]
fn probed(run: &Run) -> Value {
    serde_json::from_str(&run.stdout.replace("<n>", "0")).unwrap()
}

#[track_caller]
fn server<'a>(probed: &'a Value, name: &str) -> &'a Value {
    probed["servers"].as_array().unwrap().iter().find(|server| server["name"] == name).unwrap()
}

#[test]
fn probe_tells_of_each_server_what_an_agent_gets() {
    let http = HttpServer::start("ok");
    let remote = format!("[servers.web]\nurl = \"{}\"\n", http.url);
    let run = Test::new()
        .config(&[fake("good", "ok", "tools = { deny = [\"env*\"] }"), remote].concat())
        .args(["probe"])
        .any_stdout()
        .success();
    assert_eq!(
        cells(&run),
        [
            "NAME STATE TRANSPORT TOOLS TOKENS START ROUND TRIP SPEAKS AND IS",
            "squire answered builtin 2 125 <n> ms <n> ms 2025-11-25 squire 0.1.0",
            "good answered stdio 2 of 3 75 <n> ms <n> ms 2025-11-25 fake-server 1",
            "web answered http 3 110 <n> ms <n> ms 2025-11-25 fake-server 1",
            "3 of 3 answered: 7 tools, whose definitions are 310 tokens of o200k_base",
        ]
    );
    // One session, which is ended again (B56: there is no GET stream, and that is fine).
    let count = |text: &str| http.log().matches(text).count();
    assert_eq!(
        (
            count("\"method\":\"DELETE\""),
            count(
                "\"event\":\"receive\",\"message\":{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\""
            )
        ),
        (1, 1),
        "{}",
        http.log()
    );
    assert_eq!(run.files_below("project"), Vec::<String>::new());
}

#[test]
fn probe_json_is_for_scripts() {
    let run = Test::new()
        .config(&[fake("good", "ok", "tools = { deny = [\"env*\"] }"), fake("bad", "die", "")].concat())
        .args(["probe", "good", "bad", "--json"])
        .any_stdout()
        .code(1);
    let mut probed = probed(&run);
    for time in ["start_milliseconds", "round_trip_milliseconds"] {
        let time = probed["servers"][0][time].take();
        assert!(time.as_f64().is_some_and(|time| time > 0.0 && time < 60_000.0), "{time}");
    }
    assert_eq!(
        probed,
        json!({
            "servers": [
                {
                    "name": "good", "transport": "stdio", "state": "answered", "code": null, "reason": null,
                    "help": null, "warnings": [], "protocol": "2025-11-25",
                    "server": { "name": "fake-server", "version": "1", "title": null }, "instructions": null,
                    "tools": { "shown": ["echo", "add"], "withheld": ["environment"] }, "too_long": [],
                    "tokens": 75, "start_milliseconds": null, "round_trip_milliseconds": null,
                },
                {
                    "name": "bad", "transport": "stdio", "state": "failed", "code": null,
                    "reason": "it ended with status 3: fake-server: dying at once, as asked",
                    "help": "squire show bad tells what is started, and what it is given", "warnings": [],
                },
            ],
            "answered": 1, "failed": 1, "left_out": 0, "tokenizer": "o200k_base", "notes": [],
        })
    );
}

/// What is not approved, disabled or excluded is not touched; it is a failure where it was named.
#[test]
fn b86_what_is_left_out_is_told_and_not_touched() {
    let test = Test::new()
        .config(
            "[servers.off]\ncommand = [\"/bin/sh\", \"-c\", \"touch <T>/touched\"]\ndisabled = true\n\
             [servers.denied]\nurl = \"http://127.0.0.1:1/\"\n[policy]\ndeny_servers = [\"denied\"]\n",
        )
        .project("[servers.theirs]\ncommand = [\"/bin/sh\", \"-c\", \"touch <T>/touched\"]\n");
    let run = test.clone().args(["probe"]).any_stdout().success();
    let told = cells(&run);
    assert!(told.contains(&"denied left-out http - - - - -".into()), "{told:?}");
    assert!(told.contains(&"theirs: declared by the project, and not approved".into()), "{told:?}");
    assert!(told.contains(&"help: squire approve theirs".into()), "{told:?}");
    for name in ["off", "denied", "theirs"] {
        let run = test.clone().args(["probe", name, "--json"]).any_stdout().code(1);
        assert_eq!(server(&probed(&run), name)["state"], "left-out", "{}", run.stdout);
        let run = test.clone().args(["tools", name]).any_stderr().code(1);
        assert!(run.stderr.starts_with(&format!("squire: {name}: ")), "{}", run.stderr);
    }
    for command in ["probe", "tools"] {
        test.clone()
            .args([command, "offf"])
            .stderr("squire: there is no server \"offf\"; did you mean `off`?\n")
            .code(2);
        let unknown = test.clone().args([command, "--agent", "cluade"]).any_stderr().code(2);
        assert!(unknown.stderr.contains("did you mean `claude`?"), "{}", unknown.stderr);
    }
    assert!(!test.path("touched").exists());
}

#[test]
fn what_a_server_lacks_is_told_before_it_is_started() {
    let test = Test::new().config(&format!(
        "{}[servers.gone]\ncommand = \"no-such-program\"\n",
        fake("lacks", "ok", "env = { A = \"${env:NOPE}\" }")
    ));
    let run = test.args(["probe", "lacks", "gone"]).any_stdout().code(1);
    let told = cells(&run);
    assert_eq!(
        told[3..],
        [
            "lacks: env.A needs ${env:NOPE}, which is not set or empty",
            "help: set it, or give it a default as in ${env:NAME:-default}",
            "gone: no-such-program was not found on PATH",
            "help: squire show gone tells what is started, and what it is given",
            "0 of 2 answered: 0 tools, whose definitions are 0 tokens of o200k_base",
        ]
    );
}

#[test]
fn b09_names_that_are_too_long_for_an_agent() {
    let long = ["export_customer_records_as_csv_file", "export_customer_records_as_csv_folder"];
    let name = "a".repeat(24);
    let test = Test::new().config(&format!(
        "[servers.{name}]\ncommand = [\"<server>\", \"stdio\", \"--tools\", \"short,{}\"]\n",
        long.join(",")
    ));
    let run = test.clone().args(["probe", &name]).any_stdout().success();
    // mcp__ + 24 + __ + 35 = 66; 24 + : + 35 = 60, and _ alike.
    let expected = [
        format!(
            "{name}: warning: the name of `{}` is too long in claude (66 of 64), codex (66 of 64): give the server a shorter name, or hide the tool",
            long[0]
        ),
        format!(
            "{name}: warning: the name of `{}` is too long in claude (68 of 64), codex (68 of 64), cursor (62 of 60): give the server a shorter name, or hide the tool",
            long[1]
        ),
    ];
    assert_eq!(cells(&run)[2..4], expected);
    let run = test.args(["probe", &name, "--agent", "cursor", "--json"]).any_stdout().success();
    let told = &probed(&run)["servers"][0]["too_long"];
    assert_eq!(*told, json!([{ "tool": long[1], "agent": "cursor", "length": 62, "limit": 60 }]));
}

/// A deny rule reaches the last page, and a list without an end is an error.
#[test]
fn b10_every_page_is_listed_and_filtered() {
    let run = Test::new()
        .config(
            &[fake("pages", "pages", "tools = { deny = [\"environment\"] }"), fake("loops", "loop", "")]
                .concat(),
        )
        .args(["probe", "pages", "loops", "--json"])
        .any_stdout()
        .code(1);
    let probed = probed(&run);
    let tools = &server(&probed, "pages")["tools"];
    assert_eq!(*tools, json!({ "shown": ["echo", "add"], "withheld": ["environment"] }));
    let reason = &server(&probed, "loops")["reason"];
    assert_eq!(*reason, "its list of tools does not end: the cursor \"again\" came twice");
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}}"#;
    let pong = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    let last = r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"t"}],"nextCursor":""}}"#;
    // What comes between them is a notification of ours.
    let run = Test::new()
        .config(&scripted(&[hello, "", pong, last]))
        .args(["probe", "a", "--json"])
        .any_stdout()
        .success();
    assert_eq!(run.stdout.matches("\"t\"").count(), 1, "{}", run.stdout);
}

#[test]
fn b45_output_that_is_no_message() {
    // A batch of `[1,2]` is two things that are none.
    let run = Test::new().config(&fake("a", "garbage", "")).args(["probe", "a"]).any_stdout().success();
    let warning =
        "a: warning: its output held lines that are not MCP messages: `Starting the server...` and 3 more";
    assert_eq!(cells(&run)[2], warning);
    // Glued to the answer it is a line that is none: nothing hangs, and the cause is told.
    let glued = "[servers.a]\ncommand = [\"/bin/sh\", \"-c\", \"printf 'ready\\\\033[2J> {\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"result\\\":{}}\\\\n'; cat > /dev/null\"]\nstartup_timeout = \"500ms\"\n";
    let run = Test::new().config(glued).args(["probe", "a"]).any_stdout().code(1);
    let told = &cells(&run)[2];
    assert!(
        told.starts_with(
            "a: it did not answer within 0.5 s; startup_timeout gives it longer; its output held"
        ) && told.contains("`ready\\u{1b}[2J> {"),
        "{told}"
    );
}

#[test]
fn b48_revisions() {
    let hello = |revision: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"a","version":"1"}}}}}}"#
        )
    };
    let pong = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    for (revision, warning) in [
        ("2024-11-05", None),
        ("2025-03-26", None),
        (
            "2099-01-01",
            Some("speaks protocol revision 2099-01-01, which this version of squire does not know"),
        ),
    ] {
        let run = Test::new()
            .config(&scripted(&[&hello(revision), "", pong]))
            .args(["probe", "a", "--json"])
            .any_stdout()
            .success();
        let probed = probed(&run);
        let server = server(&probed, "a");
        assert_eq!(server["protocol"], revision);
        let warnings = server["warnings"].as_array().unwrap();
        assert_eq!(warnings.first().and_then(Value::as_str).filter(|told| told.contains("2099")), warning);
    }
    let run =
        Test::new().config(&fake("a", "modern", "")).args(["probe", "a", "--json"]).any_stdout().success();
    let probed = probed(&run);
    let server = server(&probed, "a");
    assert_eq!(
        (&server["protocol"], &server["tools"]["shown"]),
        (&json!("2026-07-28"), &json!(["echo", "add", "environment"]))
    );
    assert!(server["round_trip_milliseconds"].is_number(), "{server}");
}

/// The newest revision over HTTP, and the servers that need a session.
#[test]
fn b56_remote_servers_of_every_kind() {
    for (mode, revision) in [("ok", "2025-11-25"), ("sse-reply", "2025-11-25"), ("modern", "2026-07-28")] {
        let http = HttpServer::start(mode);
        let run = Test::new()
            .config(&format!("[servers.a]\nurl = \"{}\"\n", http.url))
            .args(["probe", "a", "--json"])
            .any_stdout()
            .success();
        let probed = probed(&run);
        assert_eq!(
            (&server(&probed, "a")["protocol"], &probed["answered"]),
            (&json!(revision), &json!(1)),
            "{mode}"
        );
    }
}

/// One that hangs ends within its time, one that dies or is not there is told at once, and neither delays another.
#[test]
fn b57_servers_that_do_not_start() {
    let config = [
        fake("hangs", "hang", "startup_timeout = \"1s\""),
        fake("dies", "die", ""),
        fake("works", "slow:1500", ""),
    ];
    let test = Test::new().config(&config.concat());
    let began = Instant::now();
    let run = test.clone().args(["probe", "--json"]).any_stdout().code(1);
    assert!(began.elapsed() < Duration::from_secs(3) + SLACK, "{:?}", began.elapsed());
    let probed = probed(&run);
    let reason = |name: &str| server(&probed, name)["reason"].as_str().unwrap_or_default().to_owned();
    assert_eq!(reason("hangs"), "it did not answer within 1 s; startup_timeout gives it longer");
    assert_eq!(reason("dies"), "it ended with status 3: fake-server: dying at once, as asked");
    assert_eq!(server(&probed, "works")["state"], "answered");
    // Its own patience may be shorter than the server's.
    let began = Instant::now();
    let run = test.args(["probe", "works", "--timeout", "300ms"]).any_stdout().code(1);
    assert!(began.elapsed() < Duration::from_secs(2) + SLACK, "{:?}", began.elapsed());
    assert!(run.stdout.contains("works: timed out after 300ms in initialize"), "{}", run.stdout);
}

#[test]
fn b58_a_remote_server_that_wants_a_login() {
    for (mode, reason) in [
        ("http-401", "does not accept its credentials (401 Unauthorized)"),
        ("html", "is no MCP endpoint: it answered with text/html"),
    ] {
        let http = HttpServer::start(mode);
        let run = Test::new()
            .config(&format!(
                "[servers.a]\nurl = \"{}\"\nauth = {{ type = \"bearer\", secret = \"k\" }}\n",
                http.url
            ))
            .secrets("[secrets]\nk = \"S3CR3T-of-the-header\"\n")
            .args(["probe", "a"])
            .any_stdout()
            .code(1);
        assert!(cells(&run)[2].starts_with(&format!("a: {reason}")), "{}", run.stdout);
        assert!(http.log().contains("S3CR3T-of-the-header"));
    }
}

/// Without pins a user can compare: what the servers say comes out the same every time, word for word.
#[test]
fn b66_definitions_come_out_the_same() {
    let test = Test::new().config(&fake("a", "ok", "")).args(["tools", "--json"]).any_stdout();
    let [one, two] = [test.clone().success(), test.success()];
    assert_eq!(one.stdout, two.stdout);
    let listed: Value = serde_json::from_str(&one.stdout).unwrap();
    let schema = &server(&listed, "a")["tools"][1]["inputSchema"];
    let expected = r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#;
    assert_eq!(schema.to_string(), expected);
}

/// stdout holds data alone, whatever the surroundings ask for, on the first run, too.
#[test]
fn b79_nothing_but_data_on_stdout() {
    let run = Test::new()
        .config(&fake("a", "noisy", ""))
        .env("RUST_LOG", "trace")
        .env("RUST_BACKTRACE", "1")
        .env("CLICOLOR_FORCE", "1")
        .env("TERM", "xterm-256color")
        .args(["probe", "a", "--json"])
        .any_stdout()
        .success();
    assert_eq!(probed(&run)["answered"], 1);
    assert!(!run.stdout.contains('\u{1b}'), "{}", run.stdout);
}

#[test]
fn a_secret_goes_to_its_server_and_nowhere_else() {
    Test::new()
        .config("[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\nenv = { TOKEN = \"${secret:k}\" }\n")
        .secrets("[secrets]\nk = \"S3CR3T\"\n")
        .receiver("log")
        .args(["probe", "a", "--json"])
        .any_stdout()
        .success();
}

#[test]
fn tools_are_shown_as_a_call_wants_them() {
    let test = Test::new()
        .config(&[fake("a", "ok", "tools = { deny = [\"env*\"] }"), fake("b", "die", "")].concat());
    test.clone()
        .args(["tools", "a", "b"])
        .stdout("a: 2 tools, 1 hidden\n  echo text=STRING\n    Says the text again.\n  add a=NUMBER b=NUMBER\n    Adds two numbers.\n")
        .stderr("squire: b: it ended with status 3: fake-server: dying at once, as asked\n")
        .code(1);
    let run = test.args(["tools", "a", "--schemas"]).any_stdout().success();
    assert!(run.stdout.contains("    inputSchema: {\n      \"type\": \"object\",\n"), "{}", run.stdout);
}

/// The filters of an agent and of a profile count, and only for who asks for them.
#[test]
fn tools_are_those_of_an_agent_and_a_profile() {
    let test = Test::new().config(&format!(
        "{}[agents.claude]\ntools.a = {{ deny = [\"add\"] }}\n[profiles.p]\nservers = [\"a\"]\ntools.a = {{ deny = [\"echo\"] }}\n",
        fake("a", "ok", "")
    ));
    for (words, shown) in [
        (&[][..], &["echo", "add", "environment"][..]),
        (&["--agent", "claude"], &["echo", "environment"]),
        (&["--profile", "p"], &["add", "environment"]),
        (&["--agent", "claude", "--profile", "p"], &["environment"]),
    ] {
        let run =
            test.clone().args(["probe", "a", "--json"]).args(words.iter().copied()).any_stdout().success();
        assert_eq!(server(&probed(&run), "a")["tools"]["shown"], json!(shown), "{words:?}");
    }
}

/// squire's own client is told the names of what is hidden; an agent is not.
#[test]
fn no_agent_is_told_what_is_hidden() {
    let test = Test::new().config(&fake("a", "ok", "tools = { deny = [\"env*\"] }"));
    let words = crate::support::gateway_words(&test, "a", "claude");
    let said = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"squire/withheld":true}}}
"#;
    let run = test.args(words).stdin(said).any_stdout().success();
    assert!(run.stdout.contains("Adds two numbers"), "{}", run.stdout);
    assert!(!run.stdout.contains("environment") && !run.stdout.contains("withheld"), "{}", run.stdout);
}

#[test]
fn b40_an_interrupted_probe_leaves_no_server() {
    for signal in [Signal::INT, Signal::TERM] {
        let test = Test::new()
            .config("[servers.hangs]\ncommand = [\"/bin/sh\", \"-c\", \"echo $$ > <T>/pid; sleep 300 & exec sleep 300\"]\n")
            .args(["probe"]);
        let running = test.start();
        let file = running.path("pid");
        eventually("the server runs", || fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')));
        let group: i32 = fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        running.send(signal);
        running.signal(signal.as_raw());
        let group = Pid::from_raw(group).unwrap();
        eventually("the group is gone", || test_kill_process_group(group).is_err());
    }
}

#[test]
fn a_terminal_shows_who_is_waited_for() {
    let test =
        Test::new().config(&[fake("slow", "slow:1500", ""), fake("a", "ok", "")].concat()).args(["probe"]);
    let session = Session::start(test.clone(), test.command(), Place::Terminal);
    session.until_shown("2 of 3 servers answered\r\n  slow ");
    session.until_shown("3 of 3 answered: 8 tools");
    let facts = session.finish().join("\n");
    assert!(facts.contains("\"exited\":0"), "{facts}");
}
