//! How a launch ends and what passes through it (cases B37, B38): squire either becomes the agent (codex, opencode)
//! or stays its parent (claude, cursor), and nobody can tell the difference.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Test, eventually};

const DOCS: &str = "[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n";
/// Every agent with its program: two by exec, two below squire.
const AGENTS: &[(&str, &str)] =
    &[("codex", "codex"), ("opencode", "opencode"), ("claude", "claude"), ("cursor", "cursor-agent")];
const BY_EXEC: &[&str] = &["codex", "opencode"];
const SIGNALS: &[(&str, Signal)] = &[
    ("TERM", Signal::TERM),
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
];

fn launch(agent: &str, program: &str, script: &str) -> Test {
    Test::new().config(DOCS).agent(program, script).args(["launch", agent, "--quiet", "--server", "docs"])
}

/// The same with a shell script as the agent.
fn launch_script(agent: &str, program: &str, script: &str) -> Test {
    Test::new()
        .config(DOCS)
        .script(&format!("bin/{program}"), &format!("#!/bin/sh\n{script}\n"))
        .args(["launch", agent, "--quiet", "--server", "docs"])
}

#[test]
fn b37_the_agents_exit_code_is_squires() {
    for (agent, program) in AGENTS {
        for code in [0, 3, 42, 125, 126, 127, 128, 143, 255] {
            let run = launch(agent, program, &format!("exit {code}")).code(code);
            assert!(run.agent_was_started());
            assert_eq!(run.files_below("project"), Vec::<String>::new(), "{agent} {code}");
        }
    }
}

#[test]
fn b37_the_agents_death_by_a_signal_is_squires() {
    for (agent, program) in AGENTS {
        for (name, number) in
            [("TERM", 15), ("SEGV", 11), ("KILL", 9), ("INT", 2), ("HUP", 1), ("ABRT", 6), ("PIPE", 13)]
        {
            let run = launch(agent, program, &format!("signal {name}")).signal(number);
            assert_eq!(run.files_below("project"), Vec::<String>::new(), "{agent} {name}");
            if !BY_EXEC.contains(agent) {
                assert_eq!(run.state_left(), Vec::<String>::new(), "{agent} {name}");
            }
        }
    }
}

#[test]
fn b37_squire_writes_no_core_of_its_own() {
    for (agent, program) in AGENTS {
        let run = launch(agent, program, "signal SEGV").behind("ulimit -S -c unlimited").signal(11);
        assert_eq!(run.files_below("project"), Vec::<String>::new(), "{agent}");
    }
}

#[test]
fn b37_b38_a_signal_sent_to_squire_reaches_the_agent_once() {
    for (agent, program) in AGENTS {
        let mut running = launch(agent, program, "trap 7; exit 7").start();
        running.until_signals(&[]);
        let mut sent = Vec::new();
        // The last one shows that no earlier one came again meanwhile.
        for (name, signal) in SIGNALS.iter().chain(&SIGNALS[..1]) {
            running.send(*signal);
            sent.push(*name);
            if sent.len() < 7 {
                running.until_signals(&sent);
            }
        }
        let run = running.code(7);
        assert_eq!(run.agent()["signals"], json!(sent), "{agent}");
    }
}

#[test]
fn b37_a_signal_that_ends_the_agent_ends_squire_the_same_way() {
    for (agent, program) in AGENTS {
        for (name, signal) in SIGNALS {
            let mut running = launch(agent, program, "wait-file <T>/never").start();
            let log = running.until(|_| true);
            running.send(*signal);
            let run = running.signal(signal.as_raw());
            assert!(!std::path::Path::new(&format!("/proc/{}", log["pid"])).exists(), "{agent} {name}");
            assert_eq!(run.files_below("project"), Vec::<String>::new(), "{agent} {name}");
            if !BY_EXEC.contains(agent) {
                assert_eq!(run.state_left(), Vec::<String>::new(), "{agent} {name}");
            }
        }
    }
}

