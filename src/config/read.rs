//! Reads a `squire.toml`: bytes in, declarations and problems out. Pure.

use std::collections::BTreeMap;
use std::path::Path;

use squire_strategies::Name;
use toml::de::DeTable;

use super::fields::{self, PROFILE, ProfileField, SECTIONS, Section};
use super::problem::{Lines, Place, Problem, nearest};
use super::read_server::read_server;
use super::schema::{Declarations, LayerKind, Located, Profile};
use super::table::{Entry, Reader};

/// Reads the bytes of a file. Declarations are complete only where there are no problems; all problems are told.
pub fn read(bytes: &[u8], path: &Path, kind: LayerKind) -> (Declarations, Vec<Problem>) {
    let text = match decode(bytes) {
        Ok(text) => text,
        Err((place, message)) => {
            let problem = Problem { path: path.to_path_buf(), place, message, help: None };
            return (Declarations::default(), vec![problem]);
        }
    };
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader::new(text, path);
    for error in &errors {
        let place = reader.place(error.span().map_or(0, |span| span.start));
        reader.problem(place, error.message(), None);
    }
    let mut declarations = Declarations::default();
    if errors.is_empty() {
        for section in reader.entries(document.get_ref()) {
            read_section(&mut reader, section, kind, &mut declarations);
        }
        check_names(&mut reader, &declarations);
        check_profiles(&mut reader, &declarations);
    }
    reader.problems.sort_by_key(|problem| problem.place);
    (declarations, reader.problems)
}

fn decode(bytes: &[u8]) -> Result<&str, (Place, String)> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err((Place { line: 1, column: 1 }, "this is UTF-16; squire reads UTF-8".into()));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let place = Lines::of(&before).place(before.len());
        (place, "this byte is not UTF-8".into())
    })
}

fn read_section<'a>(reader: &mut Reader<'a>, section: Entry<'a>, kind: LayerKind, into: &mut Declarations) {
    let Some(known) = fields::find(SECTIONS, section.key) else {
        return reader.unknown_key(section, "squire.toml", &fields::keys(SECTIONS));
    };
    match (known.id, kind) {
        (Section::Servers, _) => {
            for server in reader.table(section, "a table of servers, as in [servers.NAME]") {
                read_server(reader, server, kind, into);
            }
        }
        (Section::Profiles, _) => {
            for profile in reader.table(section, "a table of profiles, as in [profiles.NAME]") {
                into.profiles.push(read_profile(reader, profile));
            }
        }
        (Section::Refused, LayerKind::User) => reader.problem(
            section.place,
            format!("[{}] is not supported by this version of squire", section.key),
            Some("take it out: a setting that is not enforced must not look as if it were".into()),
        ),
        (Section::Refused, LayerKind::Project) => reader.problem(
            section.place,
            format!("a project declares servers and profiles, and no [{}]", section.key),
            None,
        ),
    }
}

fn read_profile<'a>(reader: &mut Reader<'a>, entry: Entry<'a>) -> Profile {
    let mut profile = Profile {
        name: entry.key.to_owned(),
        place: entry.place,
        extends: Vec::new(),
        servers: Vec::new(),
        narrows: Vec::new(),
    };
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if entry.key.is_empty() || entry.key.starts_with('-') || !entry.key.chars().all(legal) {
        let message = format!("the profile name {:?} wants letters, digits, `-` and `_`", entry.key);
        reader.problem(entry.place, message, None);
    }
    for field in reader.table(entry, "a table of the profile's fields") {
        let Some(known) = fields::find(PROFILE, field.key) else {
            let within = format!("[profiles.{}]", entry.key.escape_debug());
            reader.unknown_key(field, &within, &fields::keys(PROFILE));
            continue;
        };
        match known.id {
            ProfileField::Extends => {
                profile.extends = reader.strings(field, "an array of profile names").unwrap_or_default();
            }
            ProfileField::Servers => {
                profile.servers = reader.strings(field, "an array of server names").unwrap_or_default();
            }
            ProfileField::Tools => {
                let filters = reader.table(field, "a table of filters, as in tools.NAME = { deny = [] }");
                profile.narrows.extend(
                    filters.iter().map(|entry| Located { value: entry.key.to_owned(), place: entry.place }),
                );
            }
            ProfileField::Refused => reader.problem(
                field.place,
                format!("`{}` is not supported by this version of squire", field.key),
                Some("take it out: a setting that is not enforced must not look as if it were".into()),
            ),
        }
    }
    profile
}

