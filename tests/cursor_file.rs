//! Cursor's `.cursor/mcp.json` of the project: merged for one launch, put back to the byte (cases B26, B27, B80).

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Run, Test, Watched};

const SERVERS: &str = "\
[servers.docs]
url = \"https://docs.example.com/mcp\"
[servers.db]
command = \"<server>\"
args = [\"stdio\"]
";
const FILE: &str = "project/.cursor/mcp.json";
/// Everything that re-serialising would lose (B26).
const ODD: &str = "\u{feff}{\r\n\t// ours: keep\r\n\t\"x-team\": {\"z\": 1, \"a\": 2, \"big\": 12345678901234567890, \"f\": 1.0, \"e\": 1E+2, \"u\": \"\\u00e9\\/\"},\r\n\t\"mcpServers\": {\r\n\t\t/* the team's */ \"own\": {\"command\": \"x\", \"args\": [\"a\",],}, // last\r\n\t},\r\n}\r\n\r\n";

fn launch(script: &str) -> Test {
    Test::new()
        .config(SERVERS)
        .agent("cursor-agent", script)
        .args(["launch", "cursor", "--quiet", "--server", "docs", "--server", "db"])
}

/// The project's file as the agent saw it.
#[track_caller]
fn seen(run: &Run) -> (Value, String) {
    let text = run.agent_file(".cursor/mcp.json")["content"].as_str().unwrap().to_owned();
    (parsed(&text), text)
}

#[track_caller]
fn parsed(text: &str) -> Value {
    squire_strategies::parse_jsonc(text.as_bytes()).unwrap()
}

#[track_caller]
fn assert_ours(run: &Run) {
    let (value, text) = seen(run);
    let servers = &value["mcpServers"];
    assert_eq!(servers["docs"], json!({"url": "https://docs.example.com/mcp"}), "{text}");
    assert_eq!(servers["db"]["args"].as_array().unwrap()[..2], ["gateway", "db"], "{text}");
    assert_eq!(servers["db"]["env"]["HOME"], "${env:HOME}", "{text}");
}

/// What is in the project apart from its `.git`.
fn left(run: &Run) -> Vec<String> {
    run.files_below("project")
}

#[test]
fn b26_b80_a_file_that_existed_comes_back_to_the_byte() {
    for (script, ending) in [
        ("exit 0", Some(0)),
        ("exit 3", Some(3)),
        ("signal TERM", None),
        ("signal KILL", None),
        ("signal SEGV", None),
    ] {
        for (text, mode) in [
            ("", 0o600),
            (" \n\t", 0o644),
            ("{}", 0o644),
            ("{\"mcpServers\":{}}", 0o666),
            ("{ \"other\": [1, 2] }\n", 0o640),
            ("// nothing but this\n", 0o644),
            (ODD, 0o644),
            ("{\n  \"mcpServers\": {\n    \"own\": {\n      \"command\": \"x\"\n    }\n  }\n}\n", 0o444),
            ("{\"mcpServers\":{\"docs\":{\"command\":\"own\",\"n\":1.0}, \"db\": 5}}", 0o755),
        ] {
            let test = launch(script).write(FILE, text).mode(FILE, mode);
            let run = match (ending, script) {
                (Some(code), _) => test.code(code),
                (None, "signal TERM") => test.signal(15),
                (None, "signal KILL") => test.signal(9),
                (None, _) => test.signal(11),
            };
            assert_ours(&run);
            assert_eq!(fs::read_to_string(run.path(FILE)).unwrap(), text, "{script}");
            assert_eq!(fs::metadata(run.path(FILE)).unwrap().mode() & 0o7777, mode, "{script} {text:?}");
            assert_eq!(run.agent_file(".cursor/mcp.json")["mode"], format!("{mode:04o}"));
            assert_eq!(left(&run), [".cursor/mcp.json"], "{script} {text:?}");
        }
    }
}

#[test]
fn b26_during_the_run_only_a_block_is_inserted() {
    let run = launch("").write(FILE, ODD).success();
    assert_ours(&run);
    let (value, text) = seen(&run);
    assert_eq!(value["mcpServers"]["own"], json!({"command": "x", "args": ["a"]}));
    for piece in [
        "\u{feff}{\r\n\t// ours: keep\r\n\t\"x-team\": {\"z\": 1, \"a\": 2, \"big\": 12345678901234567890, \"f\": 1.0, \"e\": 1E+2, \"u\": \"\\u00e9\\/\"},\r\n\t\"mcpServers\": {\r\n",
        "\t\t/* the team's */ \"own\": {\"command\": \"x\", \"args\": [\"a\",],}, // last\r\n",
    ] {
        assert!(text.contains(piece), "{text:?}");
    }
    assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
}

#[test]
fn b26_the_users_entry_of_the_same_name_gives_way_and_comes_back() {
    let text = "{\"mcpServers\": {\"docs\": {\"command\": \"own\"}, \"own\": {\"command\": \"x\"}}}";
    let run = launch("").write(FILE, text).success();
    assert_ours(&run);
    assert_eq!(seen(&run).0["mcpServers"]["own"]["command"], "x");
    assert_eq!(fs::read_to_string(run.path(FILE)).unwrap(), text);
}

/// JSON takes the last of two members of one name, and so does the agent: the launch is refused, or ours is there.
#[track_caller]
fn assert_ours_or_refused(text: &str) {
    let test = launch("").write(FILE, text);
    let output = test.command().output().unwrap();
    assert_eq!(fs::read_to_string(test.path(FILE)).unwrap(), text);
    if output.status.code() != Some(125) {
        let log: Value = serde_json::from_slice(&fs::read(test.path("agent.json")).unwrap()).unwrap();
        let given: Value = serde_json::from_str(log["files"][0]["content"].as_str().unwrap()).unwrap();
        assert_eq!(given["mcpServers"]["docs"]["url"], "https://docs.example.com/mcp", "{text}");
    }
}

#[test]
fn b26_b86_two_entries_of_one_name_do_not_hide_ours() {
    assert_ours_or_refused(
        "{\"mcpServers\": {\"docs\": {\"command\": \"first\"}, \"docs\": {\"command\": \"second\"}}}",
    );
}

#[test]
fn b26_b86_two_tables_of_servers_do_not_hide_ours() {
    assert_ours_or_refused("{\"mcpServers\": {}, \"mcpServers\": {\"own\": {}}}");
}

#[test]
fn b26_b86_a_name_written_with_escapes_does_not_hide_ours() {
    assert_ours_or_refused("{\"mcpServers\": {\"d\\u006fcs\": {\"command\": \"own\"}}}");
    assert_ours_or_refused("{\"mcpServ\\u0065rs\": {\"own\": {}}}");
}

#[test]
fn b80_what_was_absent_is_absent_again() {
    for (script, code) in [("exit 0", 0), ("exit 3", 3)] {
        let run = launch(script).code(code);
        assert_ours(&run);
        assert_eq!(run.agent_file(".cursor/mcp.json")["mode"], "0600");
        assert!(!run.path("project/.cursor").exists());
    }
    let run = launch("signal KILL").signal(9);
    assert_ours(&run);
    assert!(!run.path("project/.cursor").exists());
    // A directory of the user stays, with what is in it.
    let test =
        launch("").write("project/.cursor/rules/a.md", "a").write("project/.cursor/mcp.json.bak", "{}");
    let watched = Watched::new(
        ["project/.cursor/rules/a.md", "project/.cursor/mcp.json.bak"].map(|file| test.path(file)),
    );
    let run = test.success();
    assert_ours(&run);
    watched.assert_untouched();
    assert_eq!(left(&run), [".cursor/mcp.json.bak", ".cursor/rules/a.md"]);
    let test = launch("");
    fs::create_dir(test.path("project/.cursor")).unwrap();
    let run = test.success();
    assert!(run.path("project/.cursor").is_dir());
    assert_eq!(left(&run), Vec::<String>::new());
}

#[test]
fn b80_a_directory_of_ours_in_which_the_agent_wrote_stays() {
    let run = launch("write .cursor/notes mine").success();
    assert_eq!(left(&run), [".cursor/notes"]);
}

#[test]
fn b31_the_agent_can_read_it_under_any_umask() {
    for umask in ["000", "077", "0777"] {
        let run = launch("").behind(&format!("umask {umask}")).success();
        let file = run.agent_file(".cursor/mcp.json");
        assert_eq!(file["mode"], "0600", "umask {umask}");
        let mode = u32::from_str_radix(file["directory_mode"].as_str().unwrap(), 8).unwrap();
        assert_eq!(mode & 0o700, 0o700, "umask {umask}: {mode:o}");
        assert_eq!(mode & 0o022, 0, "umask {umask}: {mode:o}");
        assert!(!run.path("project/.cursor").exists());
    }
}

#[test]
fn b37_an_end_of_squire_by_a_signal_puts_it_back() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT, Signal::USR1] {
        let mut running = launch("wait-file never").write(FILE, ODD).start();
        running.until(|_| true);
        running.send(signal);
        let run = running.signal(signal.as_raw());
        assert_eq!(fs::read_to_string(run.path(FILE)).unwrap(), ODD);
        assert_eq!(left(&run), [".cursor/mcp.json"]);
    }
}

