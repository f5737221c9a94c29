//! The digest of a declaration: what an approval is given to. Pure.
//!
//! A declaration becomes one canonical value after the layers, with its references unresolved and its paths as they
//! are written. How the file is laid out, and in which order tables and sets are written, makes no difference; every
//! word that says what the server is, may use or may receive does.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use squire_strategies::{compact_json, is_masked};

use crate::config::Declaration;
use crate::declared::written;
use crate::files::hexadecimal;

/// Stands before the canonical value in what is hashed: another meaning of it would be another algorithm.
const ALGORITHM: &str = "squire-declaration-v1\n";

/// The digest of a declaration, 64 hexadecimal digits.
pub fn digest(canonical: &Map<String, Value>) -> String {
    let text = compact_json(canonical);
    hexadecimal(&Sha256::new().chain_update(ALGORITHM).chain_update(text).finalize())
}

/// The canonical value: the name and the fields that are written. Whether it is switched off or on, and its tier, are
/// not part of what the server is.
pub fn canonical(declaration: &Declaration) -> Map<String, Value> {
    let mut fields = Map::from_iter([("name".to_owned(), Value::from(declaration.name.as_str()))]);
    for written in written(declaration) {
        match (written.field, written.value) {
            ("disabled" | "remove" | "trust", _) => {}
            // One command line, however it is divided.
            ("args", Value::Array(more)) => {
                if let Some(Value::Array(words)) = fields.get_mut("command") {
                    words.extend(more);
                }
            }
            ("command", Value::String(program)) => {
                fields.insert("command".into(), vec![program].into());
            }
            ("inherit_env", names) => {
                fields.insert("inherit_env".into(), sorted(names));
            }
            (field @ ("tools" | "grants"), Value::Object(sets)) => {
                let sets: Map<String, Value> =
                    sets.into_iter().map(|(name, set)| (name, sorted(set))).collect();
                fields.insert(field.into(), sorted(sets.into()));
            }
            (field, value @ Value::Object(_)) => {
                fields.insert(field.into(), sorted(value));
            }
            (field, value) => {
                fields.insert(field.into(), value);
            }
        }
    }
    if let Some(hidden) = hidden(declaration) {
        fields.insert("credentials".into(), hidden.into());
    }
    fields
}

/// The digest of what is masked in the canonical value, as an approval keeps that and shows it: another token in clear
/// is another declaration too.
fn hidden(declaration: &Declaration) -> Option<String> {
    let Declaration { command, args, env, headers, .. } = declaration;
    let words = [command, args].into_iter().flatten().flat_map(|words| &words.value);
    let values = [env, headers].into_iter().flatten().flat_map(|pairs| &pairs.value).map(|(_, value)| value);
    let hidden: Vec<String> =
        words.chain(values).filter(|text| is_masked(text)).map(ToString::to_string).collect();
    (!hidden.is_empty()).then(|| hexadecimal(&Sha256::digest(hidden.join("\0"))))
}

