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

    /// What names it to a linker, and its copies, whatever the compiler adds to its name.
    pub(super) fn pattern(&self) -> String {
        match self.member() {
            // A processor uses one of several, and valgrind's is an old one.
            Some((archive, member)) if self.is_chosen() => {
                format!("*{archive}:{}-*(.text .text.*)", member.split('-').next().unwrap())
            }
            // All functions of a file of C are in one section.
            Some((archive, member)) if self.name == ".text" => {
                format!("*{}:{member}(.text)", lasting(archive))
            }
            None if self.name == ".text" => format!("*{}(.text)", self.file()),
            _ => format!("*({})", lasting(&self.name)),
        }
    }

    fn file(&self) -> &str {
        self.object.rsplit('/').next().unwrap()
    }

    /// The archive and the file in it.
    fn member(&self) -> Option<(&str, &str)> {
        self.file().strip_suffix(')')?.split_once('(')
    }

    /// Whether it is the C library's for some kind of processors, in a section by that name but for the oldest kind.
    fn is_chosen(&self) -> bool {
        let is_of_kind = |member: &str| self.name != ".text" || member.contains("-sse2");
        self.member().is_some_and(|(archive, member)| archive == "libc.a" && is_of_kind(member))
    }
}

/// A name with `*` for what another build would have in it: the hash of a library's file, the crates' in a symbol of v0
/// (`Cs`, letters and digits, `_`) and with them the distances of its references back (`B`, the same), at its end the crate
/// that happens to have made a generic function of the library, and the number that the linker puts behind a name.
fn lasting(name: &str) -> String {
    if let Some((library, _)) = name.strip_suffix(".rlib").and_then(|library| library.rsplit_once('-')) {
        return format!("{library}-*.rlib");
    }
    let unnumbered = name.trim_end_matches(|end: char| end.is_ascii_digit()).strip_suffix('.');
    let (mut rest, mut end) = unnumbered.map_or((name, ""), |name| (name, "*"));
    if !name.contains("._R") {
        return rest.to_owned() + end;
    }
    if let Some((path, krate)) = rest.rsplit_once("Cs")
        && let Some((_, named)) = krate.split_once('_')
        && let digits = named.bytes().take_while(u8::is_ascii_digit).count()
        && named[..digits].parse() == Ok(named.len() - digits)
    {
        (rest, end) = (path, "Cs*");
    }
    let mut lasting = String::new();
    while let Some(start) = rest.find("Cs").into_iter().chain(rest.find('B')).min() {
        let (before, found) = rest.split_at(start);
        let mark = if found.starts_with('B') { "B" } else { "Cs" };
        let behind = &found[mark.len()..];
        let length = behind.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let is_one = behind[length..].starts_with('_');
        lasting.extend([before, mark, if is_one { "*" } else { "" }]);
        rest = if is_one { &behind[length..] } else { behind };
    }
    lasting + rest + end
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
