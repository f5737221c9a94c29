//! What edits print with `--json`: what was done, to what and where, and nothing else on stdout.

use serde_json::{Value, json};

use super::{FILE, squire, written};

#[track_caller]
fn told(words: &[&str]) -> Value {
    let run = squire(words).any_stdout().any_stderr().success();
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn each_edit_says_what_it_did() {
    for (words, action, what, name) in [
        (&["remove", "db", "--json"][..], "remove", "server", "db"),
        (&["disable", "db", "--json"], "disable", "server", "db"),
        (&["set", "db", "timeout", "9s", "--json"], "set", "server", "db"),
        (&["profile", "add", "work", "squire", "--json"], "profile add", "profile", "work"),
        (&["profile", "remove", "work", "db", "--json"], "profile remove", "profile", "work"),
    ] {
        let expected = json!({
            "version": 1,
            "action": action,
            what: name,
            "layer": "user",
            "path": FILE,
            "changed": true,
            "dry_run": false,
            "difference": null,
        });
        assert_eq!(told(words), expected, "{words:?}");
    }
    let told = told(&["enable", "db", "--json"]);
    assert_eq!((&told["action"], &told["changed"]), (&json!("enable"), &json!(false)));
}

#[test]
fn a_dry_run_has_the_difference_and_writes_nothing() {
    let run =
        squire(&["set", "db", "timeout", "9s", "--json", "--dry-run"]).any_stdout().unchanged().success();
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&told["changed"], &told["dry_run"]), (&json!(true), &json!(true)));
    let difference = told["difference"].as_str().unwrap();
    assert!(difference.contains("+timeout = \"9s\"\n"), "{difference}");
    assert!(!written(&run).contains("9s"));
}

#[test]
fn what_goes_wrong_prints_no_json() {
    let run = squire(&["remove", "nobody", "--json"]).any_stderr().unchanged().code(2);
    assert_eq!(run.stdout, "");
}
