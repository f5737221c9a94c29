//! Approvals: what a repository declares runs once the user has said so, and only as it was shown
//! (cases B33, B34, B35, B43, B89, B94).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, Run, Session, Test};

const PROJECT: &str = "[servers.docs]\ncommand = [\"server\", \"run.sh\"]\nenv = { A = \"1\" }\n";
const STATE: &str = "home/.local/state/squire";

/// A project whose server `docs` is a program on PATH that notes its start, and runs a file of the project.
fn test(project: &str) -> Test {
    Test::new()
        .write("project/squire.toml", project)
        .write("project/run.sh", "one")
        .script("bin/server", "#!/bin/sh\necho \"$PWD $*\" >> <T>/ran\n")
        .agent("claude", "")
}

/// The digest that `approve` wants: a wrong one is told the right one.
fn digest(test: &Test, name: &str) -> String {
    let run = test.clone().args(["approve", "--digest", "0", name]).any_stderr().unchanged().code(1);
    let right = run.stderr.split(" is ").nth(1).and_then(|rest| rest.split(',').next());
    right.expect(&run.stderr).to_owned()
}

/// Approves a server by the digest that `approve` wants.
#[track_caller]
pub(crate) fn approve(test: &Test, name: &str) {
    let digest = digest(test, name);
    let told = format!("approved {name} {digest}\n");
    test.clone().args(["approve", "--digest", &digest, name]).stdout(told).success();
}

/// The state of `docs` in the list, and the sentence behind it.
#[track_caller]
fn state(test: &Test) -> (String, String) {
    let run = test.clone().args(["list", "--json"]).any_stdout().unchanged().success();
    let listed: Value = serde_json::from_str(&run.stdout).unwrap();
    let docs = listed["servers"].as_array().unwrap().iter().find(|server| server["name"] == "docs").unwrap();
    let text = |key: &str| docs[key].as_str().unwrap_or_default().to_owned();
    (text("state"), text("reason"))
}

#[track_caller]
fn assert_on(test: &Test) {
    assert_eq!(state(test), ("on".into(), String::new()));
}

#[track_caller]
fn assert_asks_again(test: &Test, difference: &str) {
    let reason = format!("declared by the project, and changed since it was approved: {difference}");
    assert_eq!(state(test), ("not-approved".into(), reason));
}

fn gateway(test: &Test, name: &str, more: &[&str]) -> Run {
    let path = |relative: &str| test.path(relative).into_os_string().into_string().unwrap();
    let (project, config, state) = (path("project"), path("home/.config/squire"), path(STATE));
    let words =
        ["gateway", name, "--agent", "codex", "--project", &project, "--config", &config, "--state", &state];
    let spoken_to = test.clone().args(words).args(more.iter().copied()).stdin(crate::gateway::CONVERSATION);
    spoken_to.any_stdout().any_stderr().directory("home").ends().0
}

fn ran(test: &Test) -> String {
    fs::read_to_string(test.path("ran")).unwrap_or_default()
}

#[test]
fn b33_an_approved_server_is_given_and_runs_in_its_project() {
    let test = test(PROJECT);
    gateway(&test, "docs", &[]);
    assert_eq!(ran(&test), "");
    approve(&test, "docs");
    assert_on(&test);
    let run = test
        .clone()
        .args(["launch", "claude"])
        .stderr("squire: claude gets 2 of 2: squire, docs\n")
        .success();
    let file = run.agent()["files"][0]["content"].as_str().unwrap().to_owned();
    assert!(file.contains("\"docs\""), "{file}");
    gateway(&test, "docs", &[]);
    assert_eq!(ran(&test), format!("{} run.sh\n", test.path("project").display()));
}

/// A squire.toml below the root: the entry says where it is, and the server runs there.
#[test]
fn b33_a_nested_project_file_is_found_by_its_gateway() {
    let test =
        test("").write("project/sub/squire.toml", "[servers.docs]\ncommand = \"server\"\ncwd = \"tools\"\n");
    fs::create_dir(test.path("project/sub/tools")).unwrap();
    let test = test.directory("project/sub");
    approve(&test, "docs");
    let run = test.clone().args(["launch", "claude", "--quiet"]).success();
    let file = run.agent()["files"][0]["content"].as_str().unwrap().to_owned();
    let directory = test.path("project/sub").into_os_string().into_string().unwrap();
    assert!(file.contains(&format!("\"--declared-in\",\"{directory}\"")), "{file}");
    gateway(&test, "docs", &["--declared-in", &directory]);
    assert_eq!(ran(&test), format!("{directory}/tools \n"));
}

