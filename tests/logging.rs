//! `squire log`: what the gateways recorded, as people and programs read it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::json;

use crate::support::Test;

const AUDIT: &str = "home/.local/state/squire/audit";
const LAUNCH: &str = "0123456789abcdef0123456789abcdef";

fn line(second: u8, server: &str, tool: &str) -> String {
    let line = json!({
        "time": format!("2026-11-30T06:00:{second:02}.123Z"), "launch": LAUNCH, "agent": "claude", "server": server,
        "tool": tool, "outcome": "done", "milliseconds": 12, "asked": 120, "answered": 3500,
        "arguments_digest": "hmac-sha256:00",
    });
    format!("{line}\n")
}

/// Lines as a run's output is compared: the id of a launch is another every time.
fn shown(lines: &[String]) -> String {
    lines.concat().replace(LAUNCH, "<private>")
}

/// A state directory with these files of the audit.
fn recorded(files: &[(&str, String)]) -> Test {
    let mut test = Test::new();
    for (name, text) in files {
        test = test.write(&format!("{AUDIT}/{name}"), text);
    }
    let test = test.args(["log"]);
    if files.is_empty() { test } else { test.mode("home/.local/state/squire", 0o700).mode(AUDIT, 0o700) }
}

#[test]
fn log_tells_the_oldest_first_across_the_files() {
    let event = json!({ "time": "2026-11-30T06:00:05.000Z", "launch": null, "agent": "codex", "server": "wiki", "event": "refused", "text": "a key\ncomes twice" });
    recorded(&[
        ("calls.jsonl", format!("{}{event}\n", line(4, "docs", "read"))),
        ("calls.1.jsonl", line(3, "docs", "search")),
        ("calls.3.jsonl", line(1, "database", "query") + &line(2, "docs", "list")),
    ])
    .stdout(
        "\
TIME                      AGENT   SERVER    TOOL    OUTCOME  TOOK   ASKED  ANSWERED
2026-11-30T06:00:01.123Z  claude  database  query   done     <n> ms  120 B  3.4 KiB
2026-11-30T06:00:02.123Z  claude  docs      list    done     <n> ms  120 B  3.4 KiB
2026-11-30T06:00:03.123Z  claude  docs      search  done     <n> ms  120 B  3.4 KiB
2026-11-30T06:00:04.123Z  claude  docs      read    done     <n> ms  120 B  3.4 KiB
2026-11-30T06:00:05.000Z  codex   wiki      -       refused  -      -      -         a key\\ncomes twice
",
    )
    .unchanged()
    .success();
}

#[test]
fn log_tells_of_one_server_of_one_launch_and_of_the_last_calls() {
    let other = line(3, "docs", "c").replace(LAUNCH, "f0");
    let lines = [line(1, "docs", "a"), line(2, "wiki", "b"), other, line(4, "docs", "d")];
    let test = recorded(&[("calls.jsonl", lines.concat())]).args(["--json"]);
    let told = |words: &[&str], expected: &[usize]| {
        let expected: Vec<String> = expected.iter().map(|index| lines[*index].clone()).collect();
        test.clone().args(words.iter().copied()).stdout(shown(&expected)).unchanged().success();
    };
    told(&[], &[0, 1, 2, 3]);
    told(&["docs"], &[0, 2, 3]);
    told(&["docs", "--launch", LAUNCH], &[0, 3]);
    told(&["--launch", "f0"], &[2]);
    told(&["--launch", &LAUNCH[..8]], &[0, 1, 3]);
    told(&["--lines", "2"], &[2, 3]);
    told(&["docs", "--lines", "1"], &[3]);
    told(&["--lines", "0"], &[]);
}

#[test]
fn log_says_where_nothing_is_recorded() {
    let nothing = |test: Test, words: &[&str], what: &str| {
        let told = format!("squire: nothing is recorded{what}\n");
        test.args(words.iter().copied()).stderr(told).unchanged().success();
    };
    nothing(recorded(&[]), &[], "");
    let some = recorded(&[("calls.jsonl", line(1, "docs", "a"))]);
    nothing(some.clone(), &["wiki"], " for \"wiki\"");
    nothing(some.clone(), &["\u{1b}[2J", "--json"], " for \"\\u{1b}[2J\"");
    nothing(some, &["docs", "--launch", "f0"], " for \"docs\" of the launch \"f0\"");
}

