//! `squire show NAME`: one server, every value with its origin.

use serde_json::{Value, json};

use crate::support::Test;

const EVERY: &str = "claude, codex, cursor, opencode, inspect";

const CONFIG: &str = "[servers.database]\ncommand = [\"npx\", \"-y\", \"db\"]\n\
                      env = { DB_URL = \"${env:DATABASE_URL}\", MODE = \"a b\" }\ninherit_env = [\"PGHOST\"]\n\
                      startup_timeout = \"1m\"\n\
                      [servers.docs]\nurl = \"https://me:pass@h.example/mcp\"\n\
                      [profiles.base]\nservers = [\"database\"]\n\
                      [profiles.work]\nextends = [\"base\"]\n\
                      [profiles.other]\nservers = [\"docs\"]\n";

fn show(config: &str, name: &str) -> Test {
    Test::new().config(config).args(["show", name]).unchanged()
}

#[test]
fn every_value_as_declared_with_its_origin() {
    show(CONFIG, "database")
        .stdout(format!(
            r#"database
  tier       trusted
  state      on
  transport  stdio
  route      through the gateway in {EVERY}
  runs       npx -y db
  declared   ~/.config/squire/squire.toml:1 (user)
  receives   the base environment; DB_URL, MODE as declared; of your environment DATABASE_URL, PGHOST
  secrets    none
  profiles   base, work

command          ["npx", "-y", "db"]                               ~/.config/squire/squire.toml:2 (user)
env              {{ DB_URL = "${{env:DATABASE_URL}}", MODE = "a b" }}  ~/.config/squire/squire.toml:3 (user)
inherit_env      ["PGHOST"]                                        ~/.config/squire/squire.toml:4 (user)
startup_timeout  "1m"                                              ~/.config/squire/squire.toml:5 (user)
timeout          "5m"                                              default
result_limit     "64KiB"                                           default
"#
        ))
        .success();
}

#[test]
fn each_agents_route_and_reason() {
    let run = show(CONFIG, "docs").any_stdout().success();
    assert!(!run.stdout.contains("pass"), "{}", run.stdout);
    let route = run.stdout.lines().find(|line| line.starts_with("  route ")).unwrap();
    assert_eq!(
        route,
        "  route      direct in claude, inspect; left out of codex: the user in its url would stand in an argument, \
         which every user of the machine can read; left out of cursor: the user in its url would stand in a file of \
         the project, which may be committed; left out of opencode: the user in its url would stand in a variable \
         that OpenCode hands to every server it starts"
    );
}

#[test]
fn layers_and_policy_have_their_say() {
    let config = "[servers.a]\nurl = \"https://h.example/\"\nauth = { type = \"header\", header = \"X-Key\", secret = \"k\" }\n\
                  tools = { allow = [\"a.*\"], deny = [\"a.b\"] }\nresult_limit = \"2MiB\"\n\
                  [policy]\ntimeout = \"90s\"\n[agents.mine]\nstrategy = \"claude\"\nprogram = [\"mine\"]\n";
    let run = show(config, "a").args(["--json"]).any_stdout().success();
    let shown: Value = serde_json::from_str(&run.stdout).unwrap();
    let field = |name: &str| {
        let fields = shown["fields"].as_array().unwrap();
        fields.iter().find(|field| field["field"] == name).unwrap().clone()
    };
    assert_eq!(
        field("auth"),
        json!({
            "field": "auth",
            "value": { "type": "header", "header": "X-Key", "secret": "k" },
            "layer": "user",
            "path": "<T>/home/.config/squire/squire.toml",
            "line": 3,
            "column": 1,
        })
    );
    assert_eq!(field("tools")["value"], json!({ "allow": ["a.*"], "deny": ["a.b"] }));
    assert_eq!(field("result_limit")["value"], "2MiB");
    assert_eq!((&field("timeout")["value"], &field("timeout")["line"]), (&json!("1m 30s"), &json!(7)));
    assert_eq!(
        field("startup_timeout"),
        json!({ "field": "startup_timeout", "value": "30s", "layer": "default", "path": null, "line": null, "column": null })
    );
    assert_eq!(shown["secrets"], json!(["k"]));
    assert_eq!(shown["environment"], json!({ "base": false, "set": [], "read": [] }));
    assert_eq!(shown["state"], "on");
    let routes = shown["routes"].as_array().unwrap();
    assert_eq!(routes.len(), 6);
    assert_eq!((&routes[5]["agent"], &routes[5]["route"]), (&json!("mine"), &json!("gateway")));
}

