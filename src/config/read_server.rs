//! Reads `[servers.NAME]`. Pure.

use squire_strategies::{Name, NameError, Route, Text};
use toml::de::DeValue;

use super::fields::{self, SERVER, ServerField};
use super::problem::Place;
use super::schema::{Declaration, Declarations, Kind, LayerKind, Located};
use super::table::{Entry, Reader};

/// Reads one server into the declarations.
pub(super) fn read_server<'a>(
    reader: &mut Reader<'a>,
    entry: Entry<'a>,
    kind: LayerKind,
    into: &mut Declarations,
) {
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
    let Some(known) = fields::find(SERVER, field.key) else {
        return reader.unknown_key(field, &format!("[servers.{}]", into.name), &fields::keys(SERVER));
    };
    match known.id {
        ServerField::Transport => read_transport(reader, field, into),
        ServerField::Command => into.command = read_command(reader, field),
        ServerField::Args => into.args = reader.texts(field, "an array of strings"),
        ServerField::Env => into.env = Some(read_env(reader, field)),
        ServerField::InheritEnv => into.inherit_env = read_variables(reader, field),
        ServerField::Cwd => into.cwd = reader.text(field),
        ServerField::Url => into.url = read_url(reader, field),
        ServerField::Headers => into.headers = Some(read_headers(reader, field)),
        ServerField::Timeout => into.timeout = reader.duration(field),
        ServerField::StartupTimeout => into.startup_timeout = reader.duration(field),
        ServerField::Description => into.description = reader.string(field),
        ServerField::Disabled => into.disabled = reader.boolean(field),
        ServerField::Route => into.route = read_route(reader, field),
        ServerField::Relay => into.needs_relay.push(Located { value: known.key, place: field.place }),
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
