//! `squire doctor` and `squire clean`: what is here, what was left, and how it goes.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Running, Test};

const FILE: &str = "project/.cursor/mcp.json";
const STATE: &str = "home/.local/state/squire";
const OWN: &str = "{\"mcpServers\": {\"own\": {\"command\": \"x\"}}}\n";

fn test() -> Test {
    Test::new().config("[servers.db]\ncommand = \"<server>\"\nargs = [\"stdio\"]\n").write(FILE, OWN)
}

fn launch(test: &Test) -> Running {
    let script = format!("wait-file {}", test.path("go").display());
    let launch = test.clone().agent("cursor-agent", &script).args(["launch", "cursor", "--quiet"]);
    let mut running = launch.env("FAKE_AGENT", script).start();
    running.until(|_| true);
    running
}

fn end(running: Running) {
    fs::write(running.path("go"), "").unwrap();
    running.success();
}

fn kill(running: Running) {
    running.send(Signal::KILL);
    fs::write(running.path("go"), "").unwrap();
    running.signal(9);
}

fn doctor(test: &Test, code: i32) -> Value {
    let run = test.clone().args(["doctor", "--json"]).any_stdout().any_stderr().code(code);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn the_agents_that_are_here_are_named_with_their_versions() {
    let test = test()
        .script("bin/claude", "#!/bin/sh\n[ \"$*\" = --version ] && [ \"$PWD\" = / ] && echo '2.1.197 (Claude Code)'\n")
        .script("bin/codex", "#!/bin/sh\nexit 3\n")
        .script("bin/opencode", "#!/bin/sh\necho hello\n")
        .script("bin/mine", "#!/bin/sh\ntouch <T>/started\n")
        .write(
            "home/.config/squire/squire.toml",
            "[agents.team]\nstrategy = \"claude\"\nprogram = [\"mine\"]\n[agents.gone]\nstrategy = \"codex\"\nprogram = [\"nowhere\"]\n",
        );
    let run = test
        .args(["doctor"])
        .stdout(
            "\
agent      claude    2.1.197  <T>/bin/claude
agent      codex     ?        <T>/bin/codex (its --version ended with exit status: 3)
agent      cursor    -        not found
agent      opencode  ?        <T>/bin/opencode (its --version says none)
agent      team               <T>/bin/mine
agent      gone      -        not found
directory  config             ~/.config/squire
directory  state              ~/.local/state/squire (not made yet)
error: agent gone: nowhere was not found on PATH
  help: install it, or change [agents.gone] program
1 finding
",
        )
        .code(1);
    assert!(!run.path("started").exists());
}

#[test]
fn a_healthy_machine_has_no_finding() {
    let told = doctor(&test(), 0);
    assert_eq!(told["findings"], json!([]));
    assert_eq!(told["launches"], json!([]));
    assert_eq!(told["files"], json!([]));
}

#[test]
fn a_broken_configuration_is_a_finding_and_the_rest_is_told() {
    let told = doctor(&test().config("servers = 1\n"), 1);
    assert_eq!(told["findings"][0]["code"], "configuration");
    assert_eq!(told["findings"][0]["help"], "squire check");
    assert_eq!(told["agents"].as_array().unwrap().len(), 4);
}

#[test]
fn directories_that_others_can_write_are_a_finding() {
    let told = doctor(&test().mode("home/.config/squire", 0o777), 1);
    assert_eq!(told["findings"][0]["code"], "directory-open");
}

#[test]
fn a_state_directory_that_nothing_can_be_written_into_is_a_finding() {
    let of = |test: Test| doctor(&test, 1)["findings"][0].clone();
    let test_with_file = test().write("file", "");
    let below_file = test_with_file.path("file/state");
    let at_a_file = of(test_with_file.env("SQUIRE_STATE_DIR", below_file));
    assert_eq!(at_a_file["code"], "state-unwritable");
    let sentence = "nothing can be written into the state directory <T>/file/state: Not a directory (os error 20); \
                    no launch stages anything, and no gateway records tools, keeps results or writes the audit";
    assert_eq!(at_a_file["sentence"], sentence);
    if !rustix::process::geteuid().is_root() {
        let read_only = of(test().mode("home/.local/state/squire", 0o500));
        assert_eq!(read_only["code"], "state-unwritable");
    }
}

/// Whatever lies in the place of one of its directories, what is kept there is not written in silence.
#[test]
fn a_directory_of_its_own_that_nothing_can_be_written_into_is_a_finding() {
    let finding = |test: Test| {
        let findings = doctor(&test, 1)["findings"].take();
        assert_eq!(findings.as_array().unwrap().len(), 1, "{findings}");
        assert_eq!(findings[0]["code"], "state-unwritable");
        findings[0]["sentence"].as_str().unwrap().to_owned()
    };
    let audit = format!("{STATE}/audit");
    let nothing = format!("nothing can be written into <T>/{audit}: <T>/{audit}");
    let open = |mode| test().write(&format!("{audit}/calls.jsonl"), "").mode(&audit, mode);
    assert_eq!(finding(test().write(&audit, "")), format!("{nothing} is no directory of its own"));
    assert_eq!(finding(open(0o777)), format!("{nothing} is not ours alone to write"));
    if !rustix::process::geteuid().is_root() {
        let refused = "Permission denied (os error 13)";
        assert_eq!(finding(open(0o500)), format!("nothing can be written into <T>/{audit}: {refused}"));
    }
    assert_eq!(doctor(&open(0o700), 0)["findings"], json!([]));
}

#[test]
fn records_that_can_not_be_used_are_findings() {
    let past = format!("{STATE}/past/0123456789abcdef0123456789abcdef.json");
    let told = doctor(
        &test()
            .write(&format!("{STATE}/audit.key"), "short")
            .mode(&format!("{STATE}/audit.key"), 0o600)
            .write(&format!("{STATE}/audit/calls.jsonl/in-the-way"), "")
            .write(&past, "{"),
        1,
    );
    let findings: Vec<[&str; 2]> = told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| ["code", "sentence"].map(|key| finding[key].as_str().unwrap()))
        .collect();
    let audit =
        |file: &str, reason: &str| format!("<T>/{STATE}/{file}: {reason}; the audit lacks what it is for");
    let (lines, key) = ("it is no regular file", "it is no key of 32 bytes");
    assert_eq!(
        findings,
        [
            ["audit-unusable", &audit("audit/calls.jsonl", lines)],
            ["audit-unusable", &audit("audit.key", key)],
            [
                "launch-unreadable",
                &format!(
                    "<T>/{STATE}/past/<private>.json: the record of a launch can't be read: EOF while parsing an object \
                     at line 1 column 1"
                )
            ],
        ]
    );
}

