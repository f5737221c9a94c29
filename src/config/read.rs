//! Reads a layer's file: bytes in, declarations and problems out. Pure.

use std::path::Path;
use std::rc::Rc;

use toml::de::DeTable;

use super::fields::{self, PROFILE, ProfileField, SECTIONS, Section};
use super::problem::{Lines, Place, Problem};
use super::read_filter::read_filters;
use super::read_server::{read_fields, read_name, read_server};
use super::read_settings::{read_agent, read_policy};
use super::schema::{Declarations, LayerKind, Profile};
use super::table::{Entry, Reader};

/// Reads the bytes of a file. Declarations are complete only where there are no problems; all problems are told.
pub fn read(bytes: &[u8], path: &Path, layer: LayerKind) -> (Declarations, Vec<Problem>) {
    read_with(bytes, path, layer, |reader, entries, into: &mut Declarations| {
        for section in entries {
            read_section(reader, section, into);
        }
    })
}

/// Reads a file of `servers.d`: the fields of the one server that the file is named after.
pub fn read_drop_in(bytes: &[u8], path: &Path) -> (Declarations, Vec<Problem>) {
    read_with(bytes, path, LayerKind::DropIn, |reader, entries, into: &mut Declarations| {
        let top = Place { line: 1, column: 1 };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if let Some(name) = read_name(reader, &stem, top) {
            let declaration = read_fields(reader, name, top, entries);
            into.servers.push(Rc::new(declaration));
        }
    })
}

/// Reads the bytes of any file of TOML into what `fill` makes of its entries.
pub(crate) fn read_with<Content: Default>(
    bytes: &[u8],
    path: &Path,
    layer: LayerKind,
    fill: impl for<'a> FnOnce(&mut Reader<'a>, Vec<Entry<'a>>, &mut Content),
) -> (Content, Vec<Problem>) {
    let mut content = Content::default();
    let text = match decode(bytes) {
        Ok(text) => text,
        Err((place, message)) => {
            let problem = Problem { path: path.to_path_buf(), place, message, help: None };
            return (content, vec![problem]);
        }
    };
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader::new(text, path, layer);
    for error in &errors {
        let place = reader.place(error.span().map_or(0, |span| span.start));
        reader.problem(place, error.message(), None);
    }
    if errors.is_empty() {
        let entries = reader.entries(document.get_ref());
        fill(&mut reader, entries, &mut content);
    }
    reader.problems.sort_by_key(|problem| problem.place);
    (content, reader.problems)
}

pub(crate) fn decode(bytes: &[u8]) -> Result<&str, (Place, String)> {
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

fn read_section<'a>(reader: &mut Reader<'a>, section: Entry<'a>, into: &mut Declarations) {
    let Some(known) = fields::find(SECTIONS, section.key) else {
        return reader.unknown_key(section, "this file", &fields::keys(SECTIONS));
    };
    if let Some(message) = misplaced(reader.layer, known.id, section.key) {
        return reader.problem(section.place, message, None);
    }
    match known.id {
        Section::Servers => {
            for server in reader.table(section, "a table of servers, as in [servers.NAME]") {
                read_server(reader, server, into);
            }
        }
        Section::Profiles => {
            for profile in reader.table(section, "a table of profiles, as in [profiles.NAME]") {
                let profile = read_profile(reader, profile);
                into.profiles.push(profile);
            }
        }
        Section::Agents => {
            for agent in reader.table(section, "a table of agents, as in [agents.NAME]") {
                let agent = read_agent(reader, agent);
                into.agents.push(agent);
            }
        }
        Section::Policy => into.policy = read_policy(reader, section),
    }
}

/// Why a section has no place in a layer.
fn misplaced(layer: LayerKind, section: Section, key: &str) -> Option<String> {
    let (is_legal, what) = match layer {
        LayerKind::User | LayerKind::DropIn => return None,
        LayerKind::Project | LayerKind::Live => (
            matches!(section, Section::Servers | Section::Profiles),
            "a project declares servers and profiles, and",
        ),
        LayerKind::Local => (section == Section::Servers, "the local layer changes servers, and has"),
        LayerKind::Managed => (section == Section::Policy, "the machine's policy holds [policy] alone, and"),
    };
    (!is_legal).then(|| format!("{what} no [{key}]"))
}

fn read_profile<'a>(reader: &mut Reader<'a>, entry: Entry<'a>) -> Profile {
    let mut profile = Profile {
        name: entry.key.to_owned(),
        origin: reader.origin(entry.place),
        extends: Vec::new(),
        servers: Vec::new(),
        tools: Vec::new(),
        require: Vec::new(),
        strict: None,
    };
    reader.check_word(entry, "profile");
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
            ProfileField::Tools => profile.tools = read_filters(reader, field),
            ProfileField::Require => {
                let expected = "an array of server names, or of \"all\"";
                profile.require = reader.strings(field, expected).unwrap_or_default();
            }
            ProfileField::Strict => profile.strict = reader.boolean(field),
        }
    }
    profile
}

#[cfg(test)]
mod tests {
    use squire_strategies::{Route, Text};

    use super::*;
    use crate::config::Located;
    use crate::config::{Choice, Kind};
    use proptest::prelude::*;
    use std::time::Duration;

    fn accepted(text: &str) -> Declarations {
        let (declarations, problems) = read(text.as_bytes(), Path::new("F"), LayerKind::User);
        assert!(problems.is_empty(), "{problems:?}");
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
        assert_eq!(server.transport.as_ref().unwrap().value, Choice::Fixed(Kind::Stdio));
        assert_eq!(server.origin.place, Place { line: 1, column: 10 });
        assert_eq!(server.cwd.as_ref().unwrap().origin.place, Place { line: 6, column: 1 });
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
            let transport = declarations.servers[0].transport.as_ref().map(|located| &located.value);
            assert_eq!(transport, Some(&Choice::Fixed(kind)));
        }
        let dynamic = accepted("servers.a = { transport = '${env:T:-stdio}', command = 'x' }");
        let transport = &dynamic.servers[0].transport.as_ref().unwrap().value;
        assert!(matches!(transport, Choice::Dynamic(text) if text.to_string() == "${env:T:-stdio}"));
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
        for disabled in [true, false] {
            let read = accepted(&format!("[servers.squire]\ndisabled = {disabled}\n")).builtin_disabled;
            assert_eq!(read.map(|located| located.value), Some(disabled));
        }
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
                "F:3:2: unknown key `secrets` in this file",
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
                "(\\[servers\\.a\\]|\\[policy\\]|\\[agents\\.x\\]|tools|auth|grants|result_limit|rewrite_urls|program|strategy|\\[profiles\\.p\\]|\n|command|url|env|args|servers|extends|timeout|transport|route| = |\"a\"|\"\\$\\{env:X\\}\"|\"\\$\\{\"|\\[|\\]|\\{|\\}|,|1|true|é|\"\\\\u0000\"|\"http://h\"|#){0,30}"
                    .prop_map(String::into_bytes),
            ],
        ) {
            for kind in [LayerKind::User, LayerKind::Project, LayerKind::Local, LayerKind::Managed] {
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