/// Whenever the signal comes: before the file is changed, while it is, before the agent is up, afterwards.
#[test]
fn b37_b80_a_signal_at_any_moment_leaves_nothing() {
    for step in 0..60_u64 {
        let test = launch("wait-file never").write(FILE, "{}\n").any_stderr();
        let mut child = test.command().stdin(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(step * 250));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, Signal::TERM).unwrap();
        child.wait().unwrap();
        let text = fs::read_to_string(test.path(FILE)).unwrap();
        assert_eq!(text, "{}\n", "a signal after {} µs", step * 250);
        let names: Vec<_> = fs::read_dir(test.path("project/.cursor")).unwrap().collect();
        assert_eq!(names.len(), 1, "a signal after {} µs: {names:?}", step * 250);
    }
}

#[test]
fn an_agent_that_is_not_found_touches_nothing() {
    let test = Test::new().config(SERVERS).write(FILE, ODD);
    let bin = test.path("bin");
    let watched = Watched::new([test.path(FILE), test.path("project/.cursor")]);
    let run = test
        .env("PATH", bin)
        .args(["launch", "cursor", "--server", "docs"])
        .stderr("squire: cursor-agent was not found on PATH\n")
        .code(127);
    watched.assert_untouched();
    assert_eq!(left(&run), [".cursor/mcp.json"]);
}