#[test]
fn b37_what_squires_caller_ignores_stays_ignored() {
    for (agent, program) in AGENTS {
        let mut running = launch(agent, program, "wait-file <T>/go; exit 5")
            .behind("trap '' HUP INT QUIT TERM USR1 USR2")
            .start();
        let log = running.until(|_| true);
        let agent_pid = i32::try_from(log["pid"].as_i64().unwrap()).unwrap();
        let agent_pid = rustix::process::Pid::from_raw(agent_pid).unwrap();
        for (_, signal) in SIGNALS {
            running.send(*signal);
            rustix::process::kill_process(agent_pid, *signal).unwrap();
        }
        fs::write(running.path("go"), "").unwrap();
        running.code(5);
    }
}

#[test]
fn b37_nohup_holds_for_the_agent() {
    for (agent, program) in AGENTS {
        let mut running = launch(agent, program, "wait-file <T>/go; exit 5")
            .behind("set -- nohup \"$@\"")
            .any_stderr()
            .start();
        let log = running.until(|_| true);
        running.send(Signal::HUP);
        let agent_pid = i32::try_from(log["pid"].as_i64().unwrap()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(agent_pid).unwrap(), Signal::HUP)
            .unwrap();
        fs::write(running.path("go"), "").unwrap();
        running.code(5);
    }
}

#[test]
fn b37_ignored_ends_of_children_hide_no_exit_code() {
    for (agent, program) in AGENTS {
        launch(agent, program, "exit 42").behind("trap '' CHLD").code(42);
    }
}

/// What a script says that runs as the agent, and what it says without squire.
#[track_caller]
fn with_and_without(agent: &str, program: &str, before: &str, script: &str) -> (String, String) {
    let test = launch_script(agent, program, script).behind(before).any_stdout();
    let mut bare = Command::new("/bin/sh");
    bare.args(["-c", &format!("{before}; exec \"$@\""), "sh"]).arg(test.path(&format!("bin/{program}")));
    let bare = bare.stdin(Stdio::null()).output().unwrap();
    (test.success().stdout, String::from_utf8(bare.stdout).unwrap())
}

const MASKS: &str = "grep -E '^Sig(Ign|Blk)' /proc/self/status";

#[test]
fn b37_the_agent_starts_with_its_callers_dispositions() {
    for (agent, program) in AGENTS {
        for before in ["true", "trap '' HUP USR1", "trap '' TERM INT QUIT USR2"] {
            let (found, bare) = with_and_without(agent, program, before, MASKS);
            assert_eq!(found, bare, "{agent} behind {before}");
        }
    }
}

/// A limit: the language's runtime ignores SIGPIPE in squire before anything of squire runs, and sets the default again
/// for what it starts. So the agent has the default even where the caller ignored it; README says so.
#[test]
fn b37_a_broken_pipe_has_its_default_in_the_agent() {
    for (agent, program) in AGENTS {
        let (found, bare) = with_and_without(agent, program, "trap '' PIPE", MASKS);
        assert_ne!(found, bare, "{agent}: the limit is gone, and README can say so");
        let (found, bare) = with_and_without(agent, program, "trap - PIPE", MASKS);
        assert_eq!(found, bare, "{agent}");
    }
}

#[test]
fn the_agent_inherits_what_it_would_without_squire() {
    for (agent, program) in AGENTS {
        let before = "umask 027; ulimit -S -c 0; ulimit -S -n 200; exec 8< /dev/null";
        let script =
            "umask; ulimit -a; ls /proc/self/fd; grep -E '^(Nice|NoNewPrivs|Seccomp):' /proc/self/status";
        let (found, bare) = with_and_without(agent, program, before, script);
        assert_eq!(found, bare, "{agent}");
        assert!(found.contains("\n8\n"), "{agent}: {found}");
    }
}

