//! Reads a `squire.toml`: bytes in, declarations and problems out. Pure.

use std::path::Path;

use squire_strategies::{Name, NameError, Route, Text};
use toml::de::{DeTable, DeValue};

use super::problem::{Lines, Place, Problem, nearest};
use super::schema::{Declaration, Declarations, Kind, LayerKind, Located, Profile};
use super::table::{Entry, Reader};

const SECTIONS: &[&str] = &["servers", "profiles", "agents", "policy"];
const SERVER_KEYS: &[&str] = &[
    "transport",
    "command",
    "args",
    "env",
    "inherit_env",
    "cwd",
    "url",
    "headers",
    "timeout",
    "startup_timeout",
    "description",
    "disabled",
    "route",
    "auth",
    "client_cert",
    "client_key",
    "ca",
    "result_limit",
    "grants",
    "tools",
    "trust",
    "max_restarts",
    "sampling",
    "audit",
    "pin",
    "remove",
];
/// Known fields that only the relay will act on.
const RELAY_KEYS: &[&str] = &[
    "auth",
    "client_cert",
    "client_key",
    "ca",
    "result_limit",
    "grants",
    "tools",
    "trust",
    "max_restarts",
    "sampling",
    "audit",
    "pin",
    "remove",
];
const PROFILE_KEYS: &[&str] = &["extends", "servers", "tools", "require", "strict"];

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
    match (section.key, kind) {
        ("servers", _) => {
            for server in reader.table(section, "a table of servers, as in [servers.NAME]") {
                read_server(reader, server, kind, into);
            }
        }
        ("profiles", _) => {
            for profile in reader.table(section, "a table of profiles, as in [profiles.NAME]") {
                into.profiles.push(read_profile(reader, profile));
            }
        }
        ("agents" | "policy", LayerKind::User) => reader.problem(
            section.place,
            format!("[{}] is not supported by this version of squire", section.key),
            Some("take it out: a setting that is not enforced must not look as if it were".into()),
        ),
        ("agents" | "policy", LayerKind::Project) => reader.problem(
            section.place,
            format!("a project declares servers and profiles, and no [{}]", section.key),
            None,
        ),
        _ => reader.unknown_key(section, "squire.toml", SECTIONS),
    }
}

fn read_server<'a>(reader: &mut Reader<'a>, entry: Entry<'a>, kind: LayerKind, into: &mut Declarations) {
    if entry.key == Name::SQUIRE && kind == LayerKind::User {
        into.builtin_disabled = read_builtin(reader, entry);
        return;
    }
    let name = match Name::parse(entry.key) {
        Ok(name) => name,
        Err(error) => {
            let help = (error == NameError::Reserved && kind == LayerKind::User && entry.key == Name::SQUIRE)
                .then(|| "the built-in server takes `disabled = true` alone".into());
            reader.problem(
                entry.place,
                format!("the server name `{}` {error}", entry.key.escape_debug()),
                help,
            );
            return;
        }
    };
    let mut declaration = Declaration::new(name, entry.place);
    for field in reader.table(entry, "a table of the server's fields") {
        read_field(reader, field, &mut declaration);
    }
    into.servers.push(declaration);
}

fn read_builtin<'a>(reader: &mut Reader<'a>, entry: Entry<'a>) -> bool {
    let mut disabled = false;
    for field in reader.table(entry, "a table of the server's fields") {
        if field.key == "disabled" {
            disabled = reader.boolean(field).is_some_and(|located| located.value);
        } else {
            reader.problem(field.place, "the built-in server `squire` takes `disabled` alone", None);
        }
    }
    disabled
}

fn read_field<'a>(reader: &mut Reader<'a>, field: Entry<'a>, into: &mut Declaration) {
    match field.key {
        "transport" => read_transport(reader, field, into),
        "command" => into.command = read_command(reader, field),
        "args" => into.args = reader.texts(field, "an array of strings"),
        "env" => into.env = Some(read_env(reader, field)),
        "inherit_env" => into.inherit_env = read_variables(reader, field),
        "cwd" => into.cwd = reader.text(field),
        "url" => into.url = read_url(reader, field),
        "headers" => into.headers = Some(read_headers(reader, field)),
        "timeout" => into.timeout = reader.duration(field),
        "startup_timeout" => into.startup_timeout = reader.duration(field),
        "description" => into.description = reader.string(field),
        "disabled" => into.disabled = reader.boolean(field),
        "route" => into.route = read_route(reader, field),
        key => match RELAY_KEYS.iter().find(|known| **known == key) {
            Some(known) => into.needs_relay.push(Located { value: known, place: field.place }),
            None => reader.unknown_key(field, &format!("[servers.{}]", into.name), SERVER_KEYS),
        },
    }
}

