//! What squire generates of its own definition: completions, the manual, the schema. `UPDATE_GENERATED=1 cargo test
//! generated` writes the files anew that are checked in; git shows what changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Test;

/// Each checked-in file, and the words that print it.
const FILES: &[(&str, &[&str])] = &[
    ("completions/squire.bash", &["completions", "bash"]),
    ("completions/_squire", &["completions", "zsh"]),
    ("completions/squire.fish", &["completions", "fish"]),
    ("completions/squire.elv", &["completions", "elvish"]),
    ("completions/_squire.ps1", &["completions", "powershell"]),
    ("docs/squire.schema.json", &["schema"]),
    ("docs/secrets.schema.json", &["schema", "secrets"]),
];

fn source(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// What is printed where there is neither a home nor a configuration that could be read.
#[track_caller]
fn printed(words: &[&str]) -> String {
    Test::new()
        .config("this is no TOML")
        .env("SQUIRE_CONFIG_DIR", "relative")
        .env_remove("HOME")
        .args(words.iter().copied())
        .any_stdout()
        .unchanged()
        .success()
        .stdout
}

fn visible_subcommands() -> Vec<clap::Command> {
    squire::cli::whole_without_help()
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set())
        .cloned()
        .collect()
}

/// Runs a program that may be missing here, as the ones that a release is for are not on every machine.
fn accepts(program: &str, arguments: &[&str], file: &Path) {
    match Command::new(program).args(arguments).arg(file).output() {
        Err(_) => not_installed(program),
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && told.is_empty(), "{program} {}: {told}", file.display());
        }
    }
}

#[expect(clippy::print_stderr, reason = "who runs the tests should know what was not tried")]
fn not_installed(program: &str) {
    eprintln!("{program} is not installed");
}

#[test]
fn generated_files_are_those_of_this_version() {
    let update = std::env::var_os("UPDATE_GENERATED").is_some();
    for (file, words) in FILES {
        let printed = printed(words);
        let path = source(file);
        if update {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &printed).unwrap();
        }
        assert!(
            fs::read_to_string(&path).is_ok_and(|checked_in| checked_in == printed),
            "{file} is not what `squire {}` prints; UPDATE_GENERATED=1 cargo test generated writes it anew",
            words.join(" ")
        );
    }
}

#[test]
fn generated_completions_are_accepted_by_their_shells() {
    for (shell, arguments) in [
        ("bash", &["--norc", "-n"][..]),
        ("zsh", &["-f", "-n"]),
        ("fish", &["--no-config", "--no-execute"]),
        ("elvish", &["-norc", "-compileonly"]),
    ] {
        let test = Test::new().write("script", printed(&["completions", shell]));
        accepts(shell, arguments, &test.path("script"));
    }
}

/// `squire l` and a tab.
#[test]
fn generated_completions_complete() {
    let test = Test::new().write("script", printed(&["completions", "bash"]));
    let press = "source \"$1\"; COMP_WORDS=(squire l); COMP_CWORD=1; _squire squire l squire; echo \"${COMPREPLY[@]}\"";
    match Command::new("bash").args(["--norc", "-c", press, "bash"]).arg(test.path("script")).output() {
        Err(_) => not_installed("bash"),
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout), "launch list log\n"),
    }
}

#[test]
fn generated_completions_offer_what_is_visible() {
    for (file, words) in FILES.iter().filter(|(_, words)| words[0] == "completions") {
        let script = printed(words);
        for subcommand in visible_subcommands() {
            assert!(script.contains(subcommand.get_name()), "{file} lacks {}", subcommand.get_name());
        }
        assert!(!script.contains("mcp-config"), "{file} offers the hidden subcommand");
    }
}

#[test]
fn generated_manual_has_a_page_for_each_subcommand() {
    let main = printed(&["man"]);
    check_page("squire", &main);
    for subcommand in visible_subcommands() {
        let name = subcommand.get_name();
        let page = printed(&["man", name]);
        check_page(&format!("squire-{name}"), &page);
        assert!(main.contains(&format!("squire\\-{name}(1)")), "the main page lacks {name}");
        let help = subcommand.get_after_help().unwrap().to_string();
        let examples: Vec<&str> = help.lines().filter(|line| line.starts_with("  ")).collect();
        assert!(!examples.is_empty(), "`squire {name} --help` has no example");
        let preformatted = preformatted(&page);
        assert_eq!(preformatted, examples, "{name}");
    }
    for name in ["list", "set", "remove", "check"] {
        check_page(&format!("squire-secret-{name}"), &printed(&["man", &format!("secret-{name}")]));
    }
    assert!(!main.contains("squire\\-inspect"), "the hidden subcommand is in the manual");
}