#[test]
fn an_agent_that_cannot_be_started_leaves_nothing() {
    for text in [None, Some("{}"), Some(ODD)] {
        let mut test = Test::new().config(SERVERS).script("bin/cursor-agent", "#!/nowhere/sh\n");
        if let Some(text) = text {
            test = test.write(FILE, text);
        }
        let run = test.args(["launch", "cursor", "--quiet", "--server", "docs"]).any_stderr().code(126);
        assert!(
            run.stderr.starts_with("squire: <T>/bin/cursor-agent could not be started: "),
            "{}",
            run.stderr
        );
        match text {
            Some(text) => assert_eq!(fs::read_to_string(run.path(FILE)).unwrap(), text),
            None => assert!(!run.path("project/.cursor").exists()),
        }
        assert_eq!(run.state_left(), Vec::<String>::new());
    }
}

/// Runs until the agent is up, does something to the project's file, and lets the agent end.
#[track_caller]
fn edited(original: Option<&str>, expect: &str, edit: impl Fn(&Path, &str)) -> Run {
    let mut test = launch("wait-file <T>/go; exit 5");
    if let Some(text) = original {
        test = test.write(FILE, text).mode(FILE, 0o640);
    }
    let test = if expect.is_empty() { test } else { test.any_stderr() };
    let mut running = test.start();
    running.until(|_| true);
    let path = running.path(FILE);
    edit(&path, &fs::read_to_string(&path).unwrap());
    fs::write(running.path("go"), "").unwrap();
    let run = running.code(5);
    assert!(run.stderr.starts_with(expect), "{}", run.stderr);
    run
}