/// What squire did not make is not squire's to empty.
#[test]
fn clean_all_follows_no_link_out_of_the_state_directory() {
    for name in [
        "audit",
        "spill",
        "tools",
        "answers",
        "past",
        "enabled",
        "private",
        "launches",
        "deliveries",
        "approvals",
    ] {
        let test = test().write("mine/thesis.txt", "important");
        let mine = test.path("mine");
        let test = test.link(mine, &format!("{STATE}/{name}"));
        let told = test.clone().args(["clean", "--all"]).any_stdout().any_stderr().code(1);
        let sentence = format!("nothing was removed: <T>/{STATE}/{name} is no directory of squire's");
        assert!(told.stderr.contains(&sentence), "{}", told.stderr);
        assert_eq!(fs::read_to_string(test.path("mine/thesis.txt")).unwrap(), "important", "{name}");
    }
}

/// A state directory that lies elsewhere, behind a link.
#[test]
fn a_state_directory_behind_a_link_is_used_and_cleaned() {
    let test = test().write("elsewhere/.keep", "").mode("elsewhere", 0o700);
    let elsewhere = test.path("elsewhere");
    let test = test.link(elsewhere, STATE);
    test.clone().args(["call", "db", "echo", "text=hi"]).any_stdout().success();
    let lines = fs::read_to_string(test.path("elsewhere/audit/calls.jsonl")).unwrap();
    assert!(lines.contains("\"arguments_digest\":\"hmac-sha256:"), "{lines}");
    assert_eq!(doctor(&test, 0)["findings"], json!([]));
    let told = test.clone().args(["clean", "--all"]).any_stdout().success();
    assert!(told.stdout.contains("audit.key"), "{}", told.stdout);
    assert!(!test.path("elsewhere/audit").exists());
}

