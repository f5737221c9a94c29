//! Reads `[servers.NAME]`. Pure.

use std::rc::Rc;

use squire_strategies::{Name, NameError, Route, Text, masked_address};
use toml::de::DeValue;

use super::fields::{self, SERVER, ServerField};
use super::problem::Place;
use super::read_filter::read_filter;
use super::schema::{Auth, Choice, Declaration, Declarations, Grants, Kind, LayerKind, Located, Trust};
use super::table::{Entry, Reader};

/// Reads one server into the declarations.
pub(super) fn read_server<'a>(reader: &mut Reader<'a>, entry: Entry<'a>, into: &mut Declarations) {
    if entry.key == Name::SQUIRE && reader.layer == LayerKind::User {
        into.builtin_disabled = read_builtin(reader, entry);
        return;
    }
    let Some(name) = read_name(reader, entry.key, entry.place) else { return };
    let fields = reader.table(entry, "a table of the server's fields");
    into.servers.push(Rc::new(read_fields(reader, name, entry.place, fields)));
}

/// Reads a server's name as a key, or as the name of its file.
pub(super) fn read_name(reader: &mut Reader<'_>, written: &str, place: Place) -> Option<Name> {
    match Name::parse(written) {
        Ok(name) => Some(name),
        Err(error) => {
            let of_builtin =
                !reader.layer.is_project() && error == NameError::Reserved && written == Name::SQUIRE;
            let help = of_builtin
                .then(|| "`[servers.squire] disabled = true` goes into the user's squire.toml".into());
            reader.problem(place, format!("the server name `{}` {error}", written.escape_debug()), help);
            None
        }
    }
}

/// Reads the fields of one server.
pub(super) fn read_fields<'a>(
    reader: &mut Reader<'a>,
    name: Name,
    place: Place,
    fields: Vec<Entry<'a>>,
) -> Declaration {
    let mut declaration = Declaration::new(name, reader.origin(place));
    for field in fields {
        read_field(reader, field, &mut declaration);
    }
    declaration
}