#[test]
fn a_drop_in_and_a_projects_server_are_named_by_layer() {
    let test = Test::new().write("home/.config/squire/servers.d/tool.toml", "command = \"t\"\n").write(
        "project/squire.toml",
        "[servers.theirs]\ncommand = \"x\"\n[profiles.p]\nservers = [\"theirs\"]\n",
    );
    let run = test.clone().args(["show", "tool"]).unchanged().any_stdout().success();
    assert!(run.stdout.contains("servers.d/tool.toml:1 (servers.d)\n"), "{}", run.stdout);
    assert!(run.stdout.contains("  state      not-approved: declared in servers.d"), "{}", run.stdout);
    let run = test.args(["show", "theirs"]).unchanged().any_stdout().success();
    assert!(run.stdout.contains("  profiles   p\n"), "{}", run.stdout);
    assert!(run.stdout.contains("<T>/project/squire.toml:2 (project)\n"), "{}", run.stdout);
}

/// The user's changes for a project amend single fields, and each field says whose it is.
#[test]
fn a_local_change_is_named_field_by_field() {
    let test = Test::new().config(CONFIG);
    let project = squire::config::Project { root: test.path("project"), declares_in: None };
    let file = squire::config::local_file(&test.path("home/.config/squire"), &project);
    let relative = file.strip_prefix(test.root()).unwrap().to_str().unwrap().to_owned();
    let run = test
        .write(&relative, "[servers.database]\nstartup_timeout = \"2m\"\n")
        .args(["show", "database", "--json"])
        .unchanged()
        .any_stdout()
        .success();
    let shown: Value = serde_json::from_str(&run.stdout).unwrap();
    let layers: Vec<String> = shown["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| format!("{} {}", field["field"].as_str().unwrap(), field["layer"].as_str().unwrap()))
        .collect();
    assert_eq!(
        layers,
        [
            "command user",
            "env user",
            "inherit_env user",
            "startup_timeout local",
            "timeout default",
            "result_limit default"
        ]
    );
}

#[test]
fn the_built_in_server() {
    Test::new()
        .args(["show", "squire"])
        .stdout(format!(
            "squire\n  tier       builtin\n  state      on\n  transport  builtin\n  route      through the gateway in {EVERY}\n  \
             runs       in squire itself\n  receives   nothing of your environment\n  secrets    none\n  profiles   none\n"
        ))
        .unchanged()
        .success();
}

#[test]
fn an_unknown_name() {
    show(CONFIG, "databse")
        .stderr("squire: there is no server \"databse\"; did you mean `database`?\n")
        .code(2);
    show(CONFIG, "zzz")
        .stderr("squire: there is no server \"zzz\"; there are: squire, database, docs\n")
        .code(2);
}

#[test]
fn a_malformed_file_is_told() {
    let run = show("[servers.a]\ncomand = 1\n", "a").any_stderr().code(1);
    assert!(run.stderr.contains("squire.toml:2:1: "), "{}", run.stderr);
}

/// What the policy adds to a server is shown with its place, and what it does not touch is not.
#[test]
fn what_the_policy_adds_has_its_origin() {
    let config = "[servers.a]\ncommand = \"a\"\nenv = { OWN = \"mine\" }\n\
                  [servers.web]\nurl = \"http://localhost:1/mcp?api_key=abc\"\n\
                  [servers.other]\nurl = \"https://h.example.com/\"\n\
                  [policy]\nenv = { OWN = \"policy\", ADDED = \"x\" }\n\
                  rewrite_urls = [{ from = \"http://localhost:\", to = \"http://me:pass@host:\" }]\n";
    let ends = |name: &str, expected: &str| {
        let run = show(config, name).any_stdout().success();
        assert!(run.stdout.ends_with(expected), "{}", run.stdout);
        assert!(!run.stdout.contains("pass") && !run.stdout.contains("abc"), "{}", run.stdout);
    };
    ends(
        "a",
        "\nresult_limit     \"64KiB\"           default\n\
         policy.env       { ADDED = \"x\" }   ~/.config/squire/squire.toml:9 (user)\n",
    );
    ends(
        "web",
        "\npolicy.rewrite_urls  { from = \"http://localhost:\", to = \"http://***@host:\" }  ~/.config/squire/squire.toml:10 (user)\n",
    );
    ends("other", "\nresult_limit     \"64KiB\"                   default\n");
    let run = show(config, "a").args(["--json"]).any_stdout().success();
    let shown: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        shown["fields"].as_array().unwrap().last().unwrap(),
        &json!({
            "field": "policy.env",
            "value": { "ADDED": "x" },
            "layer": "user",
            "path": "<T>/home/.config/squire/squire.toml",
            "line": 9,
            "column": 1,
        })
    );
}

