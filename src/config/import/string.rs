//! One string of a foreign entry: its references become squire's, and what is a secret or is to be filled in goes.

use squire_strategies::{Field, Text};
use zeroize::Zeroizing;

use super::dialect::Dialect;
use super::reference::{Foreign, reference};
use super::tree::NOWHERE;
use super::{Context, Remark, Wanted, blank, credential};
use crate::config::Place as Whereabouts;
use crate::secrets::Value;

/// Where a string stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// `env`, `headers`, `args`, `url`, `command` or `cwd`.
    pub(super) key: &'static str,
    /// The variable or the header.
    pub(super) name: Option<&'a str>,
    /// What a secret in it is called.
    pub(super) label: &'a str,
}

/// Translates the strings of one entry.
pub(super) struct Strings<'a> {
    pub(super) server: &'a str,
    pub(super) dialect: &'static Dialect,
    pub(super) context: &'a Context<'a>,
    /// Where the field begins that is translated now.
    pub(super) at: Whereabouts,
    /// The variables that the entry sets.
    pub(super) own: Vec<String>,
    pub(super) wanted: Vec<Wanted>,
    pub(super) remarks: Vec<Remark>,
    /// Why the entry can't be taken.
    pub(super) unfit: Option<String>,
}

impl<'a> Strings<'a> {
    pub(super) fn new(server: &'a str, dialect: &'static Dialect, context: &'a Context<'a>) -> Self {
        Self {
            server,
            dialect,
            context,
            at: NOWHERE,
            own: Vec::new(),
            wanted: Vec::new(),
            remarks: Vec::new(),
            unfit: None,
        }
    }
}