/// B34: every field of the approved declaration that changes asks again, and is named; nothing runs before.
#[test]
fn b34_every_change_of_a_field_asks_again() {
    let full = "[servers.docs]\ncommand = [\"server\", \"run.sh\"]\nenv = { A = \"1\" }\ninherit_env = [\"X\"]\ncwd = \"sub\"\n\
                timeout = \"1m\"\nstartup_timeout = \"1m\"\ndescription = \"d\"\ngrants = { filesystem = true }\nmax_restarts = 3\n";
    let test = test(full);
    fs::create_dir(test.path("project/sub")).unwrap();
    approve(&test, "docs");
    assert_on(&test);
    let mutations = [
        ("\"run.sh\"", "\"run.sh\", \"-x\"", "`command`"),
        ("\"server\"", "\"sh\"", "`command`"),
        ("A = \"1\"", "A = \"2\"", "`env`"),
        ("A = \"1\"", "A = \"${env:HOME}\"", "`env`"),
        ("A = \"1\"", "A = \"1\", B = \"\"", "`env`"),
        ("[\"X\"]", "[\"X\", \"Y\"]", "`inherit_env`"),
        ("inherit_env = [\"X\"]\n", "", "`inherit_env`"),
        ("\"sub\"", "\".\"", "`cwd`"),
        ("timeout = \"1m\"\ns", "timeout = \"2m\"\ns", "`timeout`"),
        ("startup_timeout = \"1m\"", "startup_timeout = \"2m\"", "`startup_timeout`"),
        ("\"d\"", "\"e\"", "`description`"),
        ("filesystem", "network = false, filesystem", "`grants`"),
        ("max_restarts = 3", "max_restarts = 4", "`max_restarts`"),
    ];
    for (from, to, field) in mutations {
        let changed = full.replacen(from, to, 1);
        assert_ne!(changed, full, "{from}");
        fs::write(test.path("project/squire.toml"), &changed).unwrap();
        assert_asks_again(&test, field);
        gateway(&test, "docs", &[]);
    }
    assert_eq!(ran(&test), "");
    fs::write(test.path("project/squire.toml"), full).unwrap();
    assert_on(&test);
}

#[test]
fn b34_another_layout_of_the_file_does_not_ask_again() {
    let test = test(PROJECT);
    approve(&test, "docs");
    let other = "# a comment\n[servers]\n[servers.docs]\n  env.A = '1'\n  args = [\n    \"run.sh\", # the script\n  ]\n  command = 'server'\n[servers.new]\ncommand = \"x\"\n";
    fs::write(test.path("project/squire.toml"), other).unwrap();
    assert_on(&test);
}

/// The script that an argument names is part of what was approved.
#[test]
fn b34_a_changed_script_asks_again() {
    let test = test(PROJECT);
    approve(&test, "docs");
    fs::write(test.path("project/run.sh"), "two").unwrap();
    assert_asks_again(&test, "run.sh has changed");
    gateway(&test, "docs", &[]);
    assert_eq!(ran(&test), "");
    fs::remove_file(test.path("project/run.sh")).unwrap();
    assert_asks_again(&test, "run.sh is gone");
    std::os::unix::fs::symlink("/etc/passwd", test.path("project/run.sh")).unwrap();
    let (state, reason) = state(&test);
    assert!(state == "not-approved" && reason.contains("run.sh is a symbolic link"), "{reason}");
    fs::remove_file(test.path("project/run.sh")).unwrap();
    fs::write(test.path("project/run.sh"), "one").unwrap();
    assert_on(&test);
}

/// B43: a program of the same name at another place of the user's is an update; one in the project never runs.
#[test]
fn b34_b43_another_place_of_the_program() {
    let test = test(PROJECT);
    approve(&test, "docs");
    let path =
        |first: &str| format!("{}:{}:/usr/bin:/bin", test.path(first).display(), test.path("bin").display());
    let moved = test.clone().script("update/server", "#!/bin/sh\n").env("PATH", path("update"));
    assert_on(&moved);
    let planted = test.clone().script("project/bin/server", "#!/bin/sh\n").env("PATH", path("project/bin"));
    assert_on(&planted);
    let gone = test.clone().env("PATH", "/usr/bin:/bin");
    let (state, reason) = state(&gone);
    assert!(state == "not-approved" && reason.contains("server was not found on PATH"), "{reason}");
}

