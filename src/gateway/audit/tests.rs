#![expect(clippy::disallowed_methods, reason = "a test looks at the files itself")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::time::Instant;

use serde_json::Value;
use squire_relay::Outcome;
use tempfile::TempDir;

use super::*;
use crate::config::{LayerKind, read};

fn state() -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o700)).unwrap();
    temp
}

fn open(state: &TempDir, kind: AuditKind) -> Audit {
    Audit::open(state.path(), Some("0123456789abcdef0123456789abcdef"), "claude", "docs", kind)
}

/// An audit whose files are turned from this length on.
fn turning(state: &TempDir, server: &str, largest_file: u64) -> Audit {
    let mut writer = Writer::new(state.path(), None, "claude", server, None);
    writer.largest_file = largest_file;
    let mut audit = open(state, AuditKind::Digest);
    audit.writer = Cell::new(Some(writer));
    audit
}

fn call(tool: &str, arguments: Option<Sealed>) -> Call {
    Call {
        tool: tool.into(),
        arguments,
        outcome: Outcome::Done,
        began: 7,
        ended: 19,
        asked: 120,
        answered: 3400,
    }
}

fn lines(state: &TempDir, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(state.path().join(DIRECTORY).join(file)).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_call_is_one_line_that_only_the_user_can_read() {
    let state = state();
    let audit = open(&state, AuditKind::Digest);
    audit.record(call("search", audit.seal()("{\"q\":1}")));
    drop(audit);
    let lines = lines(&state, FILES[0]);
    let line = lines[0].as_object().unwrap();
    let keys: Vec<&String> = line.keys().collect();
    let expected =
        ["time", "launch", "agent", "server", "tool", "outcome", "milliseconds", "asked", "answered"];
    assert_eq!(keys[..9], expected);
    assert_eq!(keys[9..], ["arguments_digest"]);
    let time = line["time"].as_str().unwrap();
    assert!(humantime::parse_rfc3339(time).is_ok() && time.len() == 24, "{time}");
    let told = ["launch", "agent", "server", "tool", "outcome"].map(|key| line[key].as_str().unwrap());
    assert_eq!(told, ["0123456789abcdef0123456789abcdef", "claude", "docs", "search", "done"]);
    assert_eq!(
        (&line["milliseconds"], &line["asked"], &line["answered"]),
        (&12.into(), &120.into(), &3400.into())
    );
    let directory = state.path().join(DIRECTORY);
    assert_eq!((mode(&directory), mode(&directory.join(FILES[0]))), (0o700, 0o600));
}

#[test]
fn a_digest_tells_the_same_from_another_and_nothing_else() {
    let state = state();
    let audit = open(&state, AuditKind::Digest);
    let long = format!("{{\"token\":\"hunter{}\"}}", "2".repeat(SHORT_ARGUMENTS));
    let [one, other] = ["{\"token\":\"hunter2\"}", "{\"token\":\"hunter3\"}"];
    for arguments in [one, other, &long, one] {
        audit.record(call("login", audit.seal()(arguments)));
    }
    drop(audit);
    let text = fs::read_to_string(state.path().join(DIRECTORY).join(FILES[0])).unwrap();
    assert!(!text.contains("hunter") && !text.contains("token"), "{text}");
    assert!(!text.contains("\"arguments\""), "{text}");
    let digests = |state: &TempDir| -> Vec<String> {
        lines(state, FILES[0]).iter().map(|line| line["arguments_digest"].as_str().unwrap().into()).collect()
    };
    let told = digests(&state);
    assert!(told.iter().all(|digest| digest.starts_with("hmac-sha256:") && digest.len() == 76), "{told:?}");
    assert!(told[0] != told[1] && told[0] != told[2] && told[0] == told[3], "{told:?}");
    // Another gateway of this user's makes the same, and that of another one not.
    let audit = open(&state, AuditKind::Digest);
    audit.record(call("login", audit.seal()(one)));
    drop(audit);
    assert_eq!(digests(&state)[4], told[0]);
    let another = self::state();
    let audit = open(&another, AuditKind::Digest);
    audit.record(call("login", audit.seal()(one)));
    drop(audit);
    assert_ne!(digests(&another)[0], told[0]);
}

#[test]
fn full_keeps_the_arguments_as_they_came_and_off_keeps_nothing() {
    let state = state();
    let audit = open(&state, AuditKind::Full);
    let arguments = "{\t\"n\": 12345678901234567890123, \"s\": \"\u{202e}\\n\" }";
    audit.record(call("a", audit.seal()(arguments)));
    audit.record(call("b", audit.seal()(&format!("\"{}\"", "x".repeat(LARGEST_ARGUMENTS)))));
    drop(audit);
    let text = fs::read_to_string(state.path().join(DIRECTORY).join(FILES[0])).unwrap();
    assert!(text.contains("{ \"n\": 12345678901234567890123, \"s\": \"\\u202e\\n\" }"), "{text}");
    assert!(lines(&state, FILES[0])[1]["arguments_digest"].is_string());

    let state = self::state();
    let audit = open(&state, AuditKind::Off);
    assert_eq!(audit.seal()("{}"), None);
    audit.record(call("a", None));
    audit.note(&Note::Sampling);
    drop(audit);
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
}

#[test]
fn a_declaration_says_how_much_is_kept() {
    let kind = |audit: &str| {
        let text = format!("[servers.a]\ncommand = \"a\"\n{audit}\n");
        let (declared, problems) = read(text.as_bytes(), "squire.toml".as_ref(), LayerKind::User);
        assert!(problems.is_empty(), "{problems:?}");
        AuditKind::of(declared.servers.first().map(AsRef::as_ref))
    };
    assert_eq!(kind("audit = \"off\""), AuditKind::Off);
    assert_eq!(kind("audit = \"full\""), AuditKind::Full);
    assert_eq!([kind("audit = \"digest\""), kind(""), AuditKind::of(None)], [AuditKind::Digest; 3]);
}

#[test]
fn what_a_server_calls_itself_is_escaped_and_bounded() {
    let state = state();
    let audit = open(&state, AuditKind::Digest);
    audit.record(call("a\n{\"forged\":1}\u{1b}[2J\u{202e}", None));
    audit.record(call(&"é".repeat(10_000), None));
    drop(audit);
    let text = fs::read_to_string(state.path().join(DIRECTORY).join(FILES[0])).unwrap();
    assert!(text.chars().all(|c| c == '\n' || !squire_strategies::is_deceptive(c)), "{text:?}");
    let lines = lines(&state, FILES[0]);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["tool"], "a\n{\"forged\":1}\u{1b}[2J\u{202e}");
    assert_eq!(lines[1]["tool"].as_str().unwrap().chars().count(), 256);
}