#[test]
fn b29_what_runs_and_what_was_put_back_is_told() {
    let test = test();
    let running = launch(&test);
    let told = doctor(&test, 0);
    let file = format!("<T>/{FILE}");
    assert_eq!(told["files"], json!([{ "file": file, "state": "in-use", "processes": [running.pid()] }]));
    assert_eq!(told["launches"][0]["agent"], "cursor");
    assert_eq!(told["launches"][0]["process"], running.pid());
    end(running);
    let told = doctor(&test, 0);
    assert_eq!(told["files"], json!([{ "file": file, "state": "put-back" }]));
    assert_eq!(told["launches"], json!([]));
}

/// The file no longer parses: it is left alone and named until it is right again.
#[test]
fn b29_what_could_not_be_put_right_is_a_finding_until_it_is() {
    let test = test();
    let running = launch(&test);
    let during = fs::read_to_string(test.path(FILE)).unwrap();
    kill(running);
    fs::write(test.path(FILE), &during[..during.len() - 3]).unwrap();
    let named = "squire: <T>/project/.cursor/mcp.json: it is no JSON: unterminated object on line 1 column 16; entries of squire may be left in it; as it was: <T>/home/.local/state/squire/merges/<private>.before\n";
    for command in ["list", "clean"] {
        // What of it is the project's own can't be told, either.
        let unread = "squire: <T>/project/.cursor/mcp.json: the project's file is not used: it is no JSON: unterminated object on line 1 column 16\n";
        let told = if command == "list" { [named, unread].concat() } else { named.to_owned() };
        let run = test.clone().args([command]).any_stdout().stderr(told);
        drop(run.code(i32::from(command == "clean")));
    }
    let told = doctor(&test, 1);
    assert_eq!(told["findings"][0]["code"], "unsettled");
    let refused = test.clone().args(["clean", "--all"]).stderr(format!(
        "{named}squire: nothing was removed: entries of squire may be left in <T>/{FILE}, and <T>/{STATE}/merges/<private>.json knows what it was before\n"
    ));
    refused.code(1);
    let copies = fs::read_dir(test.path(STATE).join("merges")).unwrap().map(|entry| entry.unwrap().path());
    let copy = copies.into_iter().find(|path| path.extension().is_some_and(|is| is == "before")).unwrap();
    assert_eq!(fs::read_to_string(&copy).unwrap(), OWN);
    fs::write(test.path(FILE), &during).unwrap();
    let told = "squire: <T>/project/.cursor/mcp.json: what a launch that was killed left is taken out\n";
    test.clone().args(["list"]).any_stdout().stderr(told).success();
    assert_eq!(fs::read_to_string(test.path(FILE)).unwrap(), OWN);
    assert!(!copy.exists());
}

#[test]
fn clean_forgets_and_clean_all_leaves_nothing_but_the_users_own() {
    let test = test();
    test.clone().args(["clean"]).stdout("nothing to clean\n").unchanged().success();
    end(launch(&test));
    test.clone()
        .args(["clean"])
        .stdout("forgot the launches that had entries in <T>/project/.cursor/mcp.json\n")
        .success();
    test.clone().args(["clean"]).stdout("nothing to clean\n").success();
    let gone = test.clone().args(["clean", "--all"]).stdout(
        "\
removed ~/.local/state/squire/launches
removed ~/.local/state/squire/past/<private>.json
removed ~/.local/state/squire/past
removed ~/.local/state/squire/merges
removed ~/.local/state/squire
your servers are in ~/.config/squire, which squire leaves to you
",
    );
    gone.success();
    assert!(!test.path(STATE).exists());
    assert!(test.path("home/.config/squire/squire.toml").exists());
}