/// An approval is of one project: a copy of the repository elsewhere is another place.
#[test]
fn b34_an_approval_holds_in_its_project_alone() {
    let test = test(PROJECT).write("copy/squire.toml", PROJECT).write("copy/run.sh", "one");
    fs::create_dir(test.path("copy/.git")).unwrap();
    approve(&test, "docs");
    let copy = test.clone().directory("copy");
    assert_eq!(state(&copy).0, "not-approved");
}

/// What a directory of the project declares is approved for that directory: the same words mean other files elsewhere.
#[test]
fn b33_an_approval_is_for_the_directory_that_a_program_runs_in() {
    let words = "[servers.docs]\ncommand = [\"server\", \"serve\"]\n";
    let test = test("").write("project/a/squire.toml", words).write("project/b/squire.toml", words);
    let there = |directory: &str| test.clone().directory(&format!("project/{directory}"));
    approve(&there("a"), "docs");
    assert_on(&there("a"));
    let (state, reason) = state(&there("b"));
    assert_eq!(state, "not-approved");
    assert!(reason.contains("it was approved to run in a of the project, and would run in b"), "{reason}");
}

/// Every way of naming a file of the project is bound to its content, or can't be approved.
#[test]
fn b33_a_script_is_bound_however_it_is_named() {
    let bound = |declared: &str| {
        let test = test(declared);
        approve(&test, "docs");
        assert_on(&test);
        fs::write(test.path("project/run.sh"), "two").unwrap();
        assert_asks_again(&test, "run.sh has changed");
    };
    bound("[servers.docs]\ncommand = \"server\"\nargs = [\"${env:NOPE:-run.sh}\"]\n");
    let test = test("[servers.docs]\ncommand = \"server\"\nargs = [\"/proc/self/cwd/run.sh\"]\n");
    let run = test.args(["approve", "docs"]).any_stderr().code(1);
    assert!(run.stderr.contains("leads through /proc"), "{}", run.stderr);
}

#[test]
fn a_project_can_not_choose_the_direct_route() {
    let run = Test::new()
        .project("[servers.docs]\nurl = \"http://127.0.0.1:9/mcp\"\nroute = \"direct\"\n")
        .args(["check"])
        .any_stdout()
        .code(1);
    assert!(run.stdout.contains("is not for a project to say"), "{}", run.stdout);
}

