//! The program as the linker made it: which section lies where.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Of a release.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// A function, as a rule; of the C library, those of one of its files.
pub(super) struct Section {
    start: u64,
    pub(super) size: u64,
    /// `ARCHIVE(MEMBER)`, or a file of its own.
    object: String,
    name: String,
}

impl Section {
    pub(super) fn addresses(&self) -> Range<u64> {
        self.start..self.start + self.size
    }

    /// Where it is from and what it is called.
    pub(super) fn name(&self) -> (&str, &str) {
        (&self.object, &self.name)
    }

    /// What names it to a linker, whatever the compiler adds to its name: it may name others, too.
    pub(super) fn pattern(&self) -> String {
        match self.member() {
            // A processor uses one of several, and valgrind's is an old one.
            Some((archive, member)) if self.is_chosen() => {
                format!("*{archive}:{}-*(.text.*)", member.split('-').next().unwrap())
            }
            // All functions of a file of C are in one section.
            Some((archive, member)) if self.name == ".text" => {
                format!("*{}:{member}(.text)", lasting(archive))
            }
            None if self.name == ".text" => format!("*{}(.text)", self.file()),
            _ => format!("*({})", lasting(&self.name)),
        }
    }

    /// What names it alone, while the compiler and all libraries stay as they are.
    pub(super) fn exact_pattern(&self) -> String {
        if self.is_chosen() || self.name == ".text" { self.pattern() } else { format!("*({})", self.name) }
    }

    fn file(&self) -> &str {
        self.object.rsplit('/').next().unwrap()
    }

    /// The archive and the file in it.
    fn member(&self) -> Option<(&str, &str)> {
        self.file().strip_suffix(')')?.split_once('(')
    }

    /// Whether it is the C library's for some kind of processors, in a section by that name.
    fn is_chosen(&self) -> bool {
        self.name != ".text" && self.member().is_some_and(|(archive, _)| archive == "libc.a")
    }
}

/// A name with `*` for each hash in it: of a symbol's end (`17h` and 16 digits), of the crates in a newer kind of symbol
/// (`Cs`, letters and digits, `_`), and of a library's file. So, too, for the number that the linker puts behind a name.
fn lasting(name: &str) -> String {
    if let Some((library, _)) = name.strip_suffix(".rlib").and_then(|library| library.rsplit_once('-')) {
        return format!("{library}-*.rlib");
    }
    if let Some((before, _)) = name.rsplit_once("17h") {
        return format!("{before}17h*");
    }
    let unnumbered = name.trim_end_matches(|end: char| end.is_ascii_digit()).strip_suffix('.');
    let (name, end) = unnumbered.map_or((name, ""), |name| (name, "*"));
    if !name.contains("._R") {
        return name.to_owned() + end;
    }
    let without_hash = |name: &str| format!("Cs*{}", name.get(name.find('_').unwrap_or(0)..).unwrap());
    let (first, crates) = name.split_once("Cs").unwrap_or((name, ""));
    let crates = crates.split("Cs").filter(|name| !name.is_empty()).map(without_hash);
    first.to_owned() + &crates.collect::<String>() + end
}

/// Links squire as a release is linked; gives it and its sections of code.
pub(super) fn program(root: &Path) -> (PathBuf, Vec<Section>) {
    // This program lies in `debug` or `release` of it.
    let target = Path::new(super::programs::SQUIRE).ancestors().nth(2).unwrap();
    let target = target.parent().filter(|_| target.ends_with(TRIPLE)).unwrap_or(target);
    let map = root.join("map");
    let mut build = Command::new(env!("CARGO"));
    build.args(["rustc", "--quiet", "--release", "--config", ".cargo/static.toml", "--bin", "squire"]);
    build.arg("--target-dir").arg(target).arg("--");
    build.args(["-C", &format!("link-arg=-Wl,-Map={}", map.display())]);
    let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap();
    assert!(status.success(), "squire could not be linked");
    let map = fs::read_to_string(map).unwrap();
    let sections: Vec<Section> = map.lines().filter_map(section).collect();
    assert!(sections.len() > 1000, "the linker's map is of another kind than lld's");
    (target.join(TRIPLE).join("release/squire"), sections)
}

/// A line of the map: address, the same of the load, size and alignment, and what lies there with its file.
fn section(line: &str) -> Option<Section> {
    let mut fields = line.split_whitespace();
    let number = |field: Option<&str>| u64::from_str_radix(field?, 16).ok();
    let (start, _, size, _) =
        (number(fields.next())?, fields.next()?, number(fields.next())?, fields.next()?);
    let (object, name) = fields.next()?.rsplit_once(":(")?;
    let name = name.strip_suffix(')')?;
    (name == ".text" || name.starts_with(".text.")).then(|| Section {
        start,
        size,
        object: object.into(),
        name: name.into(),
    })
}