/// The list says it of a subcommand before its options are built, its own help afterwards.
#[test]
fn generated_help_says_of_a_subcommand_what_the_list_says() {
    let list = printed(&["--help"]);
    for subcommand in visible_subcommands() {
        let (name, about) = (subcommand.get_name(), subcommand.get_about().unwrap().to_string());
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        let first_words: Vec<&str> = line.split_whitespace().skip(1).take(3).collect();
        let of_list: Vec<&str> = about.split_whitespace().take(3).collect();
        assert_eq!(first_words, of_list, "{line}");
        for flag in ["-h", "--help"] {
            let help = printed(&[name, flag]);
            assert!(help.starts_with(&format!("{about}\n")), "{help}");
        }
    }
}

/// What `man` shows line by line, with the escapes of the generator taken back.
fn preformatted(page: &str) -> Vec<String> {
    let blocks = page.split(".EX\n").skip(1).map(|block| block.split(".EE\n").next().unwrap());
    let plain = |line: &str| {
        [("\\-", "-"), ("\\*(Aq", "'"), ("\\(ga", "`"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\\\", "\\")]
            .iter()
            .fold(line.to_owned(), |line, (escape, character)| line.replace(escape, character))
    };
    blocks.flat_map(str::lines).map(plain).collect()
}

fn check_page(title: &str, page: &str) {
    assert!(page.starts_with(".ie "), "{title}: {page}");
    let version = env!("CARGO_PKG_VERSION");
    let head = format!("\n.TH {title} 1 \"\" \"squire {version}\" \"squire manual\"\n");
    assert_eq!(page.matches(".TH ").count(), 1, "{title}");
    assert!(page.contains(&head), "{title}: {page}");
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
        assert_eq!(page.matches(&format!("\n.SH {section}\n")).count(), 1, "{title}: {section}");
    }
    assert!(page.is_ascii() && page.ends_with('\n'), "{title}");
    for line in page.lines().filter(|line| line.starts_with(['.', '\''])) {
        let known = ["ie", "el", "TH", "SH", "TP", "PP", "IP", "RS", "RE", "EX", "EE", "br"];
        let request = line[1..].split(' ').next().unwrap();
        assert!(known.contains(&request), "{title}: {line:?} was to be text");
    }
    let test = Test::new().write("page.1", page);
    accepts("groff", &["-man", "-Tutf8", "-ww", "-z"], &test.path("page.1"));
    accepts("mandoc", &["-man", "-Tlint", "-Werror"], &test.path("page.1"));
}

#[test]
fn generated_manual_knows_its_subcommands() {
    let unknown = |name: &str, help: &str| {
        let told = format!("squire: there is no subcommand \"{name}\"; {help}\n");
        Test::new().args(["man", name]).stderr(told).unchanged().code(2);
    };
    unknown("lunch", "did you mean `launch`?");
    let names: Vec<String> =
        visible_subcommands().iter().map(|subcommand| subcommand.get_name().to_owned()).collect();
    unknown("inspect", &format!("there are: {}", names.join(", ")));
}

#[test]
fn generated_schema_of_squire_toml_has_a_name_too() {
    assert_eq!(printed(&["schema", "squire"]), printed(&["schema"]));
    let run = Test::new().args(["schema", "policy"]).any_stderr().unchanged().code(2);
    assert!(run.stderr.contains("[possible values: squire, secrets]"), "{}", run.stderr);
}

#[test]
fn an_unknown_shell_is_a_wrong_command_line() {
    let run = Test::new().args(["completions", "tcsh"]).any_stderr().unchanged().code(2);
    assert!(run.stderr.contains("bash, elvish, fish, powershell, zsh"), "{}", run.stderr);
}
