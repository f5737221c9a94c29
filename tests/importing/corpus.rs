//! Files as people have them: each directory of `tests/imports/` is a home and a project, the `words` of an import, the
//! `squire.toml` and `secrets.toml` that a person wrote for it, and what is `said`. `UPDATE_GOLDEN=1 cargo test corpus`
//! writes what is said anew, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use squire::config::import::FORMATS;

use super::{FILE, SECRETS, written};
use crate::support::{Test, holds_canary};

fn cases() -> Vec<(String, PathBuf)> {
    let imports = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/imports");
    let entries = fs::read_dir(imports).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<(String, PathBuf)> =
        entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path)).collect();
    cases.sort();
    cases
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![directory.to_path_buf()]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files
}

/// A case where it can be run, and its files there.
fn placed(directory: &Path) -> (Test, BTreeMap<String, Vec<u8>>) {
    let (mut test, mut files) = (Test::new(), BTreeMap::new());
    let root = test.root().to_str().unwrap().to_owned();
    for part in ["home", "project"] {
        for file in files_below(&directory.join(part)) {
            let relative = file.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&file).unwrap().replace("<T>", &root);
            test = test.write(&relative, &text);
            files.insert(relative, text.into_bytes());
        }
    }
    let words = fs::read_to_string(directory.join("words")).unwrap();
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    (test.args(["import"]).args(words), files)
}

/// B15 B16 B17 B19 B21 B23 B25 B32 B61 B70: every file comes to what a person made of it, and stays as it is itself.
#[test]
fn b15_b16_b17_b19_b21_b23_b25_b32_b61_b70_corpus() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for (name, directory) in cases() {
        let (test, files) = placed(&directory);
        let run = test.clone().any_stderr().success();
        let root = test.root().to_str().unwrap().to_owned();
        for (file, relative) in [("squire.toml", FILE), ("secrets.toml", SECRETS)] {
            let expected = fs::read_to_string(directory.join(file)).ok();
            let found = written(&run, relative).map(|text| text.replace(&root, "<T>"));
            if found != expected {
                wrong.push(format!("{name}: {file}: {found:?}\ninstead of {expected:?}"));
            }
        }
        let said = directory.join("said");
        if update {
            fs::write(&said, &run.stderr).unwrap();
        }
        if !fs::read_to_string(&said).is_ok_and(|said| said == run.stderr) {
            wrong.push(format!("{name}: said:\n{}", run.stderr));
        }
        for (relative, bytes) in files {
            if fs::read(test.path(&relative)).unwrap() != bytes {
                wrong.push(format!("{name}: {relative} was changed"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A second import finds all of it there, and changes nothing.
#[test]
fn b07_corpus_again() {
    for (name, directory) in cases() {
        let (test, _) = placed(&directory);
        let first = test.clone().any_stderr().success();
        let there = [FILE, SECRETS].map(|file| written(&first, file));
        let again = test.clone().any_stderr().success();
        assert_eq!([FILE, SECRETS].map(|file| written(&again, file)), there, "{name}");
        let count = there[0].as_ref().unwrap().matches("[servers.").count();
        assert_eq!(
            again.stderr.matches("is there already, the same").count(),
            count,
            "{name}: {}",
            again.stderr
        );
    }
}

/// Nothing is written by a look, and no value is in what it shows; the difference is what is written then.
#[test]
fn b32_corpus_looked_at() {
    for (name, directory) in cases() {
        let (test, _) = placed(&directory);
        for format in [&["--dry-run"][..], &["--dry-run", "--json"]] {
            let run = test.clone().args(format.iter().copied()).any_stdout().unchanged().success();
            assert!(!holds_canary(run.stdout.as_bytes()), "{name}: {}", run.stdout);
            assert!(run.stdout.contains("[servers."), "{name}: {}", run.stdout);
        }
    }
}

#[test]
fn the_corpus_has_files_of_every_format() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    for format in FORMATS {
        let of_format = |(name, _): &&(String, PathBuf)| name.starts_with(&format!("{}-", format.name));
        assert!(cases.iter().filter(of_format).count() >= 4, "{}", format.name);
    }
}
