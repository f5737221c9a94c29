//! `squire export`: one file for each format in `tests/exported`, which `UPDATE_GOLDEN=1 cargo test exporting` writes anew; and
//! what is exported is read again as the same declarations.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use squire::config::import::{of_entry, of_text};
use squire::config::{self, Declarations, LayerKind, Layers};
use squire::resolve::{Standings, everything};
use squire_strategies::export::{Exported, FORMATS, Tools, format};

use crate::support::{CANARY, Run, Test};

/// Something that some format has no words for in most of its servers.
const SERVERS: &str = "\
[servers.plain]\ncommand = [\"npx\", \"-y\", \"docs\"]\nenv = { MODE = \"fast\" }\ntimeout = \"2m\"\n\
[servers.web]\nurl = \"https://docs.example.com/mcp\"\n\
[servers.events]\nurl = \"https://events.example.com/sse\"\ntransport = \"sse\"\n\
[servers.references]\ncommand = [\"run\", \"--as=${env:USER_NAME:-me}\"]\nenv = { TOKEN = \"${env:TOKEN}\", OTHER = \"x-${env:TOKEN}\" }\ninherit_env = [\"PGHOST\"]\n\
[servers.own-names]\ncommand = \"run\"\nenv = { TOKEN = \"${env:TOKEN}\" }\ninherit_env = [\"PGHOST\"]\n\
[servers.bearer]\nurl = \"https://api.example.com/mcp\"\nauth = { type = \"bearer\", secret = \"kept\" }\n\
[servers.from-variable]\nurl = \"https://api.example.com/mcp\"\nauth = { type = \"bearer\", secret = \"variable\" }\nheaders = { X-Team = \"${env:TEAM}\" }\n\
[servers.secret]\ncommand = \"run\"\nenv = { KEY = \"${secret:kept}\" }\n\
[servers.filtered]\ncommand = \"run\"\ntools = { allow = [\"list\"], deny = [\"drop\"] }\n\
[servers.globs]\ncommand = \"run\"\ntools = { deny = [\"*.delete\"] }\n\
[servers.placed]\ncommand = \"run\"\ncwd = \"/srv/app\"\n\
[servers.escaped]\ncommand = [\"run\", \"$${HOME}\", \"{env:X}\"]\n\
[servers.home]\ncommand = \"~/bin/run\"\n\
[servers.limited]\ncommand = \"run\"\nstartup_timeout = \"90s\"\nresult_limit = \"1MiB\"\naudit = \"full\"\n\
[servers.clear]\nurl = \"https://api.example.com/mcp?api_key=abc\"\n\
[servers.off]\ncommand = \"run\"\ndisabled = true\n";

fn test() -> Test {
    Test::new().config(SERVERS).secrets(&format!(
        "[secrets.kept]\nvalue = \"{CANARY}-kept\"\n[secrets.variable]\nenv = \"API_TOKEN\"\n"
    ))
}

fn expected(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exported").join(name)
}

#[track_caller]
fn hold(name: &str, run: &Run) {
    let shown = format!("{}--- on stderr\n{}", run.stdout, run.stderr);
    assert!(!shown.contains(CANARY) && !shown.contains("api_key=abc"), "{shown}");
    let path = expected(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &shown).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, golden, "{name}; UPDATE_GOLDEN=1 cargo test exporting writes it anew");
}

#[test]
fn every_format_as_it_was() {
    for format in FORMATS {
        let run = test().args(["export", format.name]).any_stdout().any_stderr().unchanged().success();
        hold(&format!("{}.txt", format.name), &run);
        let some = ["web", "references", "clear"].map(|name| format!("--server={name}"));
        let run = test().args(["export", format.name, "--gateway"]).args(some).any_stdout().any_stderr();
        let run = run.unchanged().success();
        hold(&format!("{}-gateway.txt", format.name), &run);
    }
}

/// Where an entry starts squire, squire answers there, without a launch and for editors too.
#[test]
fn an_entry_of_a_gateway_works_without_a_launch() {
    for agent in ["claude", "vscode", "claude-desktop"] {
        let test = crate::gateway::fake("tools = { deny = [\"add\"] }\n");
        let run = test.clone().args(["export", agent, "--gateway"]).any_stdout().unchanged().success();
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let servers = document.as_object().unwrap().values().next().unwrap();
        let words: Vec<String> = servers["a"]["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap().replace("<T>", test.root().to_str().unwrap()))
            .collect();
        let run = test.args(words).stdin(crate::gateway::CONVERSATION).any_stdout().any_stderr().ends().0;
        assert!(
            run.stdout.contains("\"echo\"") && !run.stdout.contains("\"add\""),
            "{agent}: {}",
            run.stdout
        );
    }
}

#[test]
fn what_others_declared_is_not_exported_before_it_is_approved() {
    let test = Test::new().project("[servers.docs]\ncommand = \"run\"\n");
    let told = "squire: docs: declared by the project, and not approved\n  help: squire approve docs\n";
    test.clone()
        .args(["export", "claude"])
        .stdout("{\n  \"mcpServers\": {}\n}\n")
        .stderr(told)
        .unchanged()
        .success();
    test.args(["export", "claude", "--server", "docs"]).any_stdout().stderr(told).unchanged().code(1);
}

#[test]
fn a_file_that_is_there_is_not_touched() {
    let test = Test::new().config("[servers.docs]\ncommand = \"run\"\n");
    let export = |to: &str| test.clone().args(["export", "cursor", "--output", to]);
    export("new.json")
        .stderr("squire: new.json has 1 of 1 servers; it belongs into .cursor/mcp.json of a project, or ~/.cursor/mcp.json\n")
        .success();
    let path = test.path("project/new.json");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o644);
    let written: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(written["mcpServers"]["docs"]["command"], "run");
    let there = "can't be written: File exists (os error 17)\n";
    export("new.json").stderr(format!("squire: <T>/project/new.json {there}")).unchanged().code(1);
    let test = test.clone().link("nowhere", "project/link.json");
    let linked = test.args(["export", "cursor", "--output", "link.json"]);
    linked.stderr(format!("squire: <T>/project/link.json {there}")).unchanged().code(1);
}