/// No output shows what is probably a credential; the agent has it, and a reference is none.
#[test]
fn credentials_in_clear_are_shown_nowhere() {
    let config = "[servers.web]\nurl = \"https://user:hidden@h.example.com/hidden1hidden2hidden3hidden4/?api_key=hidden&page=1&sig=hidden#token=hidden\"\n\
                  headers = { Authorization = \"Bearer hidden\", X-Page = \"1\" }\n\
                  [servers.brace]\nurl = \"https://h.example.com/$${x}?token=hidden\"\n\
                  [servers.reference]\nurl = \"https://h.example.com/?api_key=${env:KEY}&token=${env:T:-hidden}\"\n";
    let test = || Test::new().config(config).unchanged();
    let shown = "https://***@h.example.com/***/?api_key=***&page=1&sig=***#token=***";
    let mut commands = vec![
        vec!["list"],
        vec!["list", "--json"],
        vec!["show", "web"],
        vec!["show", "web", "--json"],
        vec!["show", "brace"],
        vec!["show", "reference"],
        vec!["check"],
        vec!["check", "--json"],
        vec!["check", "--sarif"],
    ];
    for agent in ["claude", "codex", "cursor", "opencode", "inspect"] {
        commands.push(vec!["describe", agent]);
        commands.push(vec!["describe", agent, "--json"]);
        commands.push(vec!["launch", agent, "--dry-run", "--allow-missing"]);
        commands.push(vec!["launch", agent, "--dry-run", "--json", "--allow-missing"]);
    }
    for words in commands {
        let run = test().args(words.iter().copied()).any_stdout().any_stderr().ends().0;
        assert!(!run.stdout.is_empty(), "{words:?}: {}", run.stderr);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(!all.contains("hidden"), "{words:?}: {all}");
        if words[0] == "list" || words.contains(&"claude") || words.contains(&"web") {
            assert!(all.contains(shown), "{words:?}: {all}");
        }
    }
    let run = test().args(["show", "reference"]).any_stdout().success();
    assert!(run.stdout.contains("?api_key=${env:KEY}&token=***"), "{}", run.stdout);
    let run = Test::new()
        .config(config)
        .agent("claude", "")
        .args(["launch", "claude", "--server", "web"])
        .any_stderr()
        .success();
    let file = run.agent_file("claude.json").to_string();
    assert!(file.contains("api_key=hidden") && file.contains("Bearer hidden"), "{file}");
}