#[test]
fn log_names_a_broken_line_and_goes_on() {
    let text = [
        "{\"time\":\"2026\n".as_bytes(),
        line(1, "docs", "a").as_bytes(),
        b"\n\xff\n[]\n{\"time\":1,\"server\":\"a\"}\n",
        line(2, "docs", "b").as_bytes(),
        b"{\"time\"",
    ]
    .concat();
    let test =
        recorded(&[("calls.1.jsonl", line(0, "docs", "z"))]).write(&format!("{AUDIT}/calls.jsonl"), text);
    let told = [1, 4, 5, 6, 8].map(|number| {
        format!("squire: <T>/{AUDIT}/calls.jsonl:{number}: this is no line of the audit, and is skipped\n")
    });
    test.args(["--json"])
        .stdout(shown(&[line(0, "docs", "z"), line(1, "docs", "a"), line(2, "docs", "b")]))
        .stderr(told.concat())
        .success();
}

/// The names of tools are the server's words.
#[test]
fn log_prints_nothing_that_acts_on_a_terminal() {
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    let text = format!(
        "{{\"time\":\"t\",\"agent\":\"a\",\"server\":\"docs\",\"tool\":\"\\u001b[2J\u{202e}x\u{9b}\",\t\"outcome\":\"done\",\"arguments\":{deep}}}\n"
    );
    let test = recorded(&[("calls.jsonl", text)]);
    let run = test.clone().any_stdout().success();
    assert!(run.stdout.contains("  \\u{1b}[2J\\u{202e}x\\u{9b}  done"), "{}", run.stdout);
    let run = test.args(["--json"]).any_stdout().success();
    assert!(run.stdout.contains("\"tool\":\"\\u001b[2J\\u202ex\\u009b\", \"outcome\""), "{}", run.stdout);
}

#[test]
fn log_reads_only_what_is_ours_and_wants_a_right_command_line() {
    let test = recorded(&[("calls.jsonl", line(1, "docs", "a"))]);
    let told = "squire: the audit can't be read: <T>/home/.local/state/squire/audit/calls.jsonl: it is not ours alone to write\n";
    test.clone().mode(&format!("{AUDIT}/calls.jsonl"), 0o666).stderr(told).code(1);
    for words in [["--lines", "x"], ["--lines", "-1"], ["--tail", "1"], ["docs", "wiki"]] {
        test.clone().args(words).any_stderr().unchanged().code(2);
    }
}

/// A configuration that is wrong keeps nobody from looking.
#[test]
fn log_needs_no_configuration() {
    recorded(&[("calls.jsonl", line(1, "docs", "a"))])
        .config("[servers.")
        .args(["--json"])
        .stdout(shown(&[line(1, "docs", "a")]))
        .success();
}

#[test]
fn log_follows_across_files_that_are_turned() {
    let before: Vec<String> = (0..12).map(|second| line(second, "docs", "old")).collect();
    let test = recorded(&[("calls.jsonl", before.concat())]).args(["--follow", "--json", "docs"]);
    let mut child = test.command().stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap() + "\n");
    for expected in &before[2..] {
        assert_eq!(told.next().as_ref(), Some(expected));
    }
    let current = test.path(AUDIT).join("calls.jsonl");
    let append = |text: String| {
        let mut file = fs::File::options().append(true).create(true).open(&current).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append(line(20, "wiki", "other") + &line(21, "docs", "new"));
    assert_eq!(told.next(), Some(line(21, "docs", "new")));
    append(line(22, "docs", "last"));
    fs::rename(&current, test.path(AUDIT).join("calls.1.jsonl")).unwrap();
    append(line(23, "docs", "first"));
    assert_eq!(told.next(), Some(line(22, "docs", "last")));
    assert_eq!(told.next(), Some(line(23, "docs", "first")));
    // Nobody reads any more: the next call ends it.
    drop(told);
    append(line(24, "docs", "unread"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn log_follows_what_does_not_exist_yet() {
    let test = recorded(&[]).args(["-f"]);
    let mut child =
        test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "squire: nothing is recorded\n");
    let test = test.write(&format!("{AUDIT}/calls.jsonl"), line(1, "docs", "a"));
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(told.next().unwrap().starts_with("TIME"));
    assert!(told.next().unwrap().contains("docs"));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(2));
    drop(test);
}