fn save_by_rename(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o640)).unwrap();
    fs::rename(new, path).unwrap();
}

/// The edit, and to the byte nothing else, is another.
#[track_caller]
fn assert_edit_stays(original: &str) {
    let change = |text: &str| text.replace("\"command\": \"x\"", "\"command\": \"edited\"");
    for rename in [false, true] {
        let run = edited(Some(original), "", |path, text| {
            assert_ne!(change(text), text);
            if rename { save_by_rename(path, &change(text)) } else { fs::write(path, change(text)).unwrap() }
        });
        assert_eq!(fs::read_to_string(run.path(FILE)).unwrap(), change(original), "by rename: {rename}");
        assert_eq!(fs::metadata(run.path(FILE)).unwrap().mode() & 0o777, 0o640);
        assert_eq!(left(&run), [".cursor/mcp.json"]);
    }
}

#[test]
fn b80_an_edit_stays_and_ours_goes() {
    assert_edit_stays(ODD);
    assert_edit_stays(
        "{\n  // mine\n  \"mcpServers\": {\n    \"own\": {\n      \"command\": \"x\"\n    }\n  },\n  \"big\": 12345678901234567890\n}\n",
    );
}

#[test]
fn b80_an_edit_of_a_file_on_one_line_stays_on_one_line() {
    assert_edit_stays("{\"mcpServers\": {\"own\": {\"command\": \"x\"}}}");
}

#[test]
fn b80_a_server_that_was_added_meanwhile_stays() {
    for original in [None, Some(""), Some("{}"), Some("{\"mcpServers\": {}}"), Some(ODD)] {
        let run = edited(original, "", |path, text| {
            let text = text.replacen("\"docs\":", "\"new\": {\"command\": \"n\"}, \"docs\":", 1);
            save_by_rename(path, &text);
        });
        let found = parsed(&fs::read_to_string(run.path(FILE)).unwrap());
        let mut expected =
            original.map_or(json!({}), |text| if text.is_empty() { json!({}) } else { parsed(text) });
        expected["mcpServers"]["new"] = json!({"command": "n"});
        assert_eq!(found, expected, "{original:?}");
    }
}

#[test]
fn b80_what_was_written_anew_without_ours_stays_as_it_is() {
    for rename in [false, true] {
        let text = "{ \"mcpServers\": {\"new\": {\"command\": \"n\"}}, /* x */ }";
        for original in [None, Some(ODD)] {
            let run = edited(original, "", |path, _| {
                if rename { save_by_rename(path, text) } else { fs::write(path, text).unwrap() }
            });
            assert_eq!(fs::read_to_string(run.path(FILE)).unwrap(), text);
        }
    }
}

#[test]
fn b80_an_entry_of_ours_that_was_edited_stays() {
    let run = edited(Some("{}"), "", |path, text| {
        fs::write(path, text.replace("docs.example.com", "mine.example.com")).unwrap();
    });
    let found = parsed(&fs::read_to_string(run.path(FILE)).unwrap());
    assert_eq!(found, json!({"mcpServers": {"docs": {"url": "https://mine.example.com/mcp"}}}));
}

