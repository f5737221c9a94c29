//! Which strings of a foreign entry are secrets: these never go into a file of declarations.

use squire_strategies::{Field, Text};

/// What the names of variables end with that hold a secret.
const ENDINGS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASS",
    "PWD",
    "PAT",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "BEARER",
    "COOKIE",
    "PASSPHRASE",
];

/// Whether a string in the field `key` (of the variable or header `name`) is a secret in clear: by its kind, or by the
/// name of its variable unless it is plainly a word, a number or a path.
pub fn is_credential(key: &'static str, name: Option<&str>, value: &str) -> bool {
    // What is written as a reference is none in clear.
    let text = Text::parse(value).unwrap_or_else(|_| Text::plain(value));
    Field::of(key, name).holds_credential(&text)
        || key == "url" && Field::of(key, name).holds_credential(&Text::plain(without_references(value)))
        || key == "args"
            && header(value)
                .is_some_and(|(name, text)| Field::of("headers", Some(name)).holds_credential(&text))
        || holds_user(value)
        || matches!(key, "env" | "args") && holds_pair(value)
        || key == "env" && name.is_some_and(is_of_secret) && !is_plainly_none(value)
}

/// An address with a word in the place of each reference: what stands beside them is in clear all the same.
fn without_references(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, reference)) = rest.split_once("${") {
        out.push_str(before);
        match reference.split_once('}') {
            // A parameter that is a reference has nothing in clear.
            Some((_, behind)) if before.ends_with('=') => rest = behind,
            Some((_, behind)) => {
                out.push('x');
                rest = behind;
            }
            None => return out + reference,
        }
    }
    out + rest
}

/// Whether a word is the name of a header, as in `--header "Authorization: …"`.
fn is_header(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The header that an argument is, as mcp-remote takes one.
pub(super) fn header(argument: &str) -> Option<(&str, Text)> {
    let (name, value) = argument.split_once(':').filter(|(name, _)| is_header(name))?;
    let is_one = name.eq_ignore_ascii_case("authorization") || name.to_ascii_lowercase().ends_with("-key");
    let value = value.trim_start();
    // What the program puts in by itself is none in clear.
    (is_one && !value.contains("${"))
        .then(|| (name, Text::parse(value).unwrap_or_else(|_| Text::plain(value))))
}

fn is_of_secret(name: &str) -> bool {
    let last = name.rsplit(['_', '-']).next().unwrap_or_default().to_ascii_uppercase();
    ENDINGS.iter().any(|ending| last == *ending)
        || ["APIKEY", "TOKEN", "PASSWORD", "SECRET"].iter().any(|ending| last.ends_with(ending))
}

/// Where the value of an argument begins that is a secret by the name of its option or variable: `--token=VALUE`,
/// `--token VALUE`, `-e TOKEN=VALUE`. `before` is the argument before it.
pub(super) fn secret_of_argument(before: &str, word: &str) -> Option<usize> {
    let (name, start) = match word.split_once('=') {
        Some((name, _)) if matches!(before, "-e" | "--env") || name.starts_with('-') => {
            (name, name.len() + 1)
        }
        _ if before.starts_with("--") && !before.contains('=') && !word.starts_with('-') => (before, 0),
        _ => return None,
    };
    // `--auth basic` says of which kind it is.
    let is_kind = name.to_ascii_lowercase().ends_with("auth");
    (is_of_secret(name) && !is_kind && !is_plainly_none(word.get(start..)?)).then_some(start)
}

/// Whether a value that has pairs in it, of a connection or as JSON, has one of a secret.
fn holds_pair(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let is_behind = |rest: &str| {
        let rest = rest.trim_start_matches([' ', '"', '\'', ':', '=']);
        let word = rest.split(['"', '\'', ';', '&', ',', ' ', '}']).next().unwrap_or_default();
        !word.is_empty() && !is_plainly_none(word)
    };
    [
        "password=",
        "pwd=",
        "accountkey=",
        "\"password\"",
        "\"apikey\"",
        "\"api_key\"",
        "\"token\"",
        "\"secret\"",
        "bearer ",
    ]
    .iter()
    .any(|name| value.match_indices(name).any(|(at, _)| is_behind(&value[at + name.len()..])))
}

fn is_plainly_none(value: &str) -> bool {
    let is_switch = ["", "true", "false", "yes", "no", "none", "null", "on", "off"]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word));
    let is_number = value.len() <= 6 && value.chars().all(|c| c.is_ascii_digit());
    let is_path = ["/", "~/", "./", "../"].iter().any(|start| value.starts_with(start));
    is_switch || is_number || is_path || value.contains("${")
}

/// Whether an address, of a database perhaps, names a user with a password.
fn holds_user(value: &str) -> bool {
    let rest = value.split_once("://").map(|(_, rest)| rest).unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user).unwrap_or_default();
    user.split_once(':').is_some_and(|(_, password)| !password.is_empty() && !password.contains("${"))
}
