//! `[policy]`: the user's limits on every server, and the machine's above them.

use std::fs;
use std::path::Path;

use serde_json::Value;
use squire::config::{self, Kind, Layers, Sources};

use crate::support::{Run, Test, gateway_words, many_servers};

const FILE: &str = "<T>/home/.config/squire/squire.toml";
const SERVERS: &str = "\
[servers.prog]
command = \"p\"
[servers.web]
url = \"https://web.example.com/mcp\"
[servers.old]
transport = \"sse\"
url = \"https://old.example.com/sse\"
";

/// The three servers under a policy: name and state.
#[track_caller]
fn states(policy: &str) -> Vec<String> {
    Test::new().config(&format!("{SERVERS}[policy]\n{policy}\n")).listed(&["name", "state"])
}

fn claude_file(run: &Run) -> Value {
    serde_json::from_str(run.agent_file("claude.json")["content"].as_str().unwrap()).unwrap()
}

#[test]
fn transports_that_may_run() {
    for (allowed, expected) in [
        ("[\"stdio\"]", ["prog | on", "web | policy", "old | policy"]),
        ("[\"streamable-http\"]", ["prog | policy", "web | on", "old | policy"]),
        ("[\"stdio\", \"sse\"]", ["prog | on", "web | policy", "old | on"]),
        ("[]", ["prog | policy", "web | policy", "old | policy"]),
    ] {
        assert_eq!(states(&format!("transports = {allowed}")), expected, "{allowed}");
    }
}

#[test]
fn the_reason_is_told_with_its_place() {
    let launch = |policy: &str| {
        let test = Test::new().config(&format!("{SERVERS}[policy]\n{policy}\n")).agent("codex", "");
        test.args(["launch", "codex", "--server", "prog"])
    };
    for (policy, reason) in [
        ("transports = [\"http\"]", format!("the policy in {FILE}:9 does not allow stdio")),
        ("deny_servers = [\"pr?g\"]", format!("denied by the policy in {FILE}:9")),
        ("\nallow_servers = [\"web\"]", format!("not among the servers that the policy in {FILE}:10 allows")),
    ] {
        let run = launch(policy)
            .stderr(format!("squire: codex gets 0 of 1; left out: prog ({reason})\n"))
            .success();
        assert_eq!(run.agent_arguments(), Vec::<String>::new());
    }
}

#[test]
fn allowed_and_denied_by_globs_and_deny_wins() {
    for (policy, expected) in [
        ("allow_servers = [\"*\"]", ["prog | on", "web | on", "old | on"]),
        (
            "allow_servers = [\"pr*\", \"[ow]*\"]\ndeny_servers = [\"o?d\"]",
            ["prog | on", "web | on", "old | policy"],
        ),
        (
            "allow_servers = [\"web\"]\ndeny_servers = [\"web\"]",
            ["prog | policy", "web | policy", "old | policy"],
        ),
        ("allow_servers = []", ["prog | policy", "web | policy", "old | policy"]),
        ("deny_servers = []", ["prog | on", "web | on", "old | on"]),
        ("deny_servers = [\"Web\"]", ["prog | on", "web | on", "old | on"]),
    ] {
        assert_eq!(states(policy), expected, "{policy}");
    }
}

/// A gateway entry that somebody kept starts nothing that the policy denies.
#[test]
fn a_gateway_keeps_to_the_policy() {
    let test = Test::new().config(
        "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n[policy]\ndeny_servers = [\"a\"]\n",
    );
    let run = test
        .clone()
        .args(gateway_words(&test, "a", "claude"))
        .any_stdout()
        .stderr(format!("squire: the server a could not be started: denied by the policy in {FILE}:4\n"))
        .code(1);
    assert!(!run.path("log").exists());
}

#[test]
fn addresses_are_rewritten_by_the_first_that_fits() {
    let test = Test::new()
        .config(
            "[servers.a]\nurl = \"http://localhost:1/mcp\"\n[servers.b]\nurl = \"https://h.example.com/http://localhost:2\"\n\
             [servers.c]\ntransport = \"sse\"\nurl = \"http://localhost:3/sse\"\nheaders = { X = \"http://localhost:4\" }\n\
             [policy]\nrewrite_urls = [\n{ from = \"http://localhost:1\", to = \"http://first:1\" },\n\
             { from = \"http://localhost:\", to = \"http://host:\" },\n{ from = \"http://host:\", to = \"http://twice:\" },\n]\n",
        )
        .agent("claude", "");
    assert_eq!(
        test.clone().listed(&["name", "route", "runs"]),
        [
            "a | direct | http://first:1/mcp",
            "b | direct | https://h.example.com/http://localhost:2",
            "c | direct | http://host:3/sse",
        ]
    );
    let run = test.args(["launch", "claude"]).any_stderr().success();
    let servers = &claude_file(&run)["mcpServers"];
    assert_eq!(servers["a"]["url"], "http://first:1/mcp");
    assert_eq!(servers["c"]["url"], "http://host:3/sse");
    assert_eq!(servers["c"]["headers"]["X"], "http://localhost:4");
}

