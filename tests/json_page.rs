//! `docs/json.md` and what `list --json` and `show --json` print, held together: every key is on the page with its type,
//! and the page has no other.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{CANARY, Test, fake_server};

/// The rows of a table of the page: each key with its type.
fn table(page: &str, number: usize) -> BTreeMap<String, String> {
    let tables = page.split("| key | type |").nth(number).expect("the page has the table");
    let rows = tables.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| row.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    rows.map(cells).map(|cells| (cells[1].trim_matches('`').to_owned(), cells[2].clone())).collect()
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json.md")).unwrap()
}

/// Notes every key below a value, and holds its type to the page's.
#[track_caller]
fn walk(value: &Value, path: &str, page: &BTreeMap<String, String>, seen: &mut BTreeMap<String, bool>) {
    let Value::Object(keys) = value else { panic!("{path} is no object: {value}") };
    for (key, value) in keys {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let told = page.get(&path).unwrap_or_else(|| panic!("{path} is not on the page"));
        let has_value = !value.is_null() && value.as_array().is_none_or(|array| !array.is_empty());
        *seen.entry(path.clone()).or_default() |= has_value;
        let is_right = match value {
            Value::Null => told.ends_with("or null"),
            Value::Bool(_) => told.starts_with("boolean"),
            Value::Number(_) => told.starts_with("number"),
            Value::String(_) => told.starts_with("string"),
            Value::Array(_) => told.starts_with("array"),
            Value::Object(_) => told.starts_with("object"),
        };
        assert!(told == "any" || is_right, "{path} is {value}, and the page says {told}");
        match value {
            Value::Object(_) if told != "any" => walk(value, &path, page, seen),
            Value::Array(all)
                if told.starts_with("array of objects") || told.starts_with("array of notes") =>
            {
                for one in all {
                    walk(one, &format!("{path}[]"), page, seen);
                }
            }
            Value::Array(all) if told.starts_with("array of strings") => {
                assert!(all.iter().all(Value::is_string), "{path} is {value}");
            }
            _ => {}
        }
    }
}

/// Servers of every kind, so that every key has a value somewhere.
fn everything() -> Test {
    let server = fake_server().display().to_string();
    let test = Test::new()
        .config(&format!(
            "[servers.full]\ncommand = [\"{server}\", \"${{env:A:-x}}\"]\nenv = {{ T = \"${{secret:t}}\" }}\ntools = {{ allow = [\"a\"], deny = [\"b\"] }}\ndescription = \"d\"\ngrants = {{ secrets = [\"t\"] }}\n\
             [servers.web]\nurl = \"https://h/\"\n[servers.gone]\ncommand = \"x\"\ndisabled = true\n\
             [profiles.p]\nservers = [\"full\"]\n[policy]\nenv = {{ P = \"1\" }}\n"
        ))
        .secrets(&format!("[secrets.t]\nvalue = \"{CANARY}-value\"\n"))
        .write("project/run.sh", "one")
        .script("bin/server", "")
        .write("project/squire.toml", "[servers.docs]\ncommand = [\"server\", \"run.sh\"]\n[servers.later]\ncommand = \"server\"\n")
        .write("project/.mcp.json", "{ \"mcpServers\": { \"odd name\": {} } }");
    for name in ["docs", "later"] {
        let run = test.clone().args(["approve", "--digest", "0", name]).any_stderr().code(1);
        let digest =
            run.stderr.split(" is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap().to_owned();
        test.clone().args(["approve", "--digest", &digest, name]).any_stdout().success();
    }
    let text = fs::read_to_string(test.path("project/squire.toml")).unwrap();
    fs::write(
        test.path("project/squire.toml"),
        text.replace("[servers.later]\n", "[servers.later]\nargs = [\"-x\"]\n"),
    )
    .unwrap();
    test
}

#[test]
fn the_page_has_every_key_and_no_other() {
    let page = page();
    let (of_list, of_server) = (table(&page, 1), table(&page, 2));
    let test = everything();
    let run = test.clone().args(["list", "--json"]).any_stdout().unchanged().success();
    assert!(!run.stdout.contains(CANARY), "{}", run.stdout);
    let listed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(listed["version"], 1);
    let (mut seen_of_list, mut seen) = (BTreeMap::new(), BTreeMap::new());
    walk(&listed, "", &of_list, &mut seen_of_list);
    for server in listed["servers"].as_array().unwrap() {
        walk(server, "", &of_server, &mut seen);
        let name = server["name"].as_str().unwrap();
        // One server alone is what it is in the list, and the number.
        let run = test.clone().args(["show", name, "--json"]).any_stdout().unchanged().success();
        let mut shown: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(shown.as_object_mut().unwrap().shift_remove("version"), Some(1.into()));
        assert_eq!(shown, *server, "{name}");
    }
    assert_eq!(seen_of_list.keys().collect::<Vec<_>>(), of_list.keys().collect::<Vec<_>>());
    assert_eq!(seen.keys().collect::<Vec<_>>(), of_server.keys().collect::<Vec<_>>());
    // No tools are remembered yet, and one note has no server.
    let without = |seen: BTreeMap<String, bool>| -> Vec<String> {
        seen.into_iter().filter(|(_, has_value)| !has_value).map(|(key, _)| key).collect()
    };
    assert_eq!(without(seen), ["tools"]);
    assert_eq!(without(seen_of_list), ["notes[].server"]);
}

#[test]
fn what_the_user_has_said_is_told() {
    let test = everything();
    let run = test.args(["list", "--json"]).any_stdout().unchanged().success();
    let listed: Value = serde_json::from_str(&run.stdout).unwrap();
    let told: Vec<String> = listed["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            format!("{} {} {} {}", it["name"], it["enabled"], it["standing"], it["code"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        told,
        [
            "squire true not-needed null",
            "full true not-needed null",
            "web true not-needed null",
            "gone false not-needed disabled",
            "docs true approved null",
            "later false changed not-approved",
        ]
    );
}