fn read_builtin<'a>(reader: &mut Reader<'a>, entry: Entry<'a>) -> Option<Located<bool>> {
    let mut disabled = None;
    for field in reader.table(entry, "a table of the server's fields") {
        if field.key == "disabled" {
            disabled = reader.boolean(field);
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
    let of_user = matches!(known.id, ServerField::Trust | ServerField::Audit | ServerField::Pin);
    if reader.layer.is_project() && of_user {
        reader.problem(
            field.place,
            format!("`{}` is the user's to say, and not a project's", field.key),
            None,
        );
        return;
    }
    match known.id {
        ServerField::Transport => into.transport = read_transport(reader, field),
        ServerField::Command => into.command = read_command(reader, field),
        ServerField::Args => into.args = reader.texts(field, "an array of strings"),
        ServerField::Env => into.env = Some(read_env(reader, field)),
        ServerField::InheritEnv => into.inherit_env = read_variables(reader, field),
        ServerField::Cwd => into.cwd = reader.text(field),
        ServerField::Url => into.url = read_url(reader, field),
        ServerField::Headers => into.headers = Some(read_headers(reader, field)),
        ServerField::Auth => into.auth = read_auth(reader, field),
        ServerField::ClientCert => into.client_cert = reader.text(field),
        ServerField::ClientKey => into.client_key = reader.text(field),
        ServerField::Ca => into.ca = reader.text(field),
        ServerField::Timeout => into.timeout = reader.duration(field),
        ServerField::StartupTimeout => into.startup_timeout = reader.duration(field),
        ServerField::ResultLimit => into.result_limit = reader.size(field),
        ServerField::Description => into.description = reader.string(field),
        ServerField::Disabled => into.disabled = reader.boolean(field),
        ServerField::Remove => into.remove = read_remove(reader, field),
        ServerField::Tools => into.tools = Some(read_filter(reader, field)),
        ServerField::Grants => into.grants = Some(read_grants(reader, field)),
        ServerField::Route => into.route = read_route(reader, field),
        ServerField::Trust => into.trust = read_trust(reader, field),
        ServerField::MaxRestarts => into.max_restarts = reader.number(field),
        ServerField::Sampling => into.sampling = read_sampling(reader, field),
        ServerField::Audit => into.audit = reader.word(field, &["digest", "full", "off"]),
        ServerField::Spill => into.spill = reader.boolean(field),
        ServerField::Pin => into.pin = reader.word(field, &["block", "warn", "off"]),
    }
}

fn read_transport<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Choice>> {
    let written = reader.text(field)?;
    let choice = match written.value.literal().map(str::to_owned) {
        None => Choice::Dynamic(written.value),
        Some(word) => match Kind::parse(&word) {
            Some(kind) => Choice::Fixed(kind),
            None => return reader.unfit(field, "one of `stdio`, `http` and `sse`", &word),
        },
    };
    Some(Located { value: choice, origin: written.origin })
}

fn read_remove(reader: &mut Reader<'_>, field: Entry<'_>) -> Option<Located<bool>> {
    let remove = reader.boolean(field)?;
    if remove.value && reader.layer != LayerKind::Local {
        reader.problem(
            field.place,
            "`remove` takes out a lower layer's server, and there is none below this file",
            Some("delete the declaration, or write `disabled = true`".into()),
        );
    }
    Some(remove)
}

fn read_trust<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Trust>> {
    if reader.layer == LayerKind::DropIn {
        reader.problem(field.place, "`trust` is written by hand, in squire.toml or the local layer", None);
        return None;
    }
    let word = reader.word(field, &["trusted", "community"])?;
    let trust = if word.value == "trusted" { Trust::Trusted } else { Trust::Community };
    Some(Located { value: trust, origin: word.origin })
}

fn read_sampling(reader: &mut Reader<'_>, field: Entry<'_>) -> Option<Located<bool>> {
    let sampling = reader.boolean(field)?;
    if sampling.value {
        reader.problem(field.place, "`sampling` is refused by squire: `false` is the only value", None);
    }
    Some(sampling)
}

fn read_grants<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Located<Grants> {
    let mut grants = Grants::default();
    for inner in reader.table(field, "a table, as in { network = false, secrets = [\"db\"] }") {
        match inner.key {
            "network" => grants.network = reader.boolean(inner).map(|located| located.value),
            "filesystem" => grants.filesystem = reader.boolean(inner).map(|located| located.value),
            "secrets" => {
                grants.secrets =
                    reader.words(inner, "an array of names of secrets").map(|located| located.value);
            }
            _ => reader.unknown_key(inner, "`grants`", &["network", "filesystem", "secrets"]),
        }
    }
    reader.located(grants, field.place)
}

fn read_auth<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Auth>> {
    let (mut kind, mut header, mut secret) = (None, None, None);
    // A part that does not fit is told where it is read, and is not missing.
    let before = reader.problems.len();
    for inner in reader.table(field, "a table, as in { type = \"bearer\", secret = \"github\" }") {
        match inner.key {
            "type" => kind = reader.word(inner, &["bearer", "header", "oauth"]),
            "header" => header = reader.string(inner),
            "secret" => secret = reader.string(inner),
            _ => reader.unknown_key(inner, "`auth`", &["type", "header", "secret"]),
        }
    }
    if reader.problems.len() > before {
        return None;
    }
    let Some(kind) = kind else {
        let message = "`auth` wants a `type`, as in { type = \"bearer\", secret = \"github\" }";
        reader.problem(field.place, message, None);
        return None;
    };
    let kind = kind.value;
    if kind == "oauth" {
        let help =
            "leave `auth` out: a plain remote server is direct, and the agent's own OAuth works".into();
        reader.problem(field.place, "`auth` of the type oauth is not supported yet", Some(help));
        return None;
    }
    let bearer = kind == "bearer";
    if let Some(header) = header.as_ref().filter(|_| bearer) {
        reader.problem(
            header.origin.place,
            "`header` goes with the type header; bearer is always Authorization",
            None,
        );
    }
    let Some(secret) = secret else {
        reader.problem(field.place, "`auth` wants a `secret`: the name of one in secrets.toml", None);
        return None;
    };
    let header = header.map_or_else(|| "Authorization".to_owned(), |located| located.value);
    if !is_header_name(&header) {
        reader.problem(field.place, format!("`auth`: {header:?} can't be the name of a header"), None);
    }
    if !Text::is_secret(&secret.value) {
        let message = format!("`auth`: {:?} can't be the name of a secret", secret.value);
        reader.problem(field.place, message, None);
    }
    Some(reader.located(Auth { header, bearer, secret: secret.value }, field.place))
}

fn read_route<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Route>> {
    let written = reader.string(field)?;
    let value = match written.value.as_str() {
        "gateway" => Route::Gateway,
        "direct" => Route::Direct,
        other => return reader.unfit(field, "`gateway` or `direct`", other),
    };
    Some(Located { value, origin: written.origin })
}

fn read_command<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Vec<Text>>> {
    let expected = "a program, or an array of a program and its arguments";
    let command = match field.value.get_ref() {
        DeValue::String(_) => {
            let program = reader.text(field)?;
            Located { value: vec![program.value], origin: program.origin }
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

/// Reads variables and their values.
pub(super) fn read_env<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Located<Vec<(String, Text)>> {
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
        let message = format!("`inherit_env`: {:?} can't be the name of a variable", name.value);
        reader.problem(name.origin.place, message, None);
    }
    let names = names.into_iter().map(|name| name.value).collect();
    Some(reader.located(names, field.place))
}

fn read_url<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Text>> {
    let url = reader.text(field)?;
    if let Some(written) = url.value.literal().filter(|written| !is_address(written)) {
        let shown = masked_address(written);
        let message =
            format!("`url` wants an address such as \"https://example.com/mcp\", and this is {shown:?}");
        reader.problem(field.place, message, None);
    }
    Some(url)
}

/// Whether this is an address that a server can have: http or https, and a host.
pub fn is_address(written: &str) -> bool {
    let (scheme, rest) = written.split_once("://").unwrap_or_default();
    let is_http = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let has_host = !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']);
    is_http && has_host && !written.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Whether this can be the name of a header: a token (RFC 9110, section 5.6.2).
fn is_header_name(name: &str) -> bool {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(is_token)
}

fn read_headers<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Located<Vec<(String, Text)>> {
    let headers = reader.text_table(field, "a table of headers, as in { X-Name = \"value\" }");
    for (index, (name, value)) in headers.value.iter().enumerate() {
        if headers.value[..index].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            reader.problem(
                field.place,
                format!("`headers`: {name:?} comes twice, as case does not count"),
                None,
            );
        }
        if !is_header_name(name) {
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