/// What a policy adds reaches the server, and only where the server sets nothing itself.
#[test]
fn variables_are_added_to_programs() {
    let test = Test::new()
        .config(
            "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\nenv = { OWN = \"server\", EMPTY = \"\" }\n\
             [servers.web]\nurl = \"https://h.example.com/mcp\"\n\
             [policy]\nenv = { OWN = \"policy\", EMPTY = \"policy\", ADDED = \"x ${env:FROM:-y}\", HTTPS_PROXY = \"http://proxy:3128\" }\n",
        )
        .agent("claude", "")
        .env("FROM", "launch")
        .env("HTTPS_PROXY", "http://other:1");
    let words = gateway_words(&test, "a", "claude");
    let run = test.clone().args(words).stdin(crate::gateway::CONVERSATION).any_stdout().success();
    let log = fs::read_to_string(run.path("log")).unwrap();
    let started: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    for (name, value) in
        [("OWN", "server"), ("EMPTY", ""), ("ADDED", "x launch"), ("HTTPS_PROXY", "http://proxy:3128")]
    {
        assert_eq!(started["env"][name], value, "{name}");
    }
    // Its reference is pinned as the server's own are, and the address stays direct.
    let run = test.args(["launch", "claude"]).any_stderr().success();
    let servers = &claude_file(&run)["mcpServers"];
    assert_eq!(servers["a"]["env"]["FROM"], "${FROM:-}");
    assert_eq!(servers["web"]["type"], "http");
    assert!(!servers.to_string().contains("proxy:3128"), "{servers}");
}

/// A reference of the policy is a reference of each server that it reaches (case B21).
#[test]
fn b21_what_a_policy_needs_is_needed() {
    Test::new()
        .config("[servers.a]\ncommand = \"a\"\n[servers.b]\ncommand = \"b\"\nenv = { T = \"own\" }\n[policy]\nenv = { T = \"${env:NOPE}\" }\n")
        .agent("claude", "")
        .args(["launch", "claude"])
        .stderr(
            "squire: nothing was started:\n  a: env.T needs ${env:NOPE}, which is not set or empty\n  help: set it, give it a default as in ${env:NAME:-default}, or leave such servers out with --allow-missing\n",
        )
        .unchanged()
        .code(125);
}

/// The policy's wait is that of a server that writes none; the agent waits five seconds longer.
#[test]
fn the_wait_where_a_server_writes_none() {
    let run = Test::new()
        .config(&format!(
            "{SERVERS}[servers.slow]\ncommand = \"s\"\ntimeout = \"2m\"\n[policy]\ntimeout = \"40s\"\n"
        ))
        .agent("claude", "")
        .args(["launch", "claude"])
        .any_stderr()
        .success();
    let servers = &claude_file(&run)["mcpServers"];
    for (name, milliseconds) in [("prog", 45_000), ("web", 45_000), ("slow", 125_000)] {
        assert_eq!(servers[name]["timeout"], milliseconds, "{name}");
    }
    // The one knob makes no server need the gateway.
    assert_eq!(servers["web"]["url"], "https://web.example.com/mcp");
}

#[test]
fn how_many_servers_a_project_may_declare() {
    let listed = |limit: u64, count: usize| {
        let test = Test::new().config(&format!("[policy]\nmax_project_servers = {limit}\n"));
        test.project(&many_servers(count)).args(["list"]).any_stdout()
    };
    for (limit, count) in [(3, 3), (20, 17), (0, 0)] {
        let run = listed(limit, count).success();
        assert_eq!(run.stdout.matches(" not-approved ").count(), count);
    }
    for (limit, count, place) in [(3, 4, "7:10"), (0, 1, "1:10")] {
        let sentence = format!("it declares {count} servers, and a project may have {limit}");
        let run = listed(limit, count)
            .stderr(format!("squire: <T>/project/squire.toml:{place}: the project's file is not used: {sentence}\n  help: raise `max_project_servers` of your [policy]\n"))
            .success();
        assert_eq!(run.stdout.matches(" not-approved ").count(), 0);
    }
}

/// The layers as the library reads them, with a machine's policy of the test's own.
fn load(test: &Test, managed: &str) -> anyhow::Result<Layers> {
    let path = test.path("policy.toml");
    fs::write(&path, managed).unwrap();
    config::load(Sources {
        config: &test.path("home/.config/squire"),
        state: &test.path("home/.local/state/squire"),
        project: None,
        managed: &path,
    })
}