#[test]
fn events_are_written_too() {
    let state = state();
    let audit = open(&state, AuditKind::Digest);
    audit.note(&Note::Sampling);
    audit.note(&Note::Refused("a key comes twice".into()));
    audit.note(&Note::Unasked("7".into()));
    audit.note(&Note::Noise(b"Bearer hunter2".to_vec()));
    drop(audit);
    let lines = lines(&state, FILES[0]);
    let told: Vec<_> =
        lines.iter().map(|line| (line["event"].as_str().unwrap(), line["text"].as_str())).collect();
    assert_eq!(told, [("sampling", None), ("refused", Some("a key comes twice")), ("unasked", Some("7"))]);
    assert!(lines.iter().all(|line| line.get("tool").is_none()));
}

#[test]
fn files_are_turned_and_the_oldest_goes() {
    let state = state();
    for index in 0..40 {
        let audit = turning(&state, "docs", 600);
        audit.record(call(&format!("tool-{index}"), None));
        drop(audit);
    }
    let mut kept = Vec::new();
    for file in FILES.iter().rev() {
        let path = state.path().join(DIRECTORY).join(file);
        if path.exists() {
            assert_eq!(mode(&path), 0o600);
            assert!(fs::metadata(&path).unwrap().len() < 900);
        }
        kept.extend(lines(&state, file).iter().map(|line| line["tool"].as_str().unwrap().to_owned()));
    }
    // The newest are there without a gap, and in their order.
    let expected: Vec<String> = (40 - kept.len()..40).map(|index| format!("tool-{index}")).collect();
    assert_eq!(kept, expected);
    assert!((9..40).contains(&kept.len()), "{}", kept.len());
}

#[test]
fn the_lines_of_many_gateways_stay_whole() {
    let state = state();
    thread::scope(|scope| {
        for writer in 0..8 {
            let state = &state;
            scope.spawn(move || {
                let audit = turning(state, &format!("server-{writer}"), 256 * 1024);
                for index in 0..400 {
                    audit.record(call(&format!("{index}-{}", "x".repeat(index % 200)), None));
                    audit.hand_over();
                }
            });
        }
    });
    let all: Vec<Value> = FILES.iter().rev().flat_map(|file| lines(&state, file)).collect();
    assert_eq!(all.len(), 8 * 400);
    for writer in 0..8 {
        let server = format!("server-{writer}");
        let of_it: Vec<&Value> = all.iter().filter(|line| line["server"] == *server).collect();
        assert_eq!(of_it.len(), 400);
    }
    assert!(state.path().join(DIRECTORY).join(FILES[1]).exists());
}