/// What the gateways wrote: the calls, the key of their digests, results that are kept whole for a day.
#[test]
fn what_gateways_wrote_is_counted_settled_and_cleaned() {
    let test = test()
        .write(&format!("{STATE}/audit/calls.jsonl"), "")
        .write(&format!("{STATE}/audit.key"), [7; 32])
        .mode(&format!("{STATE}/audit.key"), 0o600)
        .write(&format!("{STATE}/spill/no-launch/old.json"), "[1,2]")
        .write(&format!("{STATE}/spill/no-launch/young.json"), "[1,2,3]");
    let test = ["", "/audit", "/spill", "/spill/no-launch"]
        .iter()
        .fold(test, |test, directory| test.mode(&format!("{STATE}{directory}"), 0o700));
    let old = test.path(STATE).join("spill/no-launch/old.json");
    let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 3600);
    fs::File::options().write(true).open(&old).unwrap().set_modified(yesterday).unwrap();
    assert_eq!(doctor(&test, 0)["spilled"], json!({ "count": 1, "bytes": 7 }));
    assert!(!old.exists());
    let run = test.clone().args(["doctor"]).any_stdout().success();
    assert!(run.stdout.contains("results    kept"), "{}", run.stdout);
    let removed = [
        "spill/no-launch/young.json",
        "spill/no-launch",
        "spill/lock",
        "spill",
        "audit/calls.jsonl",
        "audit",
        "audit.key",
    ];
    let run = test.clone().args(["clean", "--all"]).any_stdout().success();
    for path in removed {
        assert!(run.stdout.contains(&format!("removed ~/.local/state/squire/{path}\n")), "{}", run.stdout);
    }
    assert!(!test.path(STATE).exists());
}

#[test]
fn clean_all_is_refused_while_a_launch_runs() {
    let test = test();
    let running = launch(&test);
    let refused = format!("squire: nothing was removed: launches run, as the processes {}\n", running.pid());
    test.clone().args(["clean", "--all"]).stderr(refused).code(1);
    end(running);
    assert_eq!(fs::read_to_string(test.path(FILE)).unwrap(), OWN);
}

/// Approvals that approve nothing or that others can read, and those of projects that are gone.
#[test]
fn approvals_are_looked_at() {
    let test = test().write("project/squire.toml", "[servers.docs]\nurl = \"https://h.example.com/\"\n");
    let run = test.clone().args(["approve", "--digest", "0", "docs"]).any_stderr().code(1);
    let digest = run.stderr.split(" files is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    test.clone().args(["approve", "--digest", digest, "docs"]).any_stdout().success();
    assert_eq!(doctor(&test, 0)["approvals"], json!({ "count": 1, "gone": 0 }));

    let approvals = test.path(STATE).join("approvals");
    let file = fs::read_dir(&approvals).unwrap().next().unwrap().unwrap().path();
    fs::write(approvals.join("broken.json"), "{").unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let told = doctor(&test, 1);
    let codes: Vec<&Value> = told["findings"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert_eq!(codes, ["approval-unreadable", "approval-open"]);
    let sentence = told["findings"][0]["sentence"].as_str().unwrap();
    let expected =
        format!("<T>/{STATE}/approvals/broken.json: an approval that can't be read approves nothing: EOF");
    assert!(sentence.starts_with(&expected), "{sentence}");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let told = doctor(&test, 1);
    let sentences: Vec<&str> =
        told["findings"].as_array().unwrap().iter().map(|it| it["sentence"].as_str().unwrap()).collect();
    assert!(sentences.iter().any(|it| it.contains("it is not ours alone to write")), "{sentences:?}");

    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    fs::remove_file(approvals.join("broken.json")).unwrap();
    fs::rename(test.path("project"), test.path("moved")).unwrap();
    let run = test.clone().directory("home").args(["doctor"]).any_stdout().success();
    assert!(run.stdout.contains("1, 1 of a project that is gone\n"), "{}", run.stdout);
}

#[test]
fn a_secrets_file_that_others_can_read_is_a_finding() {
    let file = "home/.config/squire/secrets.toml";
    let told = doctor(&test().secrets("[secrets]\na = \"S3CR3T\"\n").mode(file, 0o640), 1);
    assert_eq!(told["findings"][0]["code"], "secrets-file");
    let sentence = told["findings"][0]["sentence"].as_str().unwrap();
    assert_eq!(sentence, format!("<T>/{file}: others can read or write it; chmod 600 <T>/{file}"));
    assert_eq!(doctor(&test().secrets("[secrets]\na = \"S3CR3T\"\n"), 0)["findings"], json!([]));
}
