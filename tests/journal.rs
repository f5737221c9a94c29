//! The journal of a project's file: launches that share it, die in it, and editors that save an old copy of it later
//! (cases B28, B29, B80).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, Test};

const FILE: &str = "project/.cursor/mcp.json";
const MERGES: &str = "home/.local/state/squire/merges";
const SERVERS: &str = "\
[servers.db]
command = \"<server>\"
args = [\"stdio\"]
[servers.docs]
command = \"<server>\"
args = [\"stdio\"]
[profiles.x]
servers = [\"db\"]
[profiles.y]
servers = [\"docs\"]
[profiles.z]
servers = [\"db\"]
[profiles.both]
servers = [\"db\", \"docs\"]
";
const ODD: &str = "{\n\t// the team's\n\t\"mcpServers\": {\n\t\t\"own\": {\"command\": \"x\",},\n\t},\n}\n";
const KILLED: &str =
    "squire: <T>/project/.cursor/mcp.json: what a launch that was killed left is taken out\n";

fn test() -> Test {
    Test::new().config(SERVERS).agent("cursor-agent", "wait-file $FAKE_GO")
}

/// A launch that runs until `go` exists.
fn launch(test: &Test, profile: &str, go: &str) -> Running {
    let go = test.path(go);
    let log = go.with_extension("log");
    let script = format!("wait-file {}", go.display());
    let launch = test.clone().env("FAKE_AGENT", script).env("FAKE_AGENT_LOG", &log);
    let running = launch.args(["launch", "cursor", "--quiet", "--profile", profile]).start();
    crate::support::eventually("the agent starts", || log.exists());
    running
}

fn end(running: Running, go: &str) {
    fs::write(running.path(go), "").unwrap();
    running.success();
}

/// Kills squire, and lets its agent end.
fn kill(running: Running, go: &str) {
    running.send(Signal::KILL);
    fs::write(running.path(go), "").unwrap();
    running.signal(9);
}

fn servers(test: &Test) -> Vec<String> {
    let value = squire_strategies::parse_jsonc(&fs::read(test.path(FILE)).unwrap()).unwrap();
    value["mcpServers"].as_object().unwrap().keys().cloned().collect()
}

fn journal(test: &Test) -> PathBuf {
    let names = fs::read_dir(test.path(MERGES)).unwrap().map(|entry| entry.unwrap().path());
    names.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "json")).unwrap()
}

fn text(test: &Test) -> String {
    fs::read_to_string(test.path(FILE)).unwrap()
}

/// The next command: it settles, and says this.
#[track_caller]
fn settle(test: &Test, told: &str) {
    test.clone().args(["list"]).any_stdout().stderr(told).success();
}

#[test]
fn b28_each_launch_has_its_servers_and_the_last_one_out_restores() {
    for first_ends_first in [true, false] {
        let test = test().write(FILE, ODD).mode(FILE, 0o640);
        let first = launch(&test, "x", "one");
        assert_eq!(servers(&test), ["db", "own"]);
        let second = launch(&test, "y", "two");
        assert_eq!(servers(&test), ["db", "docs", "own"]);
        if first_ends_first {
            end(first, "one");
            assert_eq!(servers(&test), ["docs", "own"]);
            end(second, "two");
        } else {
            end(second, "two");
            assert_eq!(servers(&test), ["db", "own"]);
            end(first, "one");
        }
        assert_eq!(text(&test), ODD);
        assert_eq!(fs::metadata(test.path(FILE)).unwrap().permissions().mode() & 0o7777, 0o640);
    }
}

/// Of two launches that mean different things by one name the later one's agent must find its own; the earlier one's
/// agent has read the file already.
#[test]
fn b28_of_one_name_the_later_launch_has_its_own_and_says_so() {
    let test = test().write(FILE, ODD);
    let first = launch(&test, "x", "one");
    let before = text(&test);
    let told = format!(
        "squire: db means something else in the launch of process {}, whose agent finds this one if it reads <T>/{FILE} again\nsquire: cursor gets 1 of 1: db; to let it use them: squire launch cursor -- mcp enable db\n",
        first.pid()
    );
    let second = test.clone().env("FAKE_AGENT", "exit 0").args(["launch", "cursor", "--profile", "z"]);
    let during = second.stderr(told).success().agent_file(".cursor/mcp.json")["content"].clone();
    assert_ne!(during, Value::from(before.clone()));
    assert_eq!(text(&test), before);
    end(first, "one");
    assert_eq!(text(&test), ODD);
}

#[test]
fn b28_a_directory_that_was_made_goes_with_the_last_one_out() {
    let test = test();
    let (first, second) = (launch(&test, "x", "one"), launch(&test, "y", "two"));
    end(first, "one");
    assert_eq!(servers(&test), ["docs"]);
    end(second, "two");
    assert!(!test.path("project/.cursor").exists());
}

/// While others start and end, whoever reads the file finds whole JSON with the user's entry.
#[test]
fn b28_twenty_at_once_leave_what_was_there() {
    let test = test().write(FILE, ODD);
    let launches: Vec<Running> = (0..20)
        .map(|number| {
            let launch = test.clone().env("FAKE_AGENT", format!("sleep {}", number * 3));
            let launch = launch.env("FAKE_AGENT_LOG", test.path(&format!("{number}.log")));
            let profile = if number % 2 == 0 { "x" } else { "y" };
            launch.args(["launch", "cursor", "--quiet", "--profile", profile]).start()
        })
        .collect();
    for _ in 0..1000 {
        let servers = servers(&test);
        assert!(servers.contains(&"own".to_owned()), "{servers:?}");
    }
    for (number, launch) in launches.into_iter().enumerate() {
        launch.success();
        let log: Value =
            serde_json::from_slice(&fs::read(test.path(&format!("{number}.log"))).unwrap()).unwrap();
        let seen = log["files"][0]["content"].as_str().unwrap().to_owned();
        assert!(seen.contains(if number % 2 == 0 { "\"db\"" } else { "\"docs\"" }), "{seen}");
    }
    assert_eq!(text(&test), ODD);
}

#[test]
fn b29_the_next_command_takes_out_what_a_killed_launch_left() {
    for shape in [Some(ODD), Some(""), None] {
        let test = shape.map_or_else(test, |text| test().write(FILE, text));
        kill(launch(&test, "x", "one"), "one");
        assert!(test.path(FILE).exists());
        settle(&test, KILLED);
        assert_eq!(fs::read_to_string(test.path(FILE)).ok().as_deref(), shape);
        assert_eq!(test.path("project/.cursor").exists(), shape.is_some());
        settle(&test, "");
    }
}

/// What a dead launch left is not "what was there" to the next one.
#[test]
fn b29_a_launch_after_a_killed_one_restores_what_was_there_before_both() {
    let test = test().write(FILE, ODD);
    kill(launch(&test, "x", "one"), "one");
    let next =
        test.clone().env("FAKE_AGENT", "exit 0").args(["launch", "cursor", "--quiet", "--profile", "y"]);
    let run = next.any_stderr().success();
    let seen = run.agent_file(".cursor/mcp.json")["content"].as_str().unwrap().to_owned();
    assert!(seen.contains("\"docs\"") && !seen.contains("\"db\""), "{seen}");
    assert_eq!(text(&test), ODD);
}

#[test]
fn b29_an_edit_meanwhile_is_kept_and_ours_go() {
    let test = test().write(FILE, ODD);
    let running = launch(&test, "x", "one");
    let edited = text(&test).replace("\"own\"", "\"mine\"");
    fs::write(test.path(FILE), edited).unwrap();
    kill(running, "one");
    settle(&test, KILLED);
    assert_eq!(text(&test), ODD.replace("\"own\"", "\"mine\""));
}

/// The journal names a process that lives, but that is another one under the same number.
#[test]
fn b29_a_pid_that_is_used_again_is_not_the_launch() {
    let test = test().write(FILE, ODD);
    kill(launch(&test, "x", "one"), "one");
    let journal = journal(&test);
    let mut told: Value = serde_json::from_slice(&fs::read(&journal).unwrap()).unwrap();
    told["launches"][0]["owner"]["pid"] = std::process::id().into();
    fs::write(&journal, told.to_string()).unwrap();
    settle(&test, KILLED);
    assert_eq!(text(&test), ODD);
}

#[test]
fn b29_a_running_launch_is_left_in_peace() {
    let test = test().write(FILE, ODD);
    let running = launch(&test, "x", "one");
    let during = text(&test);
    settle(&test, "");
    assert_eq!(text(&test), during);
    end(running, "one");
    assert_eq!(text(&test), ODD);
}

/// An editor read the file during the launch, and saves it afterwards.
#[test]
fn b29_what_an_old_copy_brings_back_is_taken_out() {
    let told = "squire: <T>/project/.cursor/mcp.json: what an old copy brought back is taken out\n";
    for (shape, edit) in [(Some(ODD), false), (Some(ODD), true), (None, false)] {
        let test = shape.map_or_else(test, |text| test().write(FILE, text));
        let running = launch(&test, "x", "one");
        let mut copy = text(&test);
        let mut expected = shape.map(str::to_owned);
        if edit {
            copy = copy.replace("\"own\"", "\"mine\"");
            expected = expected.map(|text| text.replace("\"own\"", "\"mine\""));
        }
        end(running, "one");
        fs::create_dir_all(test.path("project/.cursor")).unwrap();
        fs::write(test.path(FILE), copy).unwrap();
        settle(&test, told);
        assert_eq!(fs::read_to_string(test.path(FILE)).ok(), expected);
        settle(&test, "");
    }
}

/// After a day what has our entry's bytes is the user's.
#[test]
fn b29_a_day_later_nothing_is_remembered() {
    let test = test().write(FILE, ODD);
    let running = launch(&test, "x", "one");
    let copy = text(&test);
    end(running, "one");
    let journal = journal(&test);
    let mut told: Value = serde_json::from_slice(&fs::read(&journal).unwrap()).unwrap();
    let ended = told["ended"][0]["time"].as_u64().unwrap();
    told["ended"][0]["time"] = (ended - 24 * 60 * 60).into();
    fs::write(&journal, told.to_string()).unwrap();
    settle(&test, "");
    assert_eq!(fs::read_dir(test.path(MERGES)).unwrap().count(), 0);
    fs::write(test.path(FILE), &copy).unwrap();
    settle(&test, "");
    assert_eq!(text(&test), copy);
}

/// What the user wrote within a day of a launch is the user's.
#[test]
fn b80_after_a_launch_the_users_words_are_the_users() {
    let test = test();
    let running = launch(&test, "both", "one");
    let mut ours = squire_strategies::parse_jsonc(text(&test).as_bytes()).unwrap();
    end(running, "one");
    fs::create_dir_all(test.path("project/.cursor")).unwrap();
    ours["mcpServers"].as_object_mut().unwrap().remove("docs");
    for by_hand in [format!("{ours:#}"), "{}".into(), "{\"mcpServers\": {}}".into(), "{ half an edit".into()]
    {
        fs::write(test.path(FILE), &by_hand).unwrap();
        let told = "squire: <T>/project/.cursor/mcp.json:1:3: the project's file is not used: it is no JSON\n  help: mend it\n";
        settle(&test, if by_hand.contains("half") { told } else { "" });
        assert_eq!(text(&test), by_hand);
    }
}

/// An old copy is one in any layout: an editor may write the whole file anew.
#[test]
fn b29_an_old_copy_in_another_layout_is_taken_out() {
    let test = test().write(FILE, ODD);
    let running = launch(&test, "both", "one");
    let copy = squire_strategies::parse_jsonc(text(&test).as_bytes()).unwrap();
    end(running, "one");
    fs::write(test.path(FILE), format!("{copy:#}")).unwrap();
    settle(&test, "squire: <T>/project/.cursor/mcp.json: what an old copy brought back is taken out\n");
    assert_eq!(servers(&test), ["own"]);
}

/// What one launch left and an editor brought back goes with the next one's end.
#[test]
fn b28_an_old_copy_that_is_saved_while_another_launch_runs() {
    let test = test().write(FILE, ODD);
    let (first, second) = (launch(&test, "x", "one"), launch(&test, "y", "two"));
    let copy = text(&test);
    end(first, "one");
    fs::write(test.path(FILE), copy.replace("\"own\"", "\"mine\"")).unwrap();
    end(second, "two");
    assert_eq!(text(&test), ODD.replace("\"own\"", "\"mine\""));
}

/// An entry of ours that was edited goes as well, the user's own of that name comes back, and the edit is kept.
#[test]
fn b80_an_edited_entry_of_ours_gives_the_users_own_back() {
    let own = "{\"mcpServers\": {\"db\": {\"command\": \"mine\", \"env\": {\"KEY\": \"precious\"}}}}";
    let test = test().write(FILE, own);
    let running = launch(&test.clone().any_stderr(), "x", "one");
    let mut edited = squire_strategies::parse_jsonc(text(&test).as_bytes()).unwrap();
    edited["mcpServers"]["db"]["disabled"] = true.into();
    fs::write(test.path(FILE), edited.to_string()).unwrap();
    fs::write(running.path("one"), "").unwrap();
    let run = running.success();
    let told = "squire: <T>/project/.cursor/mcp.json: the entry db of squire was edited, and is taken out; the file with the edit: <T>/home/.local/state/squire/merges/<private>-<private>.saved\n";
    assert_eq!(run.stderr, told);
    let left = squire_strategies::parse_jsonc(text(&test).as_bytes()).unwrap();
    assert_eq!(left, squire_strategies::parse_jsonc(own.as_bytes()).unwrap());
}

/// A journal that can't be read locks nobody out and is lost to nobody.
#[test]
fn b29_a_journal_that_cannot_be_read_is_laid_aside() {
    for (broken, reason) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{\"version\":1", "EOF while parsing an object at line 1 column 12"),
    ] {
        let test = test().write(FILE, ODD);
        end(launch(&test, "x", "one"), "one");
        let journal = journal(&test);
        fs::write(&journal, broken).unwrap();
        settle(&test, "");
        assert_eq!(fs::read_to_string(&journal).unwrap(), broken);
        let next =
            test.clone().env("FAKE_AGENT", "exit 7").args(["launch", "cursor", "--quiet", "--profile", "y"]);
        let told = "<T>/home/.local/state/squire/merges/<private>";
        next.stderr(format!(
            "squire: {told}.json: it can't be read as a journal: {reason}; it was laid aside as {told}-<private>.unreadable: squire doctor\n"
        ))
        .code(7);
        assert_eq!(text(&test), ODD);
        let names = fs::read_dir(test.path(MERGES)).unwrap().map(|entry| entry.unwrap().path());
        let aside: Vec<PathBuf> = names
            .filter(|path| path.extension().is_some_and(|extension| extension == "unreadable"))
            .collect();
        let [aside] = aside.as_slice() else { panic!("{aside:?}") };
        assert_eq!(fs::read_to_string(aside).unwrap(), broken);
    }
}

/// What lies in the journal's place and is none is moved aside whole, a link and a directory included.
#[test]
fn b29_what_is_no_file_in_the_journals_place_hinders_nobody() {
    for is_link in [true, false] {
        let test = test().write(FILE, ODD).write("elsewhere", "precious");
        end(launch(&test, "x", "one"), "one");
        let journal = journal(&test);
        fs::remove_file(&journal).unwrap();
        if is_link {
            std::os::unix::fs::symlink(test.path("elsewhere"), &journal).unwrap();
        } else {
            fs::create_dir(&journal).unwrap();
        }
        settle(&test, "");
        let next = test.clone().env("FAKE_AGENT", "exit 7").args(["launch", "cursor", "--quiet"]);
        let run = next.any_stderr().code(7);
        assert!(
            run.stderr.contains(" it was laid aside as ") && run.stderr.lines().count() == 1,
            "{}",
            run.stderr
        );
        assert_eq!(text(&test), ODD);
        assert_eq!(fs::read_to_string(test.path("elsewhere")).unwrap(), "precious");
        let refused = test.clone().args(["clean", "--all"]).any_stdout().any_stderr().code(1);
        assert!(refused.stderr.contains("nothing was removed: look at "), "{}", refused.stderr);
    }
}

/// The journal went during a launch, or was broken: the launch knows itself what it did.
#[test]
fn b29_a_journal_that_is_gone_hinders_no_restoring() {
    for broken in [None, Some("{")] {
        let test = test().write(FILE, ODD);
        let running = launch(&test, "x", "one");
        match broken {
            None => fs::remove_dir_all(test.path(MERGES)).unwrap(),
            Some(text) => fs::write(journal(&test), text).unwrap(),
        }
        end(running, "one");
        assert_eq!(text(&test), ODD);
    }
}

fn git(directory: &Path, words: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    let command =
        std::process::Command::new("git").args(identity).args(words).current_dir(directory).output();
    let output = command.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A file that git tracks looks unchanged after a launch; where it was committed meanwhile, squire says so.
#[test]
fn b70_b80_git_sees_no_difference_or_the_user_is_told() {
    for format in ["sha1", "sha256"] {
        for commit in [false, true] {
            let test = test().write(FILE, ODD);
            let project = test.path("project");
            fs::remove_dir(project.join(".git")).unwrap();
            git(&project, &["init", "-q", &format!("--object-format={format}")]);
            git(&project, &["add", "."]);
            git(&project, &["commit", "-qm", "one"]);
            let go = test.path("go");
            let script = format!("wait-file {}", go.display());
            let told = format!(
                "squire: <T>/{FILE}: it was staged or committed with entries of squire, which are no longer in it: see git status\n"
            );
            let launch = test.clone().env("FAKE_AGENT", script).args([
                "launch",
                "cursor",
                "--quiet",
                "--profile",
                "x",
            ]);
            let launch = launch.env("FAKE_AGENT_LOG", test.path("log")).any_stderr().start();
            crate::support::eventually("the agent starts", || test.path("log").exists());
            if commit {
                git(&project, &["commit", "-qam", "two"]);
            }
            fs::write(&go, "").unwrap();
            let run = launch.success();
            assert_eq!(run.stderr, if commit { told } else { String::new() }, "{format}");
            let status = git(&project, &["status", "--porcelain"]);
            assert_eq!(status, if commit { " M .cursor/mcp.json\n" } else { "" });
        }
    }
}