#[test]
fn the_key_is_made_once_however_many_want_it() {
    let state = state();
    let digests = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| digests.lock().unwrap().push(Key::of(state.path()).unwrap().digest("{}")));
        }
    });
    let digests = digests.into_inner().unwrap();
    assert!(digests.iter().all(|digest| digest == &digests[0]), "{digests:?}");
    let key = state.path().join(KEY_FILE);
    assert_eq!((mode(&key), fs::read(&key).unwrap().len()), (0o600, 32));
}

/// One that others can read, or of another length, is neither used nor replaced; the calls are recorded all the same.
#[test]
fn a_key_that_can_not_be_used_costs_the_digests_alone() {
    for (bytes, mode) in [(vec![7; 32], 0o644), (vec![7; 31], 0o600), (vec![7; 33], 0o600)] {
        let state = state();
        let key = state.path().join(KEY_FILE);
        fs::write(&key, &bytes).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        let audit = open(&state, AuditKind::Digest);
        let long = "x".repeat(SHORT_ARGUMENTS + 1);
        assert_eq!(audit.seal()(&long), None);
        audit.record(call("a", audit.seal()("{}")));
        drop(audit);
        let lines = lines(&state, FILES[0]);
        assert_eq!((lines.len(), lines[0].get("arguments_digest")), (1, None));
        assert_eq!(fs::read(&key).unwrap(), bytes);
    }
}

/// Where the audit can't be written, nobody waits; where it can be again, it says what it lacks.
#[test]
fn a_disk_that_refuses_costs_lines_alone() {
    let state = state();
    let directory = state.path().join(DIRECTORY);
    fs::write(&directory, "in the way").unwrap();
    let audit = turning(&state, "docs", writer::LARGEST_FILE);
    let begin = Instant::now();
    for _ in 0..3 {
        audit.record(call("a", None));
        audit.hand_over();
    }
    assert!(begin.elapsed() < Duration::from_millis(500));
    let queue = audit.queue.get().unwrap().as_ref().unwrap();
    while queue.lost.load(Ordering::Relaxed) < 3 {
        thread::sleep(Duration::from_millis(1));
    }
    fs::remove_file(&directory).unwrap();
    audit.record(call("b", None));
    drop(audit);
    let lines = lines(&state, FILES[0]);
    assert_eq!(lines[1]["tool"], "b");
    assert_eq!(
        (&lines[0]["event"], &lines[0]["text"]),
        (&"lost".into(), &"3 lines could not be written".into())
    );
}

#[test]
fn half_a_line_spoils_no_other() {
    let state = state();
    open(&state, AuditKind::Digest).record(call("a", None));
    let path = state.path().join(DIRECTORY).join(FILES[0]);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], &whole[..20]].concat()).unwrap();
    open(&state, AuditKind::Digest).record(call("b", None));
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[2].contains("\"b\"") && serde_json::from_str::<Value>(lines[2]).is_ok());
}

/// What waits is bounded: a disk that hangs takes no memory without end.
#[test]
fn of_too_much_that_waits_the_arguments_go_first_and_then_the_lines() {
    let state = state();
    let (entries, never_read) = channel();
    let (_alive, ended) = channel();
    let (waiting, lost) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let queue = Queue { entries, waiting, lost, ended, writer: thread::current() };
    let mut audit = open(&state, AuditKind::Full);
    audit.queue = Some(queue).into();
    let arguments = format!("\"{}\"", "x".repeat(LARGEST_ARGUMENTS - 2));
    for _ in 0..20 {
        audit.record(call("a", audit.seal()(&arguments)));
        audit.hand_over();
    }
    let digest = audit.digests.of(&arguments);
    let kept: Vec<bool> = never_read
        .try_iter()
        .map(|entry: Entry| match entry.what {
            What::Call(Call { arguments: Some(Sealed::Text(text)), .. }) => text == arguments,
            What::Call(call) => {
                assert_eq!(call.arguments, digest);
                false
            }
            What::Event(..) => panic!("nothing happened"),
        })
        .collect();
    assert_eq!((kept.iter().filter(|kept| **kept).count(), kept.len()), (7, 20));
    let queue = audit.queue.get().unwrap().as_ref().unwrap();
    assert_eq!(queue.lost.load(Ordering::Relaxed), 0);
    for _ in 0..20_000 {
        audit.record(call(&"t".repeat(100), None));
        audit.hand_over();
    }
    let lost = queue.lost.load(Ordering::Relaxed);
    assert!((10_000..20_000).contains(&lost), "{lost}");
    assert!((LARGEST_QUEUE..=FULL_QUEUE).contains(&queue.waiting.load(Ordering::Relaxed)));
    // Nor does the end wait longer than it may.
    let begin = Instant::now();
    drop(audit);
    assert!((PATIENCE..2 * PATIENCE).contains(&begin.elapsed()));
}