impl Strings<'_> {
    /// The string as a declaration has it.
    pub(super) fn translate(&mut self, written: &str, place: Place<'_>) -> String {
        self.translate_from(written, place, None)
    }

    /// The same of one whose part from there on is a secret by what stands before it.
    pub(super) fn translate_from(&mut self, written: &str, place: Place<'_>, from: Option<usize>) -> String {
        let before = self.wanted.len();
        let text = self.replace(written, place);
        let may_be_taken = !self.context.keeps_credentials && self.wanted.len() == before;
        if may_be_taken && credential::is_credential(place.key, place.name, &text) {
            return self.take(&text, kept(&text, place), place);
        }
        match from.filter(|_| may_be_taken && text == written) {
            Some(from) => self.take(&text, (from, text.len()), place),
            None => text,
        }
    }

    pub(super) fn remark(&mut self, sentence: impl Into<String>) {
        let remark = Remark { place: self.at, sentence: sentence.into() };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// References and placeholders.
    fn replace(&mut self, written: &str, place: Place<'_>) -> String {
        let mut out = String::with_capacity(written.len());
        let mut rest = written;
        while let Some(first) = rest.chars().next() {
            let blank = blank::length(rest, &out);
            if blank > 0 {
                // A dollar before it would make an escape of the reference: it is to be filled in with the rest.
                out.truncate(out.trim_end_matches('$').len());
                let label = label_behind(&out, place);
                let secret = self.want(&label, place, None);
                out.push_str(&secret);
                rest = rest.get(blank..).unwrap_or_default();
            } else if let Some((reference, behind)) = reference(rest, place.key, self.dialect) {
                let before = self.wanted.len();
                let written = self.referred(reference, &out.clone(), place);
                if out.ends_with('$') && written.starts_with("${") {
                    // It would be an escape, and the reference's text the value.
                    self.wanted.truncate(before);
                    let plain = rest.strip_suffix(behind).unwrap_or_default();
                    self.remark(format!(
                        "{}: a `$` right before a reference can't be written: `{plain}` stays as it is",
                        shown(place)
                    ));
                    out.push_str(plain);
                } else {
                    out.push_str(&written);
                }
                rest = behind;
            } else if let Some(behind) = self.escaped(rest) {
                out.push_str("$${");
                rest = behind;
            } else {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
        out
    }

    /// What is behind a `${` that is no reference; in a README an escape stays one.
    fn escaped<'t>(&self, text: &'t str) -> Option<&'t str> {
        let escape = if self.dialect.is_readme { text.strip_prefix("$${") } else { None };
        escape.or_else(|| text.strip_prefix("${"))
    }

    fn referred(&mut self, reference: Foreign<'_>, before: &str, place: Place<'_>) -> String {
        let field = shown(place);
        match reference {
            Foreign::Variable(name, Some(default)) if holds_credential(default) => {
                self.remark(format!(
                    "{field}: the default of `{name}` is a secret: it became one, and the variable is not read"
                ));
                let label = label_behind(before, place);
                match Value::exactly(Zeroizing::new(default.as_bytes().to_vec())) {
                    Ok(value) => self.want(&label, place, Some(value)),
                    Err(_) => format!("${{env:{name}}}"),
                }
            }
            Foreign::Variable(name, Some(default)) => format!("${{env:{name}:-{default}}}"),
            // What the program itself puts in, from a variable that the entry sets: mcp-remote does.
            Foreign::Braces(name) if place.key == "args" && self.own.iter().any(|own| own == name) => {
                self.remark(format!(
                    "{field}: `${{{name}}}` stays for the program itself, which has that variable"
                ));
                format!("$${{{name}}}")
            }
            Foreign::Variable(name, None) | Foreign::Braces(name) => format!("${{env:{name}}}"),
            Foreign::Own(written) => written.to_owned(),
            Foreign::Plain(text) => text.to_owned(),
            Foreign::Workspace => self.workspace(&field),
            Foreign::WorkspaceName => {
                let name = self.context.workspace.and_then(|workspace| workspace.rsplit('/').next());
                name.map_or_else(|| self.workspace(&field), |name| name.replace("${", "$${"))
            }
            Foreign::Input(id) => self.input(id, place),
            Foreign::File(path) => self.file(path, before, place),
            Foreign::Asked(written) => {
                if !self.dialect.is_readme {
                    self.remark(format!(
                        "{field}: `{written}` is known to the other tool alone, and became a secret"
                    ));
                }
                let label = label_behind(before, place);
                self.want(&label, place, None)
            }
        }
    }

    fn workspace(&mut self, field: &str) -> String {
        if let Some(workspace) = self.context.workspace {
            return workspace.replace("${", "$${");
        }
        self.remark(format!(
            "{field}: the workspace of an editor became `.`, the directory in which an agent is launched"
        ));
        ".".into()
    }

    /// What an editor asks for and remembers: a secret of that name, or its default where it is none.
    fn input(&mut self, id: &str, place: Place<'_>) -> String {
        let input = self.context.inputs.iter().find(|input| input.id == id);
        let field = shown(place);
        match input {
            Some(input) if !input.is_secret => {
                if let Some(default) = &input.default {
                    self.remark(format!(
                        "{field}: the input `{id}` became its default: nobody is asked here"
                    ));
                    return default.replace("${", "$${");
                }
            }
            Some(_) => {}
            None => self.remark(format!("{field}: the file has no input `{id}`; it became a secret")),
        }
        let name = cleaned(id);
        self.want_named(&name, place, None, None)
    }

    /// A file whose content stands for the reference: one that a secret can name.
    fn file(&mut self, path: &str, before: &str, place: Place<'_>) -> String {
        let field = shown(place);
        let label = label_behind(before, place);
        let whole = match (path.starts_with('/') || path.starts_with("~/"), self.context.directory) {
            (true, _) => Some(path.to_owned()),
            (false, Some(directory)) => Some(format!("{directory}/{}", path.trim_start_matches("./"))),
            (false, None) => None,
        };
        let Some(whole) = whole else {
            self.remark(format!("{field}: file:{path} became a secret, which can be a file: squire secret set NAME --file FILE"));
            return self.want(&label, place, None);
        };
        self.remark(format!("{field}: the file {whole} became a secret: it must be yours alone (chmod 600)"));
        let name = format!("{}.{}", self.server, cleaned(&label));
        self.want_named(&name, place, None, Some(whole))
    }

    /// Takes a secret in clear out; the scheme or the option before it stays.
    fn take(&mut self, text: &str, (start, end): (usize, usize), place: Place<'_>) -> String {
        let (Some(before), Some(value), Some(behind)) =
            (text.get(..start), text.get(start..end), text.get(end..))
        else {
            return text.to_owned();
        };
        if Text::parse(value).is_ok_and(|text| text.references().next().is_some()) {
            // A value is never looked at again: the reference in it would stay as it is written.
            self.unfit.get_or_insert_with(|| {
                let field = shown(place);
                format!("`{field}` has a secret in clear and a reference beside it, which squire can't take apart: write one of them as a variable of its own")
            });
            return text.to_owned();
        }
        let label = label_behind(before, place);
        // What was escaped for the file is plain again in a value.
        let value = Zeroizing::new(value.replace("$${", "${").into_bytes());
        match Value::exactly(value) {
            Ok(value) => [before, &self.want(&label, place, Some(value)), behind].concat(),
            Err(_) => text.to_owned(),
        }
    }

    /// A reference to a new secret of this server.
    fn want(&mut self, label: &str, place: Place<'_>, value: Option<Value>) -> String {
        let name = format!("{}.{}", self.server, cleaned(label));
        self.want_named(&name, place, value, None)
    }

    fn want_named(
        &mut self,
        first: &str,
        place: Place<'_>,
        value: Option<Value>,
        file: Option<String>,
    ) -> String {
        let is_input = !first.starts_with(&format!("{}.", self.server));
        let is_taken = |name: &String| {
            let is_wanted = self.wanted.iter().any(|wanted| wanted.secret == *name);
            (is_wanted && !is_input) || (self.context.is_taken)(name, value.as_ref())
        };
        // Where a secret has the name of the group, none can be in it.
        let flat = first.replace('.', "-");
        let mut names = std::iter::once(first.to_owned())
            .chain((2..10).map(|number| format!("{first}-{number}")))
            .chain(std::iter::once(flat.clone()))
            .chain((2..).map(|number| format!("{flat}-{number}")));
        let secret = names.find(|name| !is_taken(name)).unwrap_or_else(|| first.to_owned());
        let reference = format!("${{secret:{secret}}}");
        // An input is asked for once, however often it is used.
        if !self.wanted.iter().any(|wanted| wanted.secret == secret) {
            self.wanted.push(Wanted { secret, field: shown(place), value, file });
        }
        reference
    }
}