#[test]
fn a_working_directory_that_is_gone_refuses_the_launch() {
    for (agent, program) in AGENTS {
        let run = launch(agent, program, "")
            .behind("mkdir gone && cd gone && rmdir ../gone")
            .stderr("squire: the working directory no longer exists, or can't be read\n")
            .code(125);
        assert!(!run.agent_was_started());
        assert_eq!(run.state_left(), Vec::<String>::new());
    }
}

#[test]
fn b38_private_files_stay_until_the_agent_ends() {
    for (script, by) in
        [("trap 1; wait-file <T>/go; exit 5", Some(5)), ("trap 1; wait-file <T>/go; signal KILL", None)]
    {
        let mut running = launch("claude", "claude", script).start();
        running.until_signals(&[]);
        running.send(Signal::INT);
        running.until_signals(&["INT"]);
        let log = running.until(|_| true);
        let file = log["files"][0]["path"].as_str().unwrap().to_owned();
        assert!(file.ends_with("/claude.json") && fs::exists(&file).unwrap());
        fs::write(running.path("go"), "").unwrap();
        let run = match by {
            Some(code) => running.code(code),
            None => running.signal(9),
        };
        assert_eq!(run.state_left(), Vec::<String>::new());
        assert!(!fs::exists(std::path::Path::new(&file).parent().unwrap()).unwrap());
    }
}

#[test]
fn by_exec_squire_is_the_agent() {
    for (agent, program) in AGENTS {
        let mut running = launch(agent, program, "wait-file <T>/go").start();
        let log = running.until(|_| true);
        let same = log["pid"].as_u64() == Some(u64::from(running.pid()));
        assert_eq!(same, BY_EXEC.contains(agent), "{agent}");
        // One process group and session, so that a terminal's signals reach both.
        let group = |pid: &str| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            let fields: Vec<String> =
                stat.rsplit_once(')').unwrap().1.split_whitespace().map(str::to_owned).collect();
            fields[2..4].to_vec()
        };
        assert_eq!(group(&log["pid"].to_string()), group(&running.pid().to_string()), "{agent}");
        fs::write(running.path("go"), "").unwrap();
        running.success();
    }
}

#[test]
fn the_record_of_an_ended_agent_is_put_away_by_the_next_launch() {
    let test = launch("codex", "codex", "");
    let first = test.clone().success();
    let records = first.files_below("home/.local");
    let id = first.agent_variable("SQUIRE_LAUNCH").unwrap();
    assert_eq!(records, [format!("state/squire/launches/{id}.json")]);
    let mode = fs::metadata(first.path("home/.local").join(&records[0])).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    let second = test.success();
    let past = format!("state/squire/past/{id}.json");
    let id = second.agent_variable("SQUIRE_LAUNCH").unwrap();
    assert_eq!(second.all_files_below("home/.local"), [format!("state/squire/launches/{id}.json"), past]);
}

#[test]
fn the_record_of_a_running_agent_stays() {
    let test = launch("codex", "codex", "");
    let mut running = test.clone().env("FAKE_AGENT", "wait-file go").start();
    let id = running.until(|_| true)["env"]["SQUIRE_LAUNCH"].as_str().unwrap().to_owned();
    let run = test.success();
    assert!(run.path(&format!("home/.local/state/squire/launches/{id}.json")).exists());
    fs::write(running.path("project/go"), "").unwrap();
    running.success();
}

#[test]
fn stdin_passes_through_byte_for_byte() {
    // Every byte, in an order that a line or a block would not repeat.
    let bytes: Vec<u8> =
        (0_u32..1024 * 1024).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    for (agent, program) in AGENTS {
        let run = launch_script(agent, program, "cat > '<T>/got'").stdin(&bytes).success();
        assert!(fs::read(run.path("got")).unwrap() == bytes, "{agent}");
    }
}