#[test]
fn b26_b80_the_users_entry_of_the_same_name_comes_back_as_it_was_written() {
    let entry = "{\"command\": \"own\", \"n\": 1.0, \"big\": 123456789012345678901234, \"u\": \"\\u00e9\" /* note */}";
    let original = format!(
        "{{\n  \"mcpServers\": {{\n    \"docs\": {entry},\n    \"own\": {{\"command\": \"x\"}}\n  }}\n}}\n"
    );
    let change = |text: &str| text.replace("\"command\": \"x\"", "\"command\": \"edited\"");
    let run = edited(Some(&original), "", |path, text| fs::write(path, change(text)).unwrap());
    assert_eq!(fs::read_to_string(run.path(FILE)).unwrap(), change(&original));
}

/// An agent that merely writes the file anew in its own style has put nothing into it.
#[test]
fn b80_a_file_of_ours_that_was_only_reformatted_is_gone() {
    let run = edited(None, "", |path, text| {
        let value: Value = serde_json::from_str(text).unwrap();
        save_by_rename(path, &value.to_string());
    });
    assert_eq!(
        left(&run),
        Vec::<String>::new(),
        "{}",
        fs::read_to_string(run.path(FILE)).unwrap_or_default()
    );
    assert!(!run.path("project/.cursor").exists());
}

#[test]
fn b80_what_the_agent_deleted_stays_deleted() {
    for original in [None, Some("{}"), Some(ODD)] {
        let run = edited(original, "", |path, _| fs::remove_file(path).unwrap());
        assert_eq!(left(&run), Vec::<String>::new());
        assert_eq!(run.path("project/.cursor").exists(), original.is_some());
    }
    let run = edited(Some("{}"), "", |path, _| fs::remove_dir_all(path.parent().unwrap()).unwrap());
    assert!(!run.path("project/.cursor").exists());
}

/// The file as it was before the launch, kept where it could not be put back.
const COPY: &str = "; as it was: <T>/home/.local/state/squire/merges/<private>.before";

#[test]
fn b26_what_the_agent_broke_is_left_alone_and_named() {
    for text in ["{ \"mcpServers\": ", "[", "\u{0}"] {
        let expect = "squire: <T>/project/.cursor/mcp.json: it is no JSON: ";
        let run = edited(Some(ODD), expect, |path, _| fs::write(path, text).unwrap());
        assert_eq!(fs::read_to_string(run.path(FILE)).unwrap(), text);
        assert!(
            run.stderr.ends_with(&format!("; entries of squire may be left in it{COPY}\n")),
            "{}",
            run.stderr
        );
        assert_eq!(run.stderr.lines().count(), 1);
        assert_eq!(left(&run), [".cursor/mcp.json"]);
    }
}

#[test]
fn b27_what_the_agent_made_a_link_is_left_alone_and_named() {
    let expect = format!(
        "squire: <T>/project/.cursor/mcp.json: mcp.json is a symbolic link, and squire follows none here; entries of squire may be left in it{COPY}\n"
    );
    let run = edited(Some(ODD), &expect, |path, text| {
        let other = path.with_file_name("other.json");
        fs::write(&other, text).unwrap();
        fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink("other.json", path).unwrap();
    });
    assert_eq!(run.stderr, expect);
    assert_eq!(fs::read_link(run.path(FILE)).unwrap(), Path::new("other.json"));
}

#[test]
fn b27_what_the_agent_made_a_hard_link_is_left_alone_and_named() {
    let expect = format!(
        "squire: <T>/project/.cursor/mcp.json: it has several hard links, and replacing it would part them; entries of squire may be left in it{COPY}\n"
    );
    let run =
        edited(Some("{}"), &expect, |path, _| fs::hard_link(path, path.with_extension("second")).unwrap());
    assert_eq!(run.stderr, expect);
    assert_eq!(left(&run), [".cursor/mcp.json", ".cursor/mcp.second"]);
}

#[test]
fn b26_a_change_of_the_mode_stays() {
    let run = edited(Some("{}"), "", |path, _| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    });
    assert_eq!(fs::metadata(run.path(FILE)).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(run.path(FILE)).unwrap(), "{}");
}