fn cleaned(label: &str) -> String {
    let cleaned: String =
        label.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let cleaned = cleaned.trim_matches('-');
    if cleaned.is_empty() { "value".into() } else { cleaned.to_owned() }
}

fn holds_credential(text: &str) -> bool {
    Field::of("args", None).holds_credential(&Text::plain(text))
}

/// The field of a place, for people.
fn shown(place: Place<'_>) -> String {
    place.name.map_or_else(|| place.key.to_owned(), |name| format!("{}.{name}", place.key))
}

/// What stands before the secret itself in a header.
const SCHEMES: &[&str] = &["Bearer ", "Basic ", "token "];

/// Which part of a string with a secret in clear is the secret: what stands around it says what it is.
fn kept(text: &str, place: Place<'_>) -> (usize, usize) {
    let whole = text.len();
    let scheme = SCHEMES.iter().find(|scheme| text.starts_with(*scheme));
    if let (Some(scheme), "headers") = (scheme, place.key) {
        return (scheme.len(), whole);
    }
    match (place.key, text.split_once('=')) {
        // `--header "Authorization: Bearer …"`, as mcp-remote wants it.
        ("args", _) if credential::header(text).is_some() => {
            let name = text.find(':').map_or(0, |colon| colon + 1);
            let value = text.get(name..).unwrap_or_default().trim_start();
            let scheme = SCHEMES.iter().find(|scheme| value.starts_with(*scheme));
            (whole - value.len() + scheme.map_or(0, |scheme| scheme.len()), whole)
        }
        ("args", Some((option, value)))
            if !value.is_empty() && !option.contains("://") && !holds_credential(option) =>
        {
            (option.len() + 1, whole)
        }
        ("url", _) => secret_of_address(text).unwrap_or((0, whole)),
        _ => (0, whole),
    }
}

/// Where the value of the one parameter of an address lies that is a credential by itself; all of the address is one
/// where it can't be told.
fn secret_of_address(text: &str) -> Option<(usize, usize)> {
    let mut found = None;
    for (at, _) in text.match_indices(['?', '&']) {
        let rest = text.get(at + 1..)?;
        let parameter = rest.split(['&', '#']).next()?;
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let start = at + 1 + name.len() + 1;
        let without =
            [text.get(..start).unwrap_or_default(), text.get(start + value.len()..).unwrap_or_default()];
        if !value.is_empty() && !credential::is_credential("url", None, &without.concat()) {
            found = found.or(Some((start, start + value.len())));
        }
    }
    found
}

/// What a secret is called: after the parameter or the option right before it, else after its place. Never after another
/// secret: the names of a long row would double each time.
fn label_behind(before: &str, place: Place<'_>) -> String {
    let word =
        before.strip_suffix('=').and_then(|before| before.rsplit(['?', '&', ' ', '/', ';', '}']).next());
    let word = word.map(|word| word.trim_start_matches('-')).filter(|word| !word.is_empty());
    match word {
        Some(word) if matches!(place.key, "url" | "args") => word.to_owned(),
        _ => place.label.to_owned(),
    }
}