#[test]
fn the_machines_policy_wins_field_by_field() {
    let test = Test::new().config(
        "[policy]\ntransports = [\"stdio\"]\ndeny_servers = [\"users\"]\ntimeout = \"10s\"\nenv = { A = \"user\", B = \"user\" }\n",
    );
    let policy = load(
        &test,
        "[policy]\ntransports = [\"http\", \"sse\"]\nenv = { A = \"machine\" }\nmax_project_servers = 2\n",
    )
    .unwrap()
    .policy;
    assert_eq!(policy.transports.as_ref().unwrap().value, [Kind::Http, Kind::Sse]);
    assert_eq!(policy.transports.unwrap().origin.path.as_ref(), test.path("policy.toml"));
    let env: Vec<String> =
        policy.env.unwrap().value.iter().map(|(name, text)| format!("{name}={text}")).collect();
    assert_eq!(env, ["A=machine"]);
    assert_eq!(policy.max_project_servers.unwrap().value, 2);
    // What the machine does not write stays the user's.
    assert_eq!(policy.deny_servers.as_ref().unwrap().value, ["users"]);
    assert_eq!(
        policy.deny_servers.unwrap().origin.path.as_ref(),
        test.path("home/.config/squire/squire.toml")
    );
    assert_eq!(policy.timeout.unwrap().value.as_secs(), 10);
    assert_eq!(policy.allow_servers, None);
}

#[test]
fn what_is_wrong_with_the_machines_policy_refuses() {
    let test = Test::new();
    let told = |managed: &str| load(&test, managed).unwrap_err().to_string();
    let file = test.path("policy.toml").display().to_string();
    assert_eq!(
        told("[servers.a]\ncommand = \"a\"\n[profiles.p]\n[agents.claude]\n[policy]\ntimeout = 3\n"),
        format!(
            "{file}:1:2: the machine's policy holds [policy] alone, and no [servers]\n\
             {file}:3:2: the machine's policy holds [policy] alone, and no [profiles]\n\
             {file}:4:2: the machine's policy holds [policy] alone, and no [agents]\n\
             {file}:6:11: `timeout` wants a duration such as \"30s\" or \"2m\", of at most 24 days, and this is of type integer"
        )
    );
    assert_eq!(load(&test, "").unwrap(), Layers::default());
    let absent = Sources {
        config: &test.path("home/.config/squire"),
        state: &test.path("home/.local/state/squire"),
        project: None,
        managed: Path::new("/nonexistent/policy.toml"),
    };
    assert_eq!(config::load(absent).unwrap(), Layers::default());
}

#[test]
fn no_policy_in_a_project_nor_in_the_local_layer() {
    let policy = "[policy]\nallow_servers = [\"*\"]\n";
    Test::new()
        .config("[servers.a]\ncommand = \"a\"\n[policy]\ndeny_servers = [\"a\"]\n")
        .project(policy)
        .args(["list"])
        .stdout(format!("NAME    TIER     STATE   TRANSPORT  ROUTE    RUNS              ORIGIN\nsquire  builtin  on      builtin    gateway  in squire itself\na       trusted  policy  stdio      gateway  a                 ~/.config/squire/squire.toml:1\na: denied by the policy in {FILE}:4\n"))
        .stderr("squire: <T>/project/squire.toml:1:2: the project's file is not used: a project declares servers and profiles, and no [policy]\n")
        .success();
    let test = Test::new().local(policy);
    let path = crate::support::local_path(&test, "project");
    test.args(["list"])
        .stderr(format!("squire: <T>/{path}:1:2: the local layer changes servers, and has no [policy]\n"))
        .unchanged()
        .code(1);
}

