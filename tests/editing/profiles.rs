//! `squire profile`.

use serde_json::{Value, json};

use super::{FILE, TEXT, squire, written};

#[test]
fn b26_a_profile_is_made_changed_and_taken_out() {
    let test = squire(&[]);
    let run = |words: &[&str], told: &str| {
        let run = test
            .clone()
            .args(words.iter().copied())
            .stderr(format!("squire: the profile {told}\n"))
            .success();
        written(&run)
    };
    let text = run(
        &["profile", "add", "review", "db", "--extends", "work", "--require", "db"],
        &format!("review is in {FILE}"),
    );
    let block = "\n[profiles.review]\nextends = [\"work\"]\nservers = [\"db\"]\nrequire = [\"db\"]\n";
    assert_eq!(text, format!("{TEXT}{block}"));
    let text = run(&["profile", "add", "review", "github"], &format!("review is in {FILE}"));
    assert_eq!(
        text,
        format!("{TEXT}{block}").replace("servers = [\"db\"]\n", "servers = [\"db\", \"github\"]\n")
    );
    run(&["profile", "add", "review", "github"], &format!("review was so already in {FILE}"));
    let text =
        run(&["profile", "remove", "review", "github"], &format!("review no longer names github ({FILE})"));
    assert_eq!(text, format!("{TEXT}{block}"));
    assert_eq!(run(&["profile", "remove", "review"], &format!("review is out of {FILE}")), TEXT);
}

#[test]
fn what_can_not_be_meant_is_told() {
    for (words, told, code) in [
        (
            &["profile", "add", "work", "nope"][..],
            format!(
                "nothing was changed, as this would be wrong:\n{FILE}:12:28: there is no server \"nope\" in this layer"
            ),
            1,
        ),
        (&["profile", "remove", "work", "nope"], "the profile work does not name nope".into(), 1),
        (&["profile", "remove", "wrk"], "there is no profile \"wrk\"; did you mean `work`?".into(), 2),
        (&["profile", "show", "wrk"], "there is no profile \"wrk\"; did you mean `work`?".into(), 2),
    ] {
        squire(words).stderr(format!("squire: {told}\n")).unchanged().code(code);
    }
}

#[test]
fn profiles_are_listed_and_shown() {
    squire(&["profile", "list"])
        .stdout("NAME  LAYER    SERVERS\nwork  user     github, db\n")
        .unchanged()
        .success();
    squire(&["profile", "show", "work"])
        .stdout(format!("work\n  servers   github, db\n  declared  {FILE}:11 (user)\n  launched  github: on\n  launched  db: on\n"))
        .unchanged()
        .success();
    let one = json!({
        "name": "work", "layer": "user", "origin": format!("{FILE}:11"), "extends": [], "servers": ["github", "db"], "require": [], "strict": false,
    });
    let run = squire(&["profile", "list", "--json"]).any_stdout().success();
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap(), json!({ "profiles": [one] }));
    let run = squire(&["profile", "show", "work", "--json"]).any_stdout().success();
    let mut shown = one;
    shown["launched"] = json!([{ "name": "github", "state": "on" }, { "name": "db", "state": "on" }]);
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap(), shown);
}