/// A table by its names, a set by its words; anything else as it is.
pub(super) fn sorted(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let mut pairs: Vec<(String, Value)> = table.into_iter().collect();
            pairs.sort_by(|one, other| one.0.cmp(&other.0));
            pairs.into_iter().collect::<Map<_, _>>().into()
        }
        Value::Array(mut words) => {
            words.sort_by_key(Value::to_string);
            words.dedup();
            words.into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LayerKind, read};
    use std::path::Path;

    fn of(text: &str) -> String {
        let (declarations, problems) = read(text.as_bytes(), Path::new("F"), LayerKind::User);
        assert!(problems.is_empty(), "{problems:?}");
        digest(&canonical(&declarations.servers[0]))
    }

    #[test]
    fn b34_layout_makes_no_difference() {
        let one = of(
            "[servers.a]\ncommand = [\"a\", \"b\"]\nenv = { B = \"2\", A = \"1\" }\ninherit_env = [\"Y\", \"X\"]\n",
        );
        let other = of(
            "# a comment\n[servers.a]\ninherit_env = ['X', 'Y', 'X']\nargs = [\n  \"b\",\n]\ncommand = 'a'\n[servers.a.env]\nA = '1'\nB = '2'\n",
        );
        assert_eq!(one, other);
        assert_eq!(
            one,
            of(
                "[servers.a]\ncommand = \"a\"\nargs = [\"b\"]\ndisabled = true\ntrust = \"community\"\nenv = { A = \"1\", B = \"2\" }\ninherit_env = [\"X\", \"Y\"]\n"
            )
        );
    }

    /// Each line changes one field of the same declaration, and none two the same way.
    #[test]
    fn b34_every_field_makes_a_difference() {
        let program = "[servers.a]\ncommand = [\"a\", \"b\"]\n";
        let remote = "[servers.a]\nurl = \"https://h/\"\n";
        let variants = [
            program.to_owned(),
            "[servers.b]\ncommand = [\"a\", \"b\"]\n".into(),
            "[servers.a]\ncommand = [\"a\"]\n".into(),
            "[servers.a]\ncommand = [\"b\", \"a\"]\n".into(),
            "[servers.a]\ncommand = [\"a\", \"b\", \"\"]\n".into(),
            "[servers.a]\ncommand = [\"a b\"]\n".into(),
            format!("{program}env = {{ A = \"1\" }}\n"),
            format!("{program}env = {{ A = \"2\" }}\n"),
            format!("{program}env = {{ A = \"${{env:A}}\" }}\n"),
            format!("{program}env = {{ A = \"$${{env:A}}\" }}\n"),
            format!("{program}env = {{ A = \"${{secret:A}}\" }}\n"),
            format!("{program}env = {{ B = \"1\" }}\n"),
            format!("{program}env = {{ TOKEN = \"ghp_{}\" }}\n", "a1B2".repeat(9)),
            format!("{program}env = {{ TOKEN = \"ghp_{}\" }}\n", "a1B3".repeat(9)),
            format!("[servers.a]\ncommand = [\"a\", \"--token=ghp_{}\"]\n", "a1B2".repeat(9)),
            format!("[servers.a]\ncommand = [\"a\", \"--token=ghp_{}\"]\n", "a1B3".repeat(9)),
            format!("{program}inherit_env = [\"A\"]\n"),
            format!("{program}cwd = \"~/a\"\n"),
            format!("{program}timeout = \"1s\"\n"),
            format!("{program}startup_timeout = \"1s\"\n"),
            format!("{program}result_limit = 1\n"),
            format!("{program}description = \"a\"\n"),
            format!("{program}tools = {{ allow = [\"a\"] }}\n"),
            format!("{program}tools = {{ deny = [\"a\"] }}\n"),
            format!("{program}grants = {{ network = true }}\n"),
            format!("{program}grants = {{ filesystem = true }}\n"),
            format!("{program}max_restarts = 1\n"),
            format!("{program}sampling = false\n"),
            format!("{program}audit = \"off\"\n"),
            format!("{program}spill = false\n"),
            format!("{program}pin = \"off\"\n"),
            format!("{program}transport = \"stdio\"\n"),
            format!("{program}route = \"gateway\"\n"),
            remote.to_owned(),
            "[servers.a]\nurl = \"https://g/\"\n".into(),
            format!("{remote}transport = \"sse\"\n"),
            format!("{remote}headers = {{ A = \"b\" }}\n"),
            format!("{remote}headers = {{ A = \"c\" }}\n"),
            format!("{remote}auth = {{ type = \"bearer\", secret = \"s\" }}\n"),
            format!("{remote}auth = {{ type = \"header\", secret = \"s\" }}\n"),
            format!("{remote}auth = {{ type = \"bearer\", secret = \"t\" }}\n"),
            format!("{remote}client_cert = \"/c\"\n"),
            format!("{remote}client_key = \"/c\"\n"),
            format!("{remote}ca = \"/c\"\n"),
            format!("{remote}route = \"direct\"\n"),
        ];
        let digests: std::collections::BTreeSet<String> = variants.iter().map(|text| of(text)).collect();
        assert_eq!(digests.len(), variants.len());
    }
}