#[test]
fn the_wrong_types_and_words_of_a_policy() {
    let told = "\
        <F>:2:14: `transports` wants an array of `stdio`, `http` and `sse`, and this is of type string\n\
        <F>:3:17: `allow_servers` wants an array of names or globs, as in [\"repo.*\"], and this is of type string\n\
        <F>:4:17: `deny_servers` wants an array of names or globs, as in [\"repo.*\"], and this is of type integer\n\
        <F>:5:16: `rewrite_urls` wants an array of tables, as in [{ from = \"http://localhost:\", to = \"http://host:\" }], and this is of type table\n\
        <F>:6:7: `env` wants a table of variables, as in { NAME = \"value\" }, and this is of type array\n\
        <F>:7:11: `timeout` wants a duration such as \"30s\" or \"2m\", of at most 24 days, and this is \"0s\"\n\
        <F>:8:16: `result_limit` wants a size such as \"64KiB\" or \"1MiB\", and this is \"64 KiBs\"\n\
        <F>:9:23: `max_project_servers` wants a whole number from 0, and this is \"-1\"\n\
        <F>:10:1: unknown key `allow_server` in [policy]\n  help: did you mean `allow_servers`?";
    refused(
        "[policy]\ntransports = \"stdio\"\nallow_servers = \"*\"\ndeny_servers = [1]\nrewrite_urls = {}\nenv = []\n\
         timeout = \"0s\"\nresult_limit = \"64 KiBs\"\nmax_project_servers = -1\nallow_server = []\n",
        told,
    );
    refused(
        "[policy]\ntransports = [\"stdio\", \"websocket\"]\nallow_servers = [\"a[\"]\nenv = { \"A=B\" = \"x\", C = \"${D}\" }\n\
         rewrite_urls = [{ from = \"\", to = \"x\" }]\n",
        "<F>:2:14: `transports` wants an array of `stdio`, `http` and `sse`, and this is \"websocket\"\n\
         <F>:3:1: `allow_servers`: \"a[\" is no glob: invalid range pattern\n\
         <F>:4:1: `env`: \"A=B\" can't be the name of a variable\n\
         <F>:4:26: `C`: `${D}` is no reference; write `${env:D}` for an environment variable, `$${` for the plain text\n\
         <F>:5:19: `from` is empty, and would fit every address",
    );
    refused(
        "[policy]\nrewrite_urls = [{ from = \"a\" }]\n",
        "<F>:2:1: each of `rewrite_urls` wants `from` and `to`",
    );
    refused(
        "[policy]\nrewrite_urls = [{ from = \"a\", to = \"b\", too = \"c\" }]\n",
        "<F>:2:41: unknown key `too` in `rewrite_urls`\n  help: did you mean `to`?",
    );
}

#[track_caller]
fn refused(config: &str, message: &str) {
    let message = message.replace("<F>", FILE);
    Test::new().config(config).args(["list"]).stderr(format!("squire: {message}\n")).unchanged().code(1);
}

/// A server that has no address can't be chosen to be remote.
#[test]
fn a_chosen_transport_that_can_only_be_a_program_is_one() {
    let test = Test::new().config(
        "[servers.dyn]\ntransport = \"${env:T:-stdio}\"\ncommand = \"x\"\n[policy]\ntransports = [\"stdio\"]\n",
    );
    assert_eq!(test.listed(&["name", "state"]), ["dyn | on"]);
}

/// A rewritten address is held to the rule of a written one.
#[test]
fn an_address_is_one_when_it_is_rewritten_too() {
    for to in ["ftp://h/", "h/", "https:// h/", ""] {
        let config = format!(
            "{SERVERS}[policy]\nrewrite_urls = [{{ from = \"https://web.example.com/\", to = \"{to}\" }}]\n"
        );
        let run = Test::new().config(&config).args(["list"]).any_stdout().any_stderr().ends();
        assert_eq!(run.1, Some(1), "{to:?} was taken: {}", run.0.stdout);
    }
}

/// The built-in server is a server: what no policy lets run does not run, in a launch as in an entry that was kept.
#[test]
fn the_built_in_server_keeps_to_the_policy() {
    for (policy, reason) in [
        ("deny_servers = [\"sq*\"]", format!("denied by the policy in {FILE}:4")),
        ("allow_servers = []", format!("not among the servers that the policy in {FILE}:4 allows")),
    ] {
        let allowed = if policy.starts_with("allow") { "policy" } else { "on" };
        let test = Test::new().config(&format!("[servers.a]\ncommand = \"a\"\n[policy]\n{policy}\n"));
        let run = test.clone().args(["list"]).any_stdout().unchanged().success();
        assert!(run.stdout.contains("squire  builtin  policy "), "{}", run.stdout);
        assert!(run.stdout.contains(&format!("a       trusted  {allowed} ")), "{}", run.stdout);
        test.clone()
            .agent("codex", "")
            .args(["launch", "codex", "--server", "squire"])
            .stderr(format!("squire: codex gets 0 of 1; left out: squire ({reason})\n"))
            .success();
        let run = test
            .clone()
            .args(gateway_words(&test, "squire", "inspect"))
            .stderr(format!("squire: the server squire could not be started: {reason}\n"))
            .code(1);
        assert!(!run.path("home/.local").exists());
    }
    let test = Test::new().config("[policy]\nallow_servers = [\"squire\"]\ntransports = []\n");
    test.args(["list"])
        .stdout("NAME    TIER     STATE  TRANSPORT  ROUTE    RUNS              ORIGIN\nsquire  builtin  on     builtin    gateway  in squire itself\n")
        .success();
}
