//! `squire call`: one tool of one server, under the policy and in the audit of an agent.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Place, Session, Test, eventually};

/// The tools of a server that does what each call says.
const PUPPET: &str = "say,bytes,crash,silence,progress,stderr";

/// `[servers.a]` is a fake server; its log is `<T>/log`.
fn calling(mode: &str, more: &str) -> Test {
    let tools = if mode == "puppet" { format!(", \"--tools\", \"{PUPPET}\"") } else { String::new() };
    Test::new().config(&format!(
        "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\", \"--mode\", \"{mode}\"{tools}]\n{more}\n"
    ))
}

/// A call of `a` whose result is this.
fn giving(result: &Value) -> Test {
    // Its first two requests are the greeting and the list.
    let line = json!({ "jsonrpc": "2.0", "id": 3, "result": result }).to_string();
    calling("puppet", "").args(["call", "a", "say", "--args", &json!({ "line": line }).to_string()])
}

/// What the audit has: who called what, and how that ended.
fn audited(test: &Test) -> Vec<[String; 3]> {
    let text = fs::read_to_string(test.path("home/.local/state/squire/audit/calls.jsonl")).unwrap();
    let told = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        ["agent", "tool", "outcome"].map(|key| line[key].as_str().unwrap_or_default().to_owned())
    };
    text.lines().map(told).collect()
}