fn read_transport<'a>(reader: &mut Reader<'a>, field: Entry<'a>, into: &mut Declaration) {
    let Some(written) = reader.string(field) else { return };
    let kind = match written.value.as_str() {
        "stdio" => Kind::Stdio,
        "http" | "streamable-http" | "streamable_http" | "streamableHttp" => Kind::Http,
        "sse" => Kind::Sse,
        dynamic if dynamic.contains("${") => {
            into.needs_relay
                .push(Located { value: "a transport that is chosen at the start", place: field.place });
            return;
        }
        other => {
            let message = format!("`transport` is one of `stdio`, `http` and `sse`, and this is {other:?}");
            return reader.problem(field.place, message, None);
        }
    };
    into.transport = Some(Located { value: kind, place: written.place });
}

fn read_route<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Route>> {
    let written = reader.string(field)?;
    let value = match written.value.as_str() {
        "gateway" => Route::Gateway,
        "direct" => Route::Direct,
        other => {
            let message = format!("`route` is `gateway` or `direct`, and this is {other:?}");
            reader.problem(field.place, message, None);
            return None;
        }
    };
    Some(Located { value, place: written.place })
}

fn read_command<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Vec<Text>>> {
    let expected = "a program, or an array of a program and its arguments";
    let command = match field.value.get_ref() {
        DeValue::String(_) => {
            let program = reader.text(field)?;
            Located { value: vec![program.value], place: program.place }
        }
        DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => reader.texts(field, expected)?,
    };
    if command.value.first().is_none_or(|program| program.literal() == Some("")) {
        reader.problem(field.place, format!("`command` wants {expected}, and this is empty"), None);
        return None;
    }
    Some(command)
}

fn read_env<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Located<Vec<(String, Text)>> {
    let env = reader.text_table(field, "a table of variables, as in { NAME = \"value\" }");
    for (name, _) in &env.value {
        if name.is_empty() || name.contains(['=', '\0']) {
            reader.problem(field.place, format!("`env`: {name:?} can't be the name of a variable"), None);
        }
    }
    env
}

fn read_variables<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Vec<String>>> {
    let names = reader.strings(field, "an array of variable names")?;
    for name in names.iter().filter(|name| !Text::is_variable(&name.value)) {
        reader.problem(
            name.place,
            format!("`inherit_env`: {:?} can't be the name of a variable", name.value),
            None,
        );
    }
    Some(Located { value: names.into_iter().map(|name| name.value).collect(), place: field.place })
}

fn read_url<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Text>> {
    let url = reader.text(field)?;
    if let Some(written) = url.value.literal() {
        let (scheme, rest) = written.split_once("://").unwrap_or_default();
        let is_http = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let has_host = Some(rest)
            .filter(|_| is_http)
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']));
        if !has_host || written.contains(|c: char| c.is_whitespace() || c.is_control()) {
            let message = format!(
                "`url` wants an address such as \"https://example.com/mcp\", and this is {written:?}"
            );
            reader.problem(field.place, message, None);
        }
    }
    Some(url)
}

fn read_headers<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Located<Vec<(String, Text)>> {
    let headers = reader.text_table(field, "a table of headers, as in { X-Name = \"value\" }");
    // RFC 9110, section 5.6.2: a field name is a token.
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    for (index, (name, value)) in headers.value.iter().enumerate() {
        if headers.value[..index].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            reader.problem(
                field.place,
                format!("`headers`: {name:?} comes twice, as case does not count"),
                None,
            );
        }
        if name.is_empty() || !name.chars().all(is_token) {
            reader.problem(field.place, format!("`headers`: {name:?} can't be the name of a header"), None);
        }
        if value.literal().is_some_and(|value| value.contains(|c: char| c.is_control() && c != '\t')) {
            reader.problem(
                field.place,
                format!("`headers`: the value of `{name}` holds a control character"),
                None,
            );
        }
    }
    headers
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
        match field.key {
            "extends" => {
                profile.extends = reader.strings(field, "an array of profile names").unwrap_or_default();
            }
            "servers" => {
                profile.servers = reader.strings(field, "an array of server names").unwrap_or_default();
            }
            "tools" => {
                let filters = reader.table(field, "a table of filters, as in tools.NAME = { deny = [] }");
                profile.narrows.extend(
                    filters.iter().map(|entry| Located { value: entry.key.to_owned(), place: entry.place }),
                );
            }
            "require" | "strict" => reader.problem(
                field.place,
                format!("`{}` is not supported by this version of squire", field.key),
                Some("take it out: a setting that is not enforced must not look as if it were".into()),
            ),
            _ => reader.unknown_key(field, &format!("[profiles.{}]", entry.key.escape_debug()), PROFILE_KEYS),
        }
    }
    profile
}

/// Two names of one layer that an agent would take for one (case B07).
fn check_names(reader: &mut Reader<'_>, declarations: &Declarations) {
    for (index, later) in declarations.servers.iter().enumerate() {
        if let Some(earlier) =
            declarations.servers[..index].iter().find(|earlier| earlier.name.collides(&later.name))
        {
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

impl Declaration {
    fn new(name: Name, place: Place) -> Self {
        Self {
            name,
            place,
            transport: None,
            command: None,
            args: None,
            env: None,
            inherit_env: None,
            cwd: None,
            url: None,
            headers: None,
            timeout: None,
            startup_timeout: None,
            description: None,
            disabled: None,
            route: None,
            needs_relay: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