#[test]
fn a_dash_is_stdout() {
    let plain = test().args(["export", "claude", "--server", "plain"]).any_stdout().unchanged().success();
    let dash = test().args(["export", "claude", "--server", "plain", "--output", "-"]);
    dash.stdout(plain.stdout).unchanged().success();
}

#[test]
fn json_says_what_is_in_it_and_what_is_not() {
    let run = test().args(["export", "zed", "--json"]).any_stdout().unchanged().success();
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&told["version"], &told["format"]), (&1.into(), &"zed".into()));
    let document: Value = serde_json::from_str(told["text"].as_str().unwrap()).unwrap();
    let names: Vec<&String> = document["context_servers"].as_object().unwrap().keys().collect();
    assert_eq!(serde_json::json!(names), told["servers"]);
    let left_out = told["notes"].as_array().unwrap().iter().filter(|note| note["code"] == "inexpressible");
    assert!(left_out.count() > 5);
}

#[test]
fn a_wrong_name_is_told_the_right_ones() {
    Test::new()
        .args(["export", "gemini-cli"])
        .stderr("squire: there is no format \"gemini-cli\"; did you mean `gemini`?\n")
        .unchanged()
        .code(2);
    let own = "[agents.mine]\nstrategy = \"codex\"\nprogram = [\"x\"]\n[servers.docs]\ncommand = \"run\"\n";
    let run =
        Test::new().config(own).args(["export", "mine", "--gateway"]).any_stdout().unchanged().success();
    assert!(
        run.stdout.contains("[mcp_servers.docs]") && run.stdout.contains("\"--agent\",\"mine\""),
        "{}",
        run.stdout
    );
}

/// One server of the user's, as a declaration and as it is exported; none where the format has no words for it.
fn exported(text: &str, name: &str) -> Option<(Declarations, String)> {
    let (declarations, problems) = config::read(text.as_bytes(), Path::new("F"), LayerKind::User);
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    let layers = Layers { user: declarations.clone(), ..Layers::default() };
    let resolution = everything(&layers, &Standings::new(), &|_| true).ok()?;
    let server = &resolution.entries[1].server;
    let one = Exported { server, auth: None, tools: Tools::All, of_gateway: None, unkept: Vec::new() };
    let document = format(name).unwrap().document(&[one], &|_| None, None);
    (!document.servers.is_empty()).then_some((declarations, document.text))
}

fn strings() -> impl Strategy<Value = Vec<String>> {
    let string = "([a-w0-9/ \"\\\\é-]{0,6}|\\$\\{env:[A-Z]{1,3}\\}|a\\$\\{env:B:-c\\}){0,2}";
    prop::collection::vec(string, 0..3)
}

proptest! {
    /// What `squire add --json` makes of an export is what was exported.
    #[test]
    fn what_is_exported_is_read_again(args in strings(), values in strings(), is_remote: bool, is_sse: bool) {
        let quoted = |text: &String| squire_strategies::toml_string(text);
        let pairs = |prefix: &str| -> String {
            let pair = |(index, value): (usize, &String)| format!("{prefix}{index} = {}", quoted(value));
            values.iter().enumerate().map(pair).collect::<Vec<_>>().join(", ")
        };
        let text = if is_remote {
            let transport = if is_sse { "transport = \"sse\"\n" } else { "" };
            let headers = if values.is_empty() { String::new() } else { format!("headers = {{ {} }}\n", pairs("X-A")) };
            format!("[servers.a]\nurl = \"https://h/{}\"\n{transport}{headers}", args.iter().filter(|arg| arg.starts_with("${") && !arg.contains(['"', '\\', ' '])).cloned().collect::<String>())
        } else {
            let args: Vec<String> = args.iter().map(quoted).collect();
            let args = if args.is_empty() { String::new() } else { format!("args = [{}]\n", args.join(", ")) };
            let env = if values.is_empty() { String::new() } else { format!("env = {{ {} }}\n", pairs("V")) };
            format!("[servers.a]\ncommand = \"run\"\n{args}{env}")
        };
        for name in ["claude", "cursor", "opencode", "vscode", "gemini", "windsurf", "zed", "claude-desktop", "copilot"] {
            let Some((declared, document)) = exported(&text, name) else { continue };
            let found = of_text(&document).unwrap();
            let imported = of_entry("a", &found[0].entry, "the export").unwrap();
            prop_assert!(imported.wanted.is_empty(), "{name}: {document}");
            let again = format!("[servers.a]\n{}", imported.table);
            let (read, problems) = config::read(again.as_bytes(), Path::new("F"), LayerKind::User);
            prop_assert!(problems.is_empty(), "{name}: {problems:?}");
            let (mut read, mut declared) = ((*read.servers[0]).clone(), (*declared.servers[0]).clone());
            // Limits and what is said of it are no part of what every format has.
            (read.description, declared.description) = (None, None);
            (read.timeout, declared.timeout) = (None, None);
            if matches!(name, "cursor" | "opencode" | "windsurf" | "zed") {
                // They tell the two kinds of remote servers apart by themselves.
                (read.transport, declared.transport) = (None, None);
            }
            prop_assert!(declared.says_the_same(&read), "{name}:\n{text}\n{document}\n{again}");
        }
    }
}
