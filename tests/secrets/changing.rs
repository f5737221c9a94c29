//! `squire secret set` and `remove`: from a terminal that shows nothing or from stdin, never from an argument.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::{FILE, RELATIVE};
use crate::support::{Place, Run, Session, Test};

const VALUE: &str = "S3CR3T_$HOME${x}\"\\";

fn set(words: &[&str]) -> Test {
    Test::new().args(["secret", "set"]).args(words.iter().copied())
}

#[track_caller]
fn written(run: &Run) -> String {
    let path = run.path(RELATIVE);
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
    assert_eq!(run.files_below("home/.config/squire"), ["secrets.toml"], "something is left beside it");
    fs::read_to_string(path).unwrap()
}

fn now(name: &str, source: &str) -> String {
    format!("squire: {name} is in {FILE} now ({source}); ${{secret:{name}}} stands for it in your servers\n")
}

#[test]
fn a_value_comes_from_stdin_without_its_line_end() {
    for (given, value) in [
        (format!("{VALUE}\n"), VALUE.to_owned()),
        (VALUE.to_owned(), VALUE.to_owned()),
        ("S3CR3T\nb\n\n".into(), "S3CR3T\nb\n".into()),
    ] {
        let run = set(&["api.k"]).stdin(given).stderr(now("api.k", "value")).success();
        let text = written(&run);
        assert!(text.starts_with("[secrets.api.k]\nvalue = "), "{text}");
        assert_eq!(read_back(&text), value);
    }
    for (given, told) in [
        (Vec::new(), "no value was given: it is empty"),
        (b"\n".to_vec(), "no value was given: it is empty"),
        (b"a\0".to_vec(), "no value was given: it holds a NUL character, which no program can be given"),
        (vec![0xff], "no value was given: it is not UTF-8"),
        (vec![b'x'; 70_000], "stdin holds more than 64 KiB, which is no secret"),
    ] {
        set(&["k"]).stdin(given).stderr(format!("squire: {told}\n")).unchanged().code(1);
    }
}

/// The value as a reader of TOML finds it.
fn read_back(text: &str) -> String {
    let document: toml_edit::DocumentMut = text.parse().unwrap();
    document["secrets"]["api"]["k"]["value"].as_str().unwrap().to_owned()
}

#[test]
fn a_source_is_named_instead() {
    let run = set(&["k", "--env", "FROM", "--server", "a", "--server", "b"])
        .env("FROM", "S3CR3T")
        .stderr(now("k", "env FROM"))
        .success();
    assert_eq!(written(&run), "[secrets.k]\nenv = \"FROM\"\nservers = [\"a\", \"b\"]\n");
    let told = format!("{}squire: k: the variable FROM is not set or empty\n", now("k", "env FROM"));
    set(&["k", "--env", "FROM"]).stderr(told).success();
    let run = set(&["k", "--file", "token"])
        .stderr(format!(
            "{}squire: k: there is no file <T>/project/token\n",
            now("k", "file <T>/project/token")
        ))
        .success();
    assert_eq!(written(&run), format!("[secrets.k]\nfile = \"{}\"\n", run.path("project/token").display()));
    let words = ["k", "--inherit-env", "OP", "--command", "--", "op", "read", "--x", "op://a b"];
    let run = set(&words).stderr(now("k", "command op read --x op://a b")).success();
    assert_eq!(
        written(&run),
        "[secrets.k]\ncommand = [\"op\", \"read\", \"--x\", \"op://a b\"]\ninherit_env = [\"OP\"]\n"
    );
}

/// B32: every user of the machine can read arguments, and a shell remembers them.
#[test]
fn b32_a_value_is_never_taken_from_an_argument() {
    let told = "squire: a value is never taken from the command line, which every user of this machine can read and \
                a shell remembers: leave it away, and type it when asked, or give it on stdin\n";
    set(&["k", VALUE]).stderr(told).unchanged().code(2);
    set(&["k", VALUE, "more"]).stderr(told).unchanged().code(2);
    for words in [&["k", "--env", "S3CR3T-x"][..], &["k", "--inherit-env", "a b", "--command", "--", "x"]] {
        let told = "squire: --env and --inherit-env want the name of an environment variable: letters, digits and `_`\n";
        set(words).stderr(told).unchanged().code(2);
    }
}

#[test]
fn words_that_can_not_be_meant() {
    let illegal =
        "this can't be the name of a secret: letters, digits, `-` and `_`, and a `.` between two parts";
    set(&["a b"]).stderr(format!("squire: {illegal}\n")).unchanged().code(2);
    set(&["k", "--server", "a b"])
        .stderr("squire: \"a b\" can't be the name of a server\n")
        .unchanged()
        .code(2);
    for words in [
        &["k", "--env", "A", "--file", "/f"][..],
        &["k", "--command"],
        &["k", "--inherit-env", "A"],
        &["k", "--", "op"],
        &[],
    ] {
        set(words).any_stderr().unchanged().code(2);
    }
}

#[test]
fn what_is_there_stays_unless_it_is_to_be_replaced() {
    let text =
        "# mine\n[secrets.k]\nenv = \"A\"   # old\nservers = [\"a\"]\n\n[secrets]\nother = \"S3CR3T\" # o\n";
    let test = Test::new().secrets(text);
    test.clone()
        .args(["secret", "set", "k"])
        .stdin("S3CR3T")
        .stderr(format!("squire: k is there already (env A, {FILE}:2); --replace gives it a new source\n"))
        .unchanged()
        .code(1);
    let run = test
        .args(["secret", "set", "--replace", "k", "--file", "~/t"])
        .stderr(format!("{}squire: k: there is no file <T>/home/t\n", now("k", "file ~/t")))
        .success();
    assert_eq!(
        written(&run),
        "# mine\n[secrets.k]\nservers = [\"a\"]\nfile = \"~/t\"\n\n[secrets]\nother = \"S3CR3T\" # o\n"
    );
}

