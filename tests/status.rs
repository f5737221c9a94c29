//! `squire status`: how far each server of a launch has come, and `--require`, which goes by it.

use serde_json::Value;

use crate::support::Test;

const SERVERS: &str = "\
[servers.docs]
command = [\"<server>\", \"stdio\"]
[servers.dead]
command = [\"<server>\", \"stdio\", \"--mode\", \"die\"]
[servers.off]
command = \"x\"
disabled = true
[servers.web]
url = \"http://127.0.0.1:9/mcp\"
[profiles.default]
servers = [\"docs\", \"dead\", \"off\", \"web\"]
";

/// What `status --json` tells of the latest launch.
fn latest(test: &Test) -> Value {
    let again = test.clone().args(["status", "--json"]).any_stdout().success();
    let told: Value = serde_json::from_str(&again.stdout).unwrap();
    told["launches"][0].clone()
}

/// Name, last step and the code of its gap of each server.
fn ways(launch: &Value) -> Vec<[String; 3]> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let servers = launch["servers"].as_array().unwrap().iter();
    servers.map(|server| [&server["name"], &server["reached"], &server["gap"]["code"]].map(text)).collect()
}

#[test]
fn each_server_has_come_as_far_as_was_seen() {
    let test = Test::new().config(SERVERS);
    test.clone().args(["launch", "inspect"]).any_stdout().any_stderr().code(1);
    let launch = latest(&test);
    assert_eq!(launch["agent"], "inspect");
    assert_eq!(launch["process"], Value::Null);
    let expected = [
        ["docs", "listed", "not-asked"],
        ["dead", "delivered", "ended"],
        ["off", "declared", "disabled"],
        ["web", "delivered", "direct"],
    ];
    assert_eq!(ways(&launch), expected.map(|way| way.map(str::to_owned)));
    let steps: Vec<&str> = launch["servers"][0]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["step"].as_str().unwrap())
        .collect();
    assert_eq!(steps, ["declared", "resolved", "translated", "delivered", "initialized", "listed"]);
    let reason = launch["servers"][1]["gap"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("it ended with status"), "{reason}");
}

#[test]
fn a_launch_is_told_to_people_with_the_time_of_each_step() {
    let test = Test::new().config(SERVERS);
    let run = test.clone().args(["launch", "inspect"]).any_stdout().any_stderr().code(1);
    // Expectations do not name it.
    let record = run.all_files_below("home/.local/state/squire/past").remove(0);
    let id = record.strip_suffix(".json").unwrap();
    let listed = test.clone().args(["status"]).any_stdout().success().stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(
        lines[0].starts_with(&format!("{}  inspect  20", &id[..8])) && lines[0].ends_with("  over"),
        "{listed}"
    );
    assert_eq!(lines[1], "  docs  listed       no tool of it was called [not-asked]");
    assert_eq!(lines[3], "  off   declared     disabled in squire.toml [disabled]");
    assert_eq!(lines.len(), 5);
    let one = test.clone().args(["status", "--launch", &id[..5]]).any_stdout().success().stdout;
    assert!(one.starts_with("<private>  inspect  "), "{one}");
    assert_eq!(one.matches("\n          initialized  20").count(), 1, "{one}");
    test.clone()
        .args(["status", "--launch", "x"])
        .stderr("squire: no launch is remembered whose id begins with \"x\": squire status\n")
        .code(1);
}

/// The built-in server stands between nothing, and tells by itself.
#[test]
fn the_built_in_server_is_seen_too() {
    let test = Test::new();
    test.clone().args(["launch", "inspect"]).any_stdout().any_stderr().success();
    assert_eq!(ways(&latest(&test)), [["squire", "listed", "not-asked"].map(str::to_owned)]);
}

#[test]
fn without_launches_nothing_is_told() {
    let test = Test::new();
    test.clone().args(["status"]).stderr("squire: no launch is remembered: squire launch AGENT\n").success();
    test.args(["status", "--json"]).stdout("{\n  \"launches\": []\n}\n").success();
}

/// `--require` goes by it: an agent that never had the server did not do what it was launched for.
#[test]
fn b86_a_required_server_that_was_never_initialized_fails_the_launch() {
    let config = "[servers.docs]\ncommand = [\"<server>\", \"stdio\"]\n";
    for agent in ["claude", "codex"] {
        let launch = |script: &str| {
            let test = Test::new().config(config).agent(agent, script);
            test.args(["launch", agent, "--quiet", "--server", "docs", "--require", "docs"])
        };
        launch("")
            .stderr("squire: docs is required, and the agent never had it: the agent has not started it\n")
            .code(125);
        // An agent that failed by itself, or was ended, has said enough.
        launch("exit 7").code(7);
        launch("signal KILL").signal(9);
    }
}

#[test]
fn old_launches_are_forgotten_with_their_reports() {
    let test = Test::new().config("[servers.docs]\ncommand = [\"<server>\", \"stdio\"]\n");
    for _ in 0..62 {
        test.clone().args(["launch", "inspect", "--quiet"]).any_stdout().success();
    }
    let run = test.args(["status", "--json"]).any_stdout().success();
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    let kept = told["launches"].as_array().unwrap().len();
    assert!((50..=60).contains(&kept), "{kept}");
    let reports = run.all_files_below("home/.local/state/squire/deliveries").len();
    assert!((kept..=60).contains(&reports), "{reports}");
}

#[test]
fn a_record_that_can_not_be_read_is_named_and_the_others_are_told() {
    let test = Test::new().config(SERVERS);
    test.clone().args(["launch", "inspect"]).any_stdout().any_stderr().code(1);
    let name = "0123456789abcdef0123456789abcdef.json";
    let path = format!("home/.local/state/squire/past/{name}");
    let told = test.write(&path, "{").args(["status", "--json"]).any_stdout().any_stderr().success();
    let launches: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(launches["launches"].as_array().unwrap().len(), 1);
    let reason = "the record of a launch can't be read: EOF while parsing an object at line 1 column 1";
    let shown = "home/.local/state/squire/past/<private>.json";
    assert_eq!(told.stderr, format!("squire: <T>/{shown}: {reason}\n"));
}