#[test]
fn output_passes_through_untouched() {
    for (agent, program) in AGENTS {
        launch(agent, program, "print one\\ntwö \u{1b}[1m; error oops; print  three; exit 1")
            .stdout("one\ntwö \u{1b}[1m three")
            .stderr("oops")
            .code(1);
    }
    Test::new()
        .config(DOCS)
        .agent("codex", "print {}\\n; error oops\\n")
        .args(["launch", "codex", "--server", "docs"])
        .stdout("{}\n")
        .stderr("squire: codex gets 1 of 1: docs\noops\n")
        .success();
}

#[test]
fn the_agent_is_called_by_its_plain_name() {
    for (agent, program) in AGENTS {
        let mut running = launch(agent, program, "wait-file <T>/go").start();
        let pid = running.until(|_| true)["pid"].clone();
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        let name = words.split(|byte| *byte == 0).next().unwrap();
        assert_eq!(String::from_utf8_lossy(name), **program, "{agent}");
        fs::write(running.path("go"), "").unwrap();
        running.success();
    }
}

/// What a run of the agent without squire would log.
fn bare(test: &Test, program: &str) -> Value {
    let launch = test.command();
    let mut bare = Command::new(test.path(&format!("bin/{program}")));
    bare.env_clear().current_dir(launch.get_current_dir().unwrap());
    bare.envs(launch.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(bare.stdin(Stdio::null()).status().unwrap().success());
    serde_json::from_slice(&fs::read(test.path("agent.json")).unwrap()).unwrap()
}

#[test]
fn directory_and_environment_are_those_of_the_launch() {
    for (agent, program) in AGENTS {
        let added: &[&str] = match *agent {
            "claude" => &["MCP_CONNECT_TIMEOUT_MS", "MCP_TIMEOUT", "SQUIRE_LAUNCH"],
            "opencode" => &["OPENCODE_CONFIG_CONTENT", "SQUIRE_LAUNCH"],
            _ => &["SQUIRE_LAUNCH"],
        };
        let test = launch(agent, program, "exit 0").write("project/a b/x", "").link("project", "link");
        let shown = test.path("link/a b");
        let test = test
            .directory("project/a b")
            .env("PWD", shown)
            .env("EMPTY", "")
            .env("LINES", "a\nb=c\n")
            .env("ODD.NAME-x", "é")
            .env("RAW", std::ffi::OsString::from_vec(b"\xff=\xfe".to_vec()))
            .env("XDG_CONFIG_HOME", "relative");
        let bare = bare(&test, program);
        let run = test.success();
        let agent_saw = run.agent();
        assert_eq!(agent_saw["cwd"], bare["cwd"]);
        let (mut found, expected) = (agent_saw["env"].clone(), &bare["env"]);
        for name in added {
            assert!(found.as_object_mut().unwrap().remove(*name).is_some(), "{agent}: {name}");
        }
        assert_eq!(found, *expected, "{agent}");
    }
}

#[test]
fn what_the_user_set_for_the_agent_stays() {
    let run =
        launch("claude", "claude", "").env("MCP_TIMEOUT", "1").env("MCP_CONNECT_TIMEOUT_MS", "2").success();
    assert_eq!(run.agent_variable("MCP_TIMEOUT").as_deref(), Some("1"));
    assert_eq!(run.agent_variable("MCP_CONNECT_TIMEOUT_MS").as_deref(), Some("2"));
}

#[test]
fn another_launchs_id_is_not_handed_on() {
    let run = Test::new()
        .config(DOCS)
        .agent("codex", "")
        .env("SQUIRE_LAUNCH", "0123456789abcdef0123456789abcdef")
        .args(["launch", "codex", "--quiet", "--server", "docs", "--", "--version"])
        .success();
    assert_eq!(run.agent_variable("SQUIRE_LAUNCH"), None);
}

#[test]
fn an_agent_that_is_not_executable_is_126() {
    for (agent, program) in AGENTS {
        let test = Test::new().config(DOCS).write(&format!("bin/{program}"), "#!/bin/sh\n");
        let run = test
            .args(["launch", agent, "--server", "docs"])
            .stderr(format!("squire: <T>/bin/{program} can't be executed\n"))
            .code(126);
        assert_eq!(run.state_left(), Vec::<String>::new());
        assert_eq!(run.files_below("project"), Vec::<String>::new());
    }
}

#[track_caller]
fn is_not_started(agent: &str, program: &str, text: &str, reason: &str) {
    let test = Test::new().config(DOCS).script(&format!("bin/{program}"), text);
    let run = test
        .args(["launch", agent, "--quiet", "--server", "docs"])
        .stderr(format!("squire: <T>/bin/{program} could not be started: {reason}\n"))
        .code(126);
    assert_eq!(run.state_left(), Vec::<String>::new());
    assert_eq!(run.files_below("project"), Vec::<String>::new());
}

#[test]
fn an_agent_that_the_kernel_cannot_start_is_126() {
    for (agent, program) in AGENTS {
        is_not_started(agent, program, "#!/nowhere/sh\n", "No such file or directory (os error 2)");
    }
}

#[test]
fn an_agent_that_is_no_program_is_126() {
    // Of what squire becomes, the C library has a shell try it.
    for (agent, program) in AGENTS.iter().filter(|(agent, _)| ["claude", "cursor"].contains(agent)) {
        for text in ["", "no program", "\u{7f}ELF"] {
            is_not_started(agent, program, text, "Exec format error (os error 8)");
        }
    }
}

#[test]
fn an_agent_that_is_nowhere_is_127() {
    for (agent, program) in AGENTS {
        let test = Test::new().config(DOCS);
        let bin = test.path("bin");
        let run = test
            .env("PATH", bin)
            .args(["launch", agent, "--server", "docs"])
            .stderr(format!("squire: {program} was not found on PATH\n"))
            .code(127);
        assert_eq!(run.state_left(), Vec::<String>::new());
        assert_eq!(run.files_below("project"), Vec::<String>::new());
    }
}

#[test]
fn usage_errors_of_launch_are_125() {
    for words in [
        &["launch"][..],
        &["launch", "nobody"],
        &["launch", "claude", "--bogus"],
        &["launch", "claude", "extra"],
        &["launch", "claude", "--server"],
        &["launch", "claude", "-p", "hi"],
        &["launch", "claude", "--server", "nope"],
        &["launch", "claude", "--profile", "nope"],
        &["launch", "claude", "--dry-run", "--server", "nope"],
    ] {
        let run =
            Test::new().config(DOCS).agent("claude", "").args(words.iter().copied()).any_stderr().code(125);
        assert!(!run.agent_was_started() && !run.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn usage_errors_of_others_are_2() {
    for words in [
        &[][..],
        &["nothing"],
        &["list", "--bogus"],
        &["list", "--profile", "nope"],
        &["describe", "nobody"],
        &["describe", "--profile", "x"],
        &["describe", "claude", "--profile", "nope"],
        &["gateway"],
        &["--bogus"],
    ] {
        let run = Test::new().config(DOCS).args(words.iter().copied()).any_stderr().code(2);
        assert!(!run.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn help_and_version_are_answers() {
    for words in [&["--help"][..], &["launch", "--help"], &["list", "-h"], &["--version"]] {
        let run = Test::new().args(words.iter().copied()).any_stdout().success();
        assert!(!run.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn b37_no_child_is_left_behind_a_squire_that_was_told_to_end() {
    let mut running = launch("cursor", "cursor-agent", "trap 1; sleep 200; exit 9")
        .write("project/.cursor/mcp.json", "{}\n")
        .start();
    running.until_signals(&[]);
    let watched = running.path("project/.cursor/mcp.json");
    eventually("our entry is there", || fs::read_to_string(&watched).unwrap().contains("docs"));
    running.send(Signal::TERM);
    // The agent takes its time to end: squire waits for it.
    let run = running.code(9);
    assert_eq!(fs::read_to_string(run.path("project/.cursor/mcp.json")).unwrap(), "{}\n");
}