#[test]
fn a_secret_is_taken_out() {
    let test = Test::new()
        .secrets("# mine\n\n# of k\n[secrets.k]\nenv = \"A\"\n\n[secrets.b]\nvalue = \"S3CR3T\"\n");
    test.clone()
        .args(["secret", "remove", "kk"])
        .stderr("squire: there is no secret \"kk\"; did you mean `k`?\n")
        .unchanged()
        .code(2);
    let run = test.args(["secret", "remove", "k"]).stderr(format!("squire: k is out of {FILE}\n")).success();
    assert_eq!(written(&run), "# mine\n\n[secrets.b]\nvalue = \"S3CR3T\"\n");
}

/// A link to where dotfiles are kept stays one; a file that others can read is not made worse or better in silence.
#[test]
fn the_file_keeps_its_place() {
    let test = Test::new().write("home/dotfiles/s.toml", "").mode("home/dotfiles/s.toml", 0o600);
    let test = test.mode("home/dotfiles", 0o700).link("../../dotfiles/s.toml", RELATIVE);
    let test = test.receiver("home/dotfiles/s.toml");
    let run = test.args(["secret", "set", "k"]).stdin("S3CR3T").any_stderr().success();
    assert!(fs::symlink_metadata(run.path(RELATIVE)).unwrap().is_symlink());
    assert_eq!(
        fs::read_to_string(run.path("home/dotfiles/s.toml")).unwrap(),
        "[secrets.k]\nvalue = \"S3CR3T\"\n"
    );
    assert_eq!(run.files_below("home/dotfiles"), ["s.toml"]);
    Test::new()
        .secrets("")
        .mode(RELATIVE, 0o604)
        .args(["secret", "set", "k"])
        .stdin("S3CR3T")
        .stderr(format!("squire: {FILE}: others can read or write it; chmod 600 {FILE}\n"))
        .unchanged()
        .code(1);
}

#[test]
fn b31_the_file_is_private_under_any_umask() {
    for umask in ["000", "077"] {
        let run = set(&["k"]).behind(&format!("umask {umask}")).stdin("S3CR3T").any_stderr().success();
        assert_eq!(written(&run), "[secrets.k]\nvalue = \"S3CR3T\"\n");
        assert_eq!(fs::metadata(run.path("home/.config/squire")).unwrap().mode() & 0o7777, 0o700);
    }
}

/// What widens what servers get is not for what an agent runs.
#[test]
fn inside_a_launch_nothing_is_changed() {
    let told = "squire: this is inside a launch of squire (SQUIRE_LAUNCH is set), where no secret is changed; run it in a terminal of your own\n";
    for words in [&["secret", "set", "x", "--env", "A"][..], &["secret", "remove", "k"]] {
        let test = Test::new().secrets("[secrets]\nk = \"S3CR3T\"\n").env("SQUIRE_LAUNCH", "0".repeat(32));
        test.args(words.iter().copied()).stderr(told).unchanged().code(1);
    }
}

/// A config directory in the project is a repository's: it could name any command.
#[test]
fn a_config_directory_of_the_project_is_refused() {
    for words in
        [&["secret", "set", "k"][..], &["secret", "check"], &["secret", "list"], &["secret", "remove", "k"]]
    {
        let test = Test::new()
            .write("project/c/secrets.toml", "[secrets.k]\ncommand = [\"touch\", \"/nonexistent/x\"]\n");
        let directory = test.path("project/c");
        let test = test.mode("project/c/secrets.toml", 0o600).env("SQUIRE_CONFIG_DIR", directory);
        let run = test.args(words.iter().copied()).any_stderr().unchanged().code(1);
        assert!(run.stderr.contains("<T>/project/c lies inside the project"), "{}", run.stderr);
    }
}

fn at_a_terminal() -> Session {
    let test = set(&["k"]);
    Session::start(test.clone(), test.command(), Place::Terminal)
}

#[test]
fn a_terminal_shows_nothing_of_what_is_typed() {
    let mut session = at_a_terminal();
    session.until_shown("value of k (not shown): ");
    session.press(b"S3CR3Y\x7fT_typed\n");
    let facts = session.finish().join("\n");
    assert!(facts.contains("{\"exited\":0,\"foreground\":true} cooked"), "{facts}");
    assert!(facts.contains("squire: k is in "), "{facts}");
    assert!(!facts.contains("S3CR3"), "{facts}");
}

/// A signal leaves the terminal as it was.
#[test]
fn a_signal_gives_the_terminal_its_echo_back() {
    for (keys, end) in [
        (&b"abc\x03"[..], "{\"killed\":2,\"foreground\":true} cooked"),
        (b"\x04", "{\"exited\":1,\"foreground\":true} cooked"),
        (b"\x1c", "{\"killed\":3,\"foreground\":true} cooked"),
    ] {
        let mut session = at_a_terminal();
        session.until_shown("value of k (not shown): ");
        session.press(keys);
        let facts = session.finish().join("\n");
        assert!(facts.contains(end), "{facts}");
        assert!(!facts.contains("abc"), "{facts}");
    }
    let mut session = at_a_terminal();
    session.until_shown("value of k (not shown): ");
    session.press(b"S3CR3T_before\x1a");
    session.stopped();
    session.order("foreground");
    session.until_shown("(not shown): squire: value of k (not shown): ");
    session.press(b"\x03");
    let facts = session.finish().join("\n");
    assert!(!facts.contains("S3CR3T"), "{facts}");
}