/// Two names of one layer that an agent would take for one (case B07).
fn check_names(reader: &mut Reader<'_>, declarations: &Declarations) {
    let mut first = BTreeMap::new();
    for later in &declarations.servers {
        let earlier = *first.entry(later.name.folded()).or_insert(later);
        if !std::ptr::eq(earlier, later) {
            let message = format!(
                "`{}` and `{}` (line {}) are one name to some agents, which fold case and take `-` for `_`",
                later.name, earlier.name, earlier.place.line
            );
            reader.problem(later.place, message, Some("rename one of them".into()));
        }
    }
}

fn check_profiles(reader: &mut Reader<'_>, declarations: &Declarations) {
    let profiles: Vec<&str> = declarations.profiles.iter().map(|profile| profile.name.as_str()).collect();
    let mut servers: Vec<&str> = declarations.servers.iter().map(|server| server.name.as_str()).collect();
    servers.push(Name::SQUIRE);
    for profile in &declarations.profiles {
        let mut check = |names: &[Located<String>], known: &[&str], what: &str| {
            for name in names.iter().filter(|name| !known.contains(&name.value.as_str())) {
                let help =
                    nearest(&name.value, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                reader.problem(name.place, format!("there is no {what} {:?} in this file", name.value), help);
            }
        };
        check(&profile.extends, &profiles, "profile");
        check(&profile.servers, &servers, "server");
        check(&profile.narrows, &servers, "server");
        if extends_itself(declarations, profile) {
            let message = format!("the profile `{}` extends itself", profile.name);
            reader.problem(profile.place, message, None);
        }
    }
}

fn extends_itself(declarations: &Declarations, profile: &Profile) -> bool {
    let mut open: Vec<&str> = profile.extends.iter().map(|name| name.value.as_str()).collect();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(name) = open.pop() {
        if name == profile.name {
            return true;
        }
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let found = declarations.profiles.iter().find(|profile| profile.name == name);
        open.extend(found.into_iter().flat_map(|profile| &profile.extends).map(|name| name.value.as_str()));
    }
    false
}

#[cfg(test)]
mod tests {
    use squire_strategies::{Route, Text};

    use super::*;
    use crate::config::Kind;
    use crate::config::json_schema::tests::assert_valid;
    use proptest::prelude::*;
    use std::time::Duration;

    fn accepted(text: &str) -> Declarations {
        let (declarations, problems) = read(text.as_bytes(), Path::new("F"), LayerKind::User);
        assert!(problems.is_empty(), "{problems:?}");
        assert_valid(text);
        declarations
    }

    fn told(text: &str, kind: LayerKind) -> Vec<String> {
        read(text.as_bytes(), Path::new("F"), kind).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_field_of_a_server() {
        let declarations = accepted(
            "[servers.a]\ncommand = ['x', 'y z']\nargs = ['${env:A:-b}']\nenv = { N = '$${' }\n\
             inherit_env = ['P']\ncwd = '~/x'\ntimeout = '2m'\nstartup_timeout = '90s'\ndescription = 'd'\n\
             disabled = true\nroute = 'gateway'\ntransport = 'stdio'\n",
        );
        let server = &declarations.servers[0];
        let texts = |located: &Option<Located<Vec<Text>>>| -> Vec<String> {
            located.iter().flat_map(|located| &located.value).map(ToString::to_string).collect()
        };
        assert_eq!(texts(&server.command), ["x", "y z"]);
        assert_eq!(texts(&server.args), ["${env:A:-b}"]);
        assert_eq!(server.env.as_ref().unwrap().value[0].1.literal(), Some("${"));
        assert_eq!(server.inherit_env.as_ref().unwrap().value, ["P"]);
        assert_eq!(server.cwd.as_ref().unwrap().value.to_string(), "~/x");
        assert_eq!(server.timeout.as_ref().unwrap().value, Duration::from_secs(120));
        assert_eq!(server.startup_timeout.as_ref().unwrap().value, Duration::from_secs(90));
        assert_eq!(server.description.as_ref().unwrap().value, "d");
        assert!(server.disabled.as_ref().unwrap().value);
        assert_eq!(server.route.as_ref().unwrap().value, Route::Gateway);
        assert_eq!(server.transport.as_ref().unwrap().value, Kind::Stdio);
        assert_eq!(server.place, Place { line: 1, column: 10 });
        assert_eq!(server.cwd.as_ref().unwrap().place, Place { line: 6, column: 1 });
    }

    #[test]
    fn every_word_for_a_transport() {
        for (word, kind) in [
            ("http", Kind::Http),
            ("streamable-http", Kind::Http),
            ("streamable_http", Kind::Http),
            ("streamableHttp", Kind::Http),
            ("sse", Kind::Sse),
        ] {
            let declarations =
                accepted(&format!("servers.a = {{ transport = '{word}', url = 'https://h/' }}"));
            assert_eq!(declarations.servers[0].transport.as_ref().map(|located| located.value), Some(kind));
        }
        let dynamic = accepted("servers.a = { transport = '${env:T:-stdio}', command = 'x' }");
        assert_eq!(dynamic.servers[0].needs_relay.len(), 1);
    }

    #[test]
    fn the_order_is_that_of_the_file() {
        let declarations = accepted(
            "[servers.z]\ncommand = 'z'\n[servers.a]\ncommand = 'a'\nenv = { Z = '1', A = '2' }\n[servers.m]\ncommand = 'm'\n",
        );
        let names: Vec<&str> = declarations.servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["z", "a", "m"]);
        let env = &declarations.servers[1].env.as_ref().unwrap().value;
        assert_eq!(env.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["Z", "A"]);
    }

    #[test]
    fn the_built_in_server_takes_one_field_of_the_user_alone() {
        assert!(accepted("[servers.squire]\ndisabled = true\n").builtin_disabled);
        assert!(!accepted("[servers.squire]\ndisabled = false\n").builtin_disabled);
        assert_eq!(
            told("[servers.squire]\ndisabled = true\n", LayerKind::Project),
            ["F:1:10: the server name `squire` is reserved: an agent or squire itself uses it"]
        );
    }

    #[test]
    fn b33_a_project_declares_servers_and_profiles_and_nothing_else() {
        assert_eq!(
            told("[policy]\n[agents.claude]\n[secrets.a]\nvalue = 'x'\n", LayerKind::Project)
                .iter()
                .map(|problem| problem.lines().next().unwrap())
                .collect::<Vec<_>>(),
            [
                "F:1:2: a project declares servers and profiles, and no [policy]",
                "F:2:2: a project declares servers and profiles, and no [agents]",
                "F:3:2: unknown key `secrets` in squire.toml",
            ]
        );
    }

    #[test]
    fn b16_a_byte_order_mark_changes_nothing() {
        let text = "[servers.a]\r\ncommand = \"x\"\r\n";
        assert_eq!(accepted(text), accepted(&format!("\u{feff}{text}")));
        assert_eq!(accepted(text), accepted(&text.replace('\r', "")));
    }

    proptest! {
        /// Whatever the bytes are: no panic, and every problem is within the file, in its order.
        #[test]
        fn any_bytes_are_read_or_told(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..200),
                "(\\[servers\\.a\\]|\\[profiles\\.p\\]|\n|command|url|env|args|servers|extends|timeout|transport|route| = |\"a\"|\"\\$\\{env:X\\}\"|\"\\$\\{\"|\\[|\\]|\\{|\\}|,|1|true|é|\"\\\\u0000\"|\"http://h\"|#){0,30}"
                    .prop_map(String::into_bytes),
            ],
        ) {
            for kind in [LayerKind::User, LayerKind::Project] {
                let (_, problems) = read(&bytes, Path::new("F"), kind);
                let lines = bytes.split(|byte| *byte == b'\n').count();
                for problem in &problems {
                    prop_assert!((1..=lines).contains(&problem.place.line), "{problem}");
                    prop_assert!(!problem.message.contains(['\u{0}', '\u{1b}']), "{problem}");
                }
                prop_assert!(problems.is_sorted_by_key(|problem| problem.place));
            }
        }
    }
}