/// Nothing is started, nothing is touched, and the message names the file.
#[track_caller]
fn assert_refused(test: Test, watched: &[&str], reason: &str) {
    let (place, mend) = match reason.strip_prefix(':') {
        Some(_) => ("", "mend the file, or move it away"),
        None => (": ", "squire wants a regular file of yours there, in a project, or none yet"),
    };
    let sentence = format!("<T>/project/.cursor/mcp.json{place}{reason}");
    let expected = format!("{sentence}\n  help: {mend}\n");
    // What the launch refuses is known to whoever looks before.
    let look = |words: &[&str]| {
        test.clone().without_arguments().args(words.iter().copied()).stderr(format!("squire: {expected}"))
    };
    look(&["launch", "cursor", "--dry-run"]).unchanged().code(125);
    look(&["describe", "cursor"]).unchanged().code(1);
    let run = look(&["show", "docs", "--json"]).stderr("").any_stdout().unchanged().success();
    let shown = json!({ "agent": "cursor", "route": "refused", "reason": format!("{sentence}; {mend}") });
    assert_eq!(parsed(&run.stdout)["routes"][2], shown);
    let run = look(&["check"]).stderr("").any_stdout().unchanged().code(1);
    let (place, reason) = sentence.split_at(sentence.find(": ").unwrap());
    let finding = format!("{place}: error{reason} [unmergeable] (cursor)\n  help: {mend}\n");
    assert!(run.stdout.contains(&finding), "{} instead of {finding}", run.stdout);
    let mut paths: Vec<_> = watched.iter().map(|path| test.path(path)).collect();
    paths.push(test.path(FILE));
    paths.push(test.path("project/.cursor"));
    let watched = Watched::new(paths);
    let run = test.stderr(format!("squire: {expected}")).code(125);
    assert!(!run.agent_was_started());
    watched.assert_untouched();
    assert_eq!(run.state_left(), Vec::<String>::new());
}

const LINK: &str = "is a symbolic link, and squire follows none here";

#[test]
fn b27_a_link_is_refused_and_stays() {
    let test = launch("").write("dotfiles/mcp.json", "{}").link("../../dotfiles/mcp.json", FILE);
    assert_refused(test, &["dotfiles/mcp.json"], &format!("mcp.json {LINK}"));
    let test = launch("").link("../../dotfiles/absent.json", FILE);
    assert_refused(test, &["dotfiles/absent.json"], &format!("mcp.json {LINK}"));
    let test = launch("").link("/etc/passwd", FILE);
    assert_refused(test, &[], &format!("mcp.json {LINK}"));
    let test = launch("").write("elsewhere/mcp.json", "{}").link("../elsewhere", "project/.cursor");
    assert_refused(test, &["elsewhere/mcp.json", "elsewhere"], &format!(".cursor {LINK}"));
    let test = launch("").link("../absent", "project/.cursor");
    assert_refused(test, &["absent"], &format!(".cursor {LINK}"));
}

#[test]
fn b27_what_is_no_file_of_its_own_is_refused() {
    let test = launch("").write("project/.cursor", "a file");
    assert_refused(test, &[], ".cursor is no directory");
    let test = launch("").write("project/.cursor/mcp.json/x", "");
    assert_refused(test, &["project/.cursor/mcp.json/x"], "it is no regular file");
    let test = launch("").write(FILE, "{}");
    fs::hard_link(test.path(FILE), test.path("second")).unwrap();
    assert_refused(test, &["second"], "it has several hard links, and replacing it would part them");
    let test = launch("").write("project/.cursor/x", "");
    rustix::fs::mkfifoat(rustix::fs::CWD, test.path(FILE), 0o600.into()).unwrap();
    assert_refused(test, &[], "it is no regular file");
}