#[test]
fn arguments_take_their_types_from_the_schema() {
    let test = calling("ok", "");
    let call = |words: &[&str]| test.clone().args(["call", "a"]).args(words.iter().copied());
    call(&["echo", "text=5"]).stdout("echo:5\n").success();
    call(&["add", "a=2", "b=-0.5"]).stdout("1.5\n").success();
    call(&["add", "--args", "{\"a\": 2, \"b\": 3}"]).stdout("5\n").success();
    call(&["echo", "--args", "-"]).stdin("{\"text\":\"in\"}").stdout("echo:in\n").success();
    call(&["echo", "--args", "-", "--json"])
        .stdin("{\"text\":\"in\"}")
        .stdout("{\"content\":[{\"type\":\"text\",\"text\":\"echo:in\"}]}\n")
        .success();
    let log = fs::read_to_string(test.path("log")).unwrap();
    assert!(log.contains(r#""arguments":{"a":2,"b":-0.5}"#), "{log}");
    let called = |tool: &str| ["inspect", tool, "done"].map(str::to_owned);
    assert_eq!(
        audited(&test),
        [called("echo"), called("add"), called("add"), called("echo"), called("echo")]
    );
}

#[test]
fn a_wrong_command_line_calls_nothing() {
    let test = calling("ok", "");
    let wrong = |words: &[&str], stderr: &str| {
        test.clone().args(["call"]).args(words.iter().copied()).stderr(stderr).code(2);
    };
    wrong(
        &["a", "add", "a=x", "c=1"],
        "squire: add of a: `a` takes a number, and this is `x`\n  there is no argument `c`; there are: a, b\n  `b` is required: a number\n",
    );
    wrong(&["a", "ad"], "squire: a: there is no tool \"ad\"; did you mean `add`?\n");
    wrong(&["b", "add"], "squire: there is no server \"b\"; there are: squire, a\n");
    wrong(
        &["a", "add", "--args", "[1]"],
        "squire: --args takes a JSON object: this is JSON of another kind\n",
    );
    wrong(
        &["a", "add", "--args", "{"],
        "squire: --args takes a JSON object: EOF while parsing an object at line 1 column 1\n",
    );
    let run = test.clone().args(["call", "a", "add", "a=1", "--args", "{}"]).any_stderr().code(2);
    assert!(run.stderr.contains("cannot be used with"), "{}", run.stderr);
    assert!(!fs::read_to_string(test.path("log")).unwrap().contains("tools/call"));
}

#[test]
fn what_an_agent_may_not_call_is_refused_and_written_down() {
    let test =
        calling("ok", "tools = { deny = [\"env*\"] }\n[agents.claude]\ntools.a = { deny = [\"add\"] }");
    let refused = |words: &[&str], tool: &str| {
        let told = format!(
            "squire: {tool} of a: the user's list does not let this agent use the tool \"{tool}\" of a\n"
        );
        test.clone().args(["call", "a"]).args(words.iter().copied()).stderr(told).code(1);
    };
    refused(&["environment", "name=HOME"], "environment");
    refused(&["add", "a=1", "b=2", "--agent", "claude"], "add");
    test.clone().args(["call", "a", "add", "a=1", "b=2"]).stdout("3\n").success();
    let [denied, denied_too, done] = [("environment", "refused"), ("add", "refused"), ("add", "done")];
    let line = |(tool, outcome): (&str, &str)| ["inspect", tool, outcome].map(str::to_owned);
    assert_eq!(audited(&test), [line(denied), line(denied_too), line(done)]);
    assert!(!fs::read_to_string(test.path("log")).unwrap().contains("\"environment\",\"arguments\""));
}

#[test]
fn what_is_left_out_is_not_touched() {
    let test = calling("ok", "disabled = true");
    test.clone().args(["call", "a", "echo", "text=x"]).stderr("squire: a: disabled in squire.toml\n").code(1);
    assert!(!test.path("log").exists());
}

/// Another agent's filters would hold, and not those of the launch.
#[test]
fn no_agent_goes_round_its_own_filters() {
    let test = calling("ok", "").env("SQUIRE_LAUNCH", "0123456789abcdef0123456789abcdef");
    let told = "squire: this is inside a launch of squire (SQUIRE_LAUNCH is set), where the agent itself calls its tools; run it in a terminal of your own\n";
    test.clone().args(["call", "a", "echo", "text=x"]).stderr(told).code(1);
    assert!(!test.path("log").exists());
}

#[test]
fn a_result_that_says_it_failed_is_a_failure() {
    giving(&json!({ "content": [{ "type": "text", "text": "no such\u{1b}[2J issue\n" }], "isError": true }))
        .stderr("squire: say of a: no such\\u{1b}[2J issue\n")
        .code(1);
    giving(&json!({ "content": [], "isError": true }))
        .args(["--json"])
        .stdout("{\"content\":[],\"isError\":true}\n")
        .code(1);
    let refusal = json!({ "jsonrpc": "2.0", "id": 3, "error": { "code": -32602, "message": "not so" } });
    calling("puppet", "")
        .args(["call", "a", "say", "--args", &json!({ "line": refusal.to_string() }).to_string()])
        .stderr("squire: say of a: answered tools/call with an error: not so (-32602)\n")
        .code(1);
}

#[test]
fn results_of_every_kind_are_text() {
    let content = json!([
        { "type": "text", "text": "one\n" },
        { "type": "resource", "resource": { "uri": "file:///a", "text": "two" } },
        { "type": "resource_link", "name": "three", "uri": "file:///b" },
        { "type": "new", "x": 1.0 },
    ]);
    giving(&json!({ "content": content }))
        .stdout("one\ntwo\nthree: file:///b\n{\"type\":\"new\",\"x\":1.0}\n")
        .success();
    giving(&json!({ "content": [], "structuredContent": { "b": 1, "a": [] } }))
        .stdout("{\n  \"b\": 1,\n  \"a\": []\n}\n")
        .success();
}

#[test]
fn bytes_go_to_new_files_and_through_no_link() {
    let content = json!([
        { "type": "text", "text": "look:" },
        { "type": "image", "mimeType": "image/png", "data": "iVBORw==" },
        { "type": "resource", "resource": { "uri": "x:/", "mimeType": "weird/../../kind", "blob": "AAEC" } },
    ]);
    let test = giving(&json!({ "content": content }));
    test.clone()
        .stdout("look:\n")
        .stderr("squire: image/png of about 6 B is not shown: --output DIR writes it to a file\nsquire: weird/../../kind of about 3 B is not shown: --output DIR writes it to a file\n")
        .success();
    fs::create_dir(test.path("project/out")).unwrap();
    symlink(test.path("victim"), test.path("project/out/say.png")).unwrap();
    let test = test.args(["--output", "out"]);
    test.clone().stdout("look:\nout/say-2.png\nout/say.bin\n").success();
    test.clone().stdout("look:\nout/say-3.png\nout/say-2.bin\n").success();
    assert_eq!(fs::read(test.path("project/out/say-2.png")).unwrap(), b"\x89PNG");
    assert_eq!(fs::read(test.path("project/out/say.bin")).unwrap(), [0, 1, 2]);
    let mode = fs::metadata(test.path("project/out/say.bin")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    symlink(test.path("home"), test.path("project/elsewhere")).unwrap();
    let run = test.args(["--output", "elsewhere/below"]).any_stderr().code(2);
    assert!(!run.path("victim").exists() && !run.path("home/below").exists());
    let run = giving(&json!({ "content": content }))
        .link("/tmp", "project/t")
        .args(["--output", "t"])
        .any_stderr()
        .code(1);
    assert_eq!(run.stderr, "squire: --output t: t is a symbolic link, and squire follows none here\n");
}

/// The limit of an agent's results holds; files have none.
#[test]
fn a_long_result_is_cut_as_for_an_agent() {
    let test = calling("puppet", "result_limit = \"1KiB\"").args([
        "call",
        "a",
        "bytes",
        "--args",
        "{\"bytes\": 5000}",
    ]);
    let run = test.clone().any_stdout().success();
    assert!(run.stdout.len() < 2000 && run.stdout.contains("/spill/"), "{}", run.stdout);
    test.args(["--output", "out"]).stdout(format!("{}\n", "x".repeat(5000))).success();
}

/// A word of progress puts the end off; silence ends the call, and the server is told.
#[test]
fn b57_a_call_has_its_time() {
    let test = calling("puppet", "timeout = \"1s\"");
    let args = json!({ "times": 4, "milliseconds": 400 }).to_string();
    test.clone().args(["call", "a", "progress", "--args", &args]).stdout("done\n").success();
    test.clone()
        .args(["call", "a", "silence", "text=x"])
        .stderr("squire: silence of a: a did not answer within 1 s; the request was cancelled (`timeout` gives it longer); the call may have been completed\n")
        .code(1);
    assert!(fs::read_to_string(test.path("log")).unwrap().contains("notifications/cancelled"));
}

#[test]
fn a_server_that_dies_under_a_call_is_told() {
    let run = calling("puppet", "").args(["call", "a", "crash", "text=x"]).any_stderr().code(1);
    assert!(
        run.stderr.contains("squire: crash of a: it ended with status 3: fake-server: crashing, as asked; the call may have been completed\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn ctrl_c_cancels_the_call_and_ends_the_server() {
    for signal in [Signal::INT, Signal::TERM] {
        let test = calling("puppet", "").args(["call", "a", "silence", "text=x"]);
        let log = test.path("log");
        let says = |text: &str| fs::read_to_string(&log).is_ok_and(|log| log.contains(text));
        let running = test.clone().start();
        eventually("the call is made", || says("tools/call"));
        running.send(signal);
        running.signal(signal.as_raw());
        assert!(says("notifications/cancelled"), "{}", fs::read_to_string(&log).unwrap());
        let text = fs::read_to_string(&log).unwrap();
        let start: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let pid = i32::try_from(start["pid"].as_i64().unwrap()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        eventually("the server is gone", || rustix::process::test_kill_process(pid).is_err());
        assert_eq!(audited(&test).last().unwrap()[2], "cancelled");
    }
}

#[test]
fn a_terminal_shows_progress_and_nothing_that_acts_on_it() {
    let test = calling("puppet", "");
    let args = json!({ "times": 5, "milliseconds": 300 }).to_string();
    let progressing = test.clone().args(["call", "a", "progress", "--args", &args]);
    let session = Session::start(progressing.clone(), progressing.command(), Place::Terminal);
    session.until_shown(" progress 2");
    session.until_shown("done\r\n");
    session.finish();
    let acting = giving(&json!({ "content": [{ "type": "text", "text": "a\u{1b}]0;title\u{7}\tb" }] }));
    let session = Session::start(acting.clone(), acting.command(), Place::Terminal);
    session.until_shown("a\\u{1b}]0;title\\u{7}\tb\r\n");
    session.finish();
    // Whoever is no terminal gets it as it came.
    acting.stdout("a\u{1b}]0;title\u{7}\tb\n").success();
}

#[test]
fn b48_a_tool_of_a_server_without_sessions() {
    calling("modern", "").args(["call", "a", "echo", "text=x"]).stdout("echo:x\n").success();
}