/// B35: the user's server stands, whatever is approved; by its name the user's own is meant.
#[test]
fn b35_a_taken_name_stays_taken() {
    let project = test(PROJECT);
    approve(&project, "docs");
    let test = project.config("[servers.docs]\ncommand = \"server\"\n");
    let states = |test: &Test| {
        let run = test.clone().args(["list", "--json"]).any_stdout().success();
        let listed: Value = serde_json::from_str(&run.stdout).unwrap();
        let servers = listed["servers"].as_array().unwrap().clone();
        servers.iter().map(|server| server["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(states(&test), ["on", "on", "name-taken"]);
    approve(&test, "docs");
    assert_eq!(states(&test), ["on", "on", "name-taken"]);
}

#[test]
fn a_drop_in_is_approved_for_every_directory() {
    let test = test("").write("home/.config/squire/servers.d/docs.toml", "command = [\"server\", \"x\"]\n");
    assert_eq!(state(&test), ("not-approved".into(), "declared in servers.d, and not approved".into()));
    approve(&test, "docs");
    assert_on(&test);
    assert_on(&test.directory("home"));
}

/// Where nobody is asked, the digest stands for the scripts too.
#[test]
fn b34_a_digest_is_of_one_content_of_a_script() {
    let test = test(PROJECT);
    let before = digest(&test, "docs");
    fs::write(test.path("project/run.sh"), "two").unwrap();
    let after = digest(&test, "docs");
    assert_ne!(before, after);
    let told =
        format!("squire: docs was not approved: the digest of it and its files is {after}, not {before}\n");
    test.clone().args(["approve", "--digest", &before, "docs"]).stderr(told).code(1);
    assert_eq!(state(&test).0, "not-approved");
}

/// A word that is longer than a name can be is no file.
#[test]
fn a_long_argument_is_no_file() {
    let project = format!("[servers.docs]\ncommand = [\"server\", \"{}\"]\n", "e".repeat(5000));
    let test = test(&project);
    approve(&test, "docs");
    assert_on(&test);
}

#[test]
fn a_wrong_digest_approves_nothing_and_names_the_right_one() {
    let test = test(PROJECT);
    let right = digest(&test, "docs");
    for given in ["", "0", &right[..63], &format!("{right}0")] {
        let told = format!(
            "squire: docs was not approved: the digest of it and its files is {right}, not {given}\n"
        );
        test.clone().args(["approve", "--digest", given, "docs"]).stderr(told).unchanged().code(1);
    }
    test.clone()
        .args(["approve", "--digest", &right, "docs", "docs"])
        .stderr("squire: --digest is for one server at a time\n")
        .unchanged()
        .code(1);
    test.clone()
        .args(["approve", "--digest", &right, "dosc"])
        .stderr("squire: there is no server \"dosc\"; did you mean `docs`?\n")
        .unchanged()
        .code(2);
    test.clone()
        .args(["approve", "--digest", &right, "squire"])
        .stderr("squire: squire is squire itself, and needs no approval\n")
        .unchanged()
        .code(1);
}

/// B94: what stands in a pipe answers no question.
#[test]
fn b94_without_a_terminal_nothing_is_asked() {
    let test = test(PROJECT);
    let told = "squire: there is no terminal to ask on; where the declaration is known: squire approve --digest HEX NAME: No such device or address (os error 6)\n";
    test.clone()
        .behind("exec setsid -w \"$@\"")
        .args(["approve", "docs"])
        .stdin("y\n")
        .stderr(told)
        .unchanged()
        .code(1);
    let run = test
        .clone()
        .env("FAKE_AGENT", "stdin")
        .args(["launch", "claude"])
        .stdin("y\nreal prompt")
        .any_stderr()
        .success();
    assert_eq!(run.agent()["stdin"], "y\nreal prompt");
    assert_eq!(state(&test).0, "not-approved");
}

#[test]
fn b33_inside_a_launch_nothing_is_widened() {
    let test = test(PROJECT);
    let digest = digest(&test, "docs");
    let inside = test.clone().env("SQUIRE_LAUNCH", "0123456789abcdef0123456789abcdef");
    for (words, what) in [
        (vec!["approve", "docs"], "approve a server"),
        (vec!["approve", "--digest", &digest, "docs"], "approve a server"),
        (vec!["revoke", "docs"], "revoke an approval"),
    ] {
        let told = format!(
            "squire: no agent may {what}: this is inside a launch of squire; do it in a terminal of your own\n"
        );
        inside.clone().args(words).stderr(told).unchanged().code(1);
    }
}

#[test]
fn revoking_takes_every_approval_of_the_name_back() {
    let test = test(PROJECT);
    approve(&test, "docs");
    fs::write(test.path("project/squire.toml"), PROJECT.replace("\"1\"", "\"2\"")).unwrap();
    approve(&test, "docs");
    test.clone().args(["revoke", "docs"]).stdout("revoked docs\n").success();
    assert_eq!(state(&test).1, "declared by the project, and not approved");
    fs::write(test.path("project/squire.toml"), PROJECT).unwrap();
    assert_eq!(state(&test).1, "declared by the project, and not approved");
    test.clone().args(["revoke", "docs"]).stderr("squire: docs is not approved here\n").code(1);
}

/// Approvals, refusals and revocations are on record.
#[test]
fn what_was_said_is_logged() {
    let test = test(PROJECT);
    approve(&test, "docs");
    test.clone().args(["revoke", "docs"]).stdout("revoked docs\n").success();
    let log = fs::read_to_string(test.path(STATE).join("trust.log")).unwrap();
    let said: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let words: Vec<&Value> = said.iter().map(|line| &line["said"]).collect();
    assert_eq!(words, ["approved", "revoked"]);
    assert_eq!(said[0]["place"], json!({ "project": test.path("project") }));
    let mode = fs::metadata(test.path(STATE).join("trust.log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
}

fn approvals(test: &Test) -> Vec<std::path::PathBuf> {
    fs::read_dir(test.path(STATE).join("approvals")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A file that can't be read, or that somebody changed, approves nothing.
#[test]
fn an_approval_that_cannot_be_read_approves_nothing() {
    let test = test(PROJECT);
    approve(&test, "docs");
    let [file] = &approvals(&test)[..] else { panic!("one file") };
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o7777, 0o600);
    let good = fs::read_to_string(file).unwrap();
    let other_words = good.replace("\"A\": \"1\"", "\"A\": \"2\"");
    assert_ne!(other_words, good);
    for broken in [
        "",
        "{",
        &other_words,
        &good.replace("\"docs\"", "\"other\""),
        &good.replace("\"version\": 1", "\"version\": 2"),
    ] {
        fs::write(file, broken).unwrap();
        assert_eq!(state(&test).0, "not-approved", "{broken}");
    }
    fs::write(file, &good).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(state(&test).0, "not-approved");
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_on(&test);
    fs::rename(file, file.with_file_name("0.json")).unwrap();
    assert_eq!(state(&test).0, "not-approved");
}

/// It is named wherever it could have let a server run, and approving anew mends it.
#[test]
fn an_approval_that_cannot_be_read_is_named() {
    let test = test(PROJECT);
    approve(&test, "docs");
    let [file] = &approvals(&test)[..] else { panic!("one file") };
    fs::write(file, "{").unwrap();
    let reason = "it approves nothing: EOF while parsing an object at line 1 column 1";
    let mend = "approve anew what it was of (squire approve NAME), and remove the file if it is still there";
    let path = format!("<T>/{STATE}/approvals/<private>.json");
    let told = format!("squire: {path}: {reason}\n  help: {mend}\n");
    test.clone().args(["list"]).any_stdout().stderr(told).success();
    let told = format!(
        "squire: claude gets 1 of 2: squire; left out: docs (declared by the project, and not approved; squire approve docs); {path}: {reason}\n"
    );
    test.clone().args(["launch", "claude"]).stderr(told).success();
    let run = test.clone().args(["check"]).any_stdout().unchanged().code(1);
    let line = format!("{path}: warning: {reason} [approval-unreadable]\n  help: {mend}\n");
    assert_eq!(run.stdout.matches(&line).count(), 1, "{}", run.stdout);
    let told = format!(
        "squire: docs is not approved here\nsquire: {path}: whose approval it is can't be known, and it approves nothing: EOF while parsing an object at line 1 column 1\n  help: remove it\n"
    );
    test.clone().args(["revoke", "docs"]).stderr(told).unchanged().code(1);
    approve(&test, "docs");
    assert_on(&test);
    test.clone().args(["list"]).any_stdout().success();
}

/// What the user declared is the user's word; nobody has to be asked.
#[test]
fn of_ones_own_server_there_is_nothing_to_approve() {
    let test = test("").config("\n[servers.mine]\ncommand = \"server\"\n");
    let told = "squire: mine: there is nothing to approve, as you declared it yourself (<T>/home/.config/squire/squire.toml:2)\n";
    test.clone().behind("exec setsid -w \"$@\"").args(["approve", "mine"]).stderr(told).unchanged().code(1);
    test.args(["approve", "mine"]).stderr(told).unchanged().code(1);
}

/// A program that is not there is no failure of a launch.
#[test]
fn what_cannot_be_bound_is_not_approved() {
    test("[servers.docs]\ncommand = \"nowhere\"\n")
        .args(["approve", "docs"])
        .stderr("squire: docs can't be approved as it is: nowhere was not found on PATH\n")
        .unchanged()
        .code(1);
}

/// What is shown on the terminal, and that a yes there is a yes: a job on a terminal of its own.
fn on_terminal(test: Test, words: &[&str], keys: &[u8], shown: &str) -> String {
    let command = test.clone().args(words.iter().copied()).command();
    let mut session = Session::start(test, command, Place::Terminal);
    session.until_shown(shown);
    session.press(keys);
    session.finish().join("\n")
}

/// All that `approve` shows of a server, which is not approved.
pub(crate) fn shown_by_approve(test: &Test, name: &str) -> String {
    on_terminal(test.clone(), &["approve", name], b"n\n", &format!("approve {name}"))
}

#[test]
fn b33_b94_the_question_shows_all_and_takes_yes_alone() {
    for (keys, said) in [("y\n", true), ("yes\n", true), ("\n", false), ("n\n", false), ("Yess\n", false)] {
        let test = test(PROJECT);
        let screen = on_terminal(test.clone(), &["approve", "docs"], keys.as_bytes(), "approve docs? [y/N]");
        for part in [
            "runs in",
            "env = { A = \\\"1\\\" }",
            "command = [\\\"server\\\", \\\"run.sh\\\"]",
            "run.sh of this repository",
        ] {
            assert!(
                screen.contains(part) || screen.contains(&part.replace("\\\"", "\"")),
                "{part}: {screen}"
            );
        }
        assert_eq!(state(&test).0 == "on", said, "{keys:?}: {screen}");
    }
}

#[test]
fn b33_a_launch_on_a_terminal_asks_and_goes_on() {
    for (keys, given) in [("y\n", true), ("n\n", false)] {
        let test = test(PROJECT);
        let _ = on_terminal(test.clone(), &["launch", "claude"], keys.as_bytes(), "approve docs? [y/N]");
        let agent: Value = serde_json::from_slice(&fs::read(test.path("agent.json")).unwrap()).unwrap();
        let file = agent["files"][0]["content"].as_str().unwrap();
        assert_eq!(file.contains("\"docs\""), given, "{file}");
    }
}

/// Names, arguments and paths of a repository act on no terminal.
#[test]
fn b33_the_question_is_shown_harmlessly() {
    let test = test(
        "[servers.docs]\ncommand = [\"server\", \"\\u001b[2J\\u202eevil\"]\ndescription = \"\\u001b]0;x\\u0007\"\n",
    );
    let screen = on_terminal(test, &["approve", "docs"], b"n\n", "approve docs? [y/N]");
    assert!(
        !screen.contains("\u{1b}[2J") && !screen.contains('\u{202e}') && !screen.contains("\u{1b}]0"),
        "{screen}"
    );
}

/// What an agent writes into the user's own file during its launch waits for the user's word.
#[test]
fn b33_a_launch_serves_what_it_was_given() {
    let config = "[servers.mine]\ncommand = [\"server\", \"one\"]\n";
    let test = test("").config(config);
    let script = format!("touch {0}/ready; wait-file {0}/go", test.root().display());
    let test = test.env("FAKE_AGENT", script);
    let launched = test.clone().args(["launch", "claude", "--quiet"]).start();
    crate::support::eventually("the agent starts", || test.path("ready").exists());
    let agent: Value = serde_json::from_slice(&fs::read(test.path("agent.json")).unwrap()).unwrap();
    let id = agent["env"]["SQUIRE_LAUNCH"].as_str().unwrap().to_owned();
    let under = test.clone().env("SQUIRE_LAUNCH", id);
    let refused: BTreeMap<&str, &str> = BTreeMap::from([
        ("mine", "its declaration has changed since this launch began"),
        ("more", "it was not there when this launch began"),
    ]);
    gateway(&under, "mine", &[]);
    let one = ran(&test);
    assert_eq!(one, format!("{} one\n", test.path("home").display()));
    let file = test.path("home/.config/squire/squire.toml");
    fs::write(&file, "[servers.mine]\ncommand = [\"server\", \"two\"]\n[servers.more]\ncommand = [\"server\", \"three\"]\n").unwrap();
    for (name, reason) in &refused {
        let run = gateway(&under, name, &[]);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
    }
    assert_eq!(ran(&test), one);
    // Without a launch the trust rules alone decide; and the user may say yes meanwhile.
    gateway(&test, "more", &[]);
    approve(&test, "mine");
    gateway(&under, "mine", &[]);
    let home = test.path("home").display().to_string();
    assert_eq!(ran(&test), format!("{one}{home} three\n{home} two\n"));
    fs::write(test.path("go"), "").unwrap();
    launched.success();
}

/// A project's `trust`, and an approval that lies in the repository, are no words of the user's.
#[test]
fn b33_a_repository_approves_nothing_itself() {
    let test = test(PROJECT);
    approve(&test, "docs");
    let approved = fs::read(&approvals(&test)[0]).unwrap();
    let name = approvals(&test)[0].file_name().unwrap().to_owned();
    fs::remove_dir_all(test.path(STATE)).unwrap();
    let inside = test.path("project/state/approvals");
    fs::create_dir_all(&inside).unwrap();
    fs::write(inside.join(name), approved).unwrap();
    let inside = test_path(&test, "project/state");
    let test = test.env("SQUIRE_STATE_DIR", inside);
    let run = test.clone().args(["launch", "claude"]).any_stderr().code(125);
    assert!(run.stderr.contains("lies inside the project"), "{}", run.stderr);
}

fn test_path(test: &Test, relative: &str) -> std::ffi::OsString {
    Path::new(&test.path(relative)).into()
}