/// Only root can give a file away, so only root can try it.
#[test]
fn b27_what_belongs_to_somebody_else_is_refused() {
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let test = launch("").write(FILE, "{}");
        std::os::unix::fs::chown(test.path(FILE), Some(1), None).unwrap();
        assert_refused(test, &[], "it belongs to somebody else");
    }
}

#[test]
fn b26_what_cannot_be_edited_is_refused() {
    let large = format!("{{}}{}", " ".repeat(2 * 1024 * 1024));
    for (bytes, reason) in [
        (large.as_bytes(), "it is larger than 1024 KiB"),
        (b"{\"a\": \"\xff\"}", ":1:8: it is not UTF-8"),
        (b"{", ":1:1: it is no JSON: unterminated object"),
        (b"{} {}", ":1:4: it is no JSON: text cannot contain more than one json value"),
        (b"{'a': 1}", ":1:2: it is no JSON: single-quoted strings are not allowed"),
        (b"not json", ":1:1: it is no JSON: unexpected word"),
        ("{\n \"é\": 1 2}".as_bytes(), ":2:8: it is no JSON: expected comma"),
        (b"[]", ":1:1: its top level is no object"),
        (b"// note\n null", ":2:2: its top level is no object"),
        (b"{\"mcpServers\": []}", ":1:16: its `mcpServers` is no object"),
        (b"\xef\xbb\xbf{\"mcpServers\": null}", ":1:16: its `mcpServers` is no object"),
        (b"{\"mcpServers\": {},\n\"mcpServers\": {}}", ":2:1: it has `mcpServers` more than once"),
        (b"{\"mcpServers\": {\"docs\": 1, \"docs\": 2}}", ":1:28: it has `docs` more than once"),
    ] {
        assert_refused(launch("").write(FILE, bytes), &[], reason);
    }
}

#[test]
fn the_home_directory_is_refused() {
    let refusal = "squire: <T>/home/.cursor/mcp.json: the working directory is the home directory, whose .cursor/mcp.json is the agent's own\n  help: squire wants a regular file of yours there, in a project, or none yet\n";
    for file in [None, Some("{}")] {
        let mut test = launch("").directory("home");
        if let Some(text) = file {
            test = test.write("home/.cursor/mcp.json", text);
        }
        let watched = Watched::new([test.path("home/.cursor/mcp.json"), test.path("home/.cursor")]);
        let run = test.stderr(refusal).code(125);
        watched.assert_untouched();
        assert!(!run.agent_was_started());
    }
    let test = launch("").directory("home").link("home", "by-link");
    let home = test.path("by-link");
    let run = test.env("HOME", home).stderr(refusal).code(125);
    assert!(!run.agent_was_started());
}

/// A broken file matters where something would be merged, and nowhere else.
#[test]
fn a_broken_file_that_gets_nothing_refuses_nothing() {
    let test = Test::new()
        .config("[servers.squire]\ndisabled = true\n")
        .agent("cursor-agent", "exit 5")
        .write(FILE, "{");
    let told = "<T>/project/.cursor/mcp.json:1:1: error: the project's file is not used: it is no JSON: unterminated object [project-file]\n  help: mend it\n1 error\n";
    test.clone().args(["check"]).stdout(told).unchanged().code(1);
    test.clone().args(["describe", "cursor"]).any_stdout().unchanged().success();
    test.args(["launch", "cursor", "--quiet"]).unchanged().code(5);
}

#[test]
fn without_servers_the_file_is_not_touched() {
    let test = Test::new()
        .config("[servers.db]\ncommand = \"x\"\ndisabled = true\n")
        .agent("cursor-agent", "exit 5")
        .write(FILE, ODD)
        .args(["launch", "cursor", "--server", "db"]);
    let watched = Watched::new([test.path(FILE)]);
    let run = test.stderr("squire: cursor gets 0 of 1; left out: db (disabled in squire.toml)\n").code(5);
    watched.assert_untouched();
    assert_eq!(left(&run), [".cursor/mcp.json"]);
}
