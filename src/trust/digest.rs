//! The digest of a declaration: what an approval is given to. Pure.
//!
//! A declaration becomes one canonical value after the layers, with its references unresolved and its paths as they
//! are written. How the file is laid out, and in which order tables and sets are written, makes no difference; every
//! word that says what the server is, may use or may receive does.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use squire_strategies::{Text, compact_json, is_masked, masked_text};

use crate::config::{Declaration, Located};
use crate::declared;
use crate::files::hexadecimal;

/// Stands before the canonical value in what is hashed: another meaning of it would be another algorithm.
const ALGORITHM: &str = "squire-declaration-v1\n";

/// The digest of a canonical value, 64 hexadecimal digits.
pub fn digest(canonical: &impl Serialize) -> String {
    let text = compact_json(canonical);
    hexadecimal(&Sha256::new().chain_update(ALGORITHM).chain_update(text).finalize())
}

/// The canonical value of a declaration: the name and the fields that are written. Whether it is switched off or on, and
/// its tier, are not part of what the server is.
///
/// Every launch and every gateway asks for digests, so it is written as it is, without a value of JSON in between.
#[derive(Clone, Copy)]
pub struct Canonical<'a>(pub &'a Declaration);

impl Canonical<'_> {
    /// The value itself, as an approval keeps it.
    pub fn fields(&self) -> Map<String, Value> {
        match json!(self) {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // All fields by name, so that a new one is not forgotten.
        let Declaration {
            name,
            origin: _,
            transport,
            command,
            args,
            env,
            inherit_env,
            cwd,
            url,
            headers,
            auth,
            client_cert,
            client_key,
            ca,
            timeout,
            startup_timeout,
            result_limit,
            description,
            disabled: _,
            remove: _,
            tools,
            grants,
            route,
            trust: _,
            max_restarts,
            sampling,
            audit,
            spill,
            pin,
        } = self.0;
        let mut fields = Fields(serializer.serialize_map(None)?);
        fields.0.serialize_entry("name", name.as_str())?;
        fields.add("transport", transport.as_ref(), declared::choice)?;
        // One command line, however it is divided.
        let args = args.iter().flat_map(|args| &args.value);
        fields.add("command", command.as_ref(), |words| -> Vec<_> {
            words.iter().chain(args).map(masked_text).collect()
        })?;
        fields.add("env", env.as_ref(), |pairs| table(pairs))?;
        fields.add("inherit_env", inherit_env.as_ref(), |names| set(names))?;
        fields.add("cwd", cwd.as_ref(), Text::written)?;
        fields.add("url", url.as_ref(), Text::written)?;
        fields.add("headers", headers.as_ref(), |pairs| table(pairs))?;
        fields.add("auth", auth.as_ref(), |auth| sorted(declared::authorization(auth)))?;
        fields.add("client_cert", client_cert.as_ref(), Text::written)?;
        fields.add("client_key", client_key.as_ref(), Text::written)?;
        fields.add("ca", ca.as_ref(), Text::written)?;
        fields.add("timeout", timeout.as_ref(), |timeout| declared::duration(*timeout))?;
        fields.add("startup_timeout", startup_timeout.as_ref(), |timeout| declared::duration(*timeout))?;
        fields.add("result_limit", result_limit.as_ref(), |limit| declared::size(*limit))?;
        fields.add("description", description.as_ref(), |words| words)?;
        fields.add("tools", tools.as_ref(), |tools| sets(declared::filter(tools)))?;
        fields.add("grants", grants.as_ref(), |grants| sets(declared::ceiling(grants)))?;
        fields.add("route", route.as_ref(), |route| route.as_str())?;
        fields.add("max_restarts", max_restarts.as_ref(), |count| count)?;
        fields.add("sampling", sampling.as_ref(), |is| is)?;
        fields.add("audit", audit.as_ref(), |word| word)?;
        fields.add("spill", spill.as_ref(), |is| is)?;
        fields.add("pin", pin.as_ref(), |word| word)?;
        if let Some(hidden) = hidden(self.0) {
            fields.0.serialize_entry("credentials", &hidden)?;
        }
        fields.0.end()
    }
}

struct Fields<M>(M);

impl<M: SerializeMap> Fields<M> {
    fn add<'a, T, V: Serialize>(
        &mut self,
        field: &'static str,
        located: Option<&'a Located<T>>,
        value: impl FnOnce(&'a T) -> V,
    ) -> Result<(), M::Error> {
        match located {
            Some(located) => self.0.serialize_entry(field, &value(&located.value)),
            None => Ok(()),
        }
    }
}

/// A table by its names.
fn table(pairs: &[(String, Text)]) -> BTreeMap<&str, Cow<'_, str>> {
    pairs.iter().map(|(name, value)| (name.as_str(), masked_text(value))).collect()
}

/// A set by its words.
fn set(words: &[String]) -> Vec<&String> {
    let mut words: Vec<&String> = words.iter().collect();
    words.sort_by_cached_key(compact_json);
    words.dedup();
    words
}

/// A table of sets.
fn sets(table: Value) -> Value {
    match table {
        Value::Object(sets) => {
            sorted(sets.into_iter().map(|(name, set)| (name, sorted(set))).collect::<Map<_, _>>().into())
        }
        other => other,
    }
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
    use crate::config::{Auth, Choice, Filter, Grants, Kind, LayerKind, Origin, Place, read};
    use proptest::collection::vec;
    use proptest::option::of as maybe;
    use proptest::prelude::*;
    use squire_strategies::{Name, Route};
    use std::path::Path;
    use std::time::Duration;

    fn of(text: &str) -> String {
        let (declarations, problems) = read(text.as_bytes(), Path::new("F"), LayerKind::User);
        assert!(problems.is_empty(), "{problems:?}");
        digest(&Canonical(&declarations.servers[0]))
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

    /// The canonical value, made of the fields as they are shown: another way to the same.
    fn by_value(declaration: &Declaration) -> Map<String, Value> {
        let mut fields = Map::from_iter([("name".to_owned(), Value::from(declaration.name.as_str()))]);
        for written in declared::written(declaration) {
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

    fn texts() -> impl Strategy<Value = Text> {
        let written = "([a-z!\"\\\\ é]|\\$|\\$\\$\\{|\\$\\{env:A:-b\\}|ghp_16C7e42F292c6912E7){0,4}";
        written.prop_filter_map("no text", |written| Text::parse(&written).ok())
    }

    fn words() -> impl Strategy<Value = Vec<String>> {
        vec("[ab!\"é]{0,2}", 0..4)
    }

    fn pairs() -> impl Strategy<Value = Vec<(String, Text)>> {
        vec(("[ab!\"]{0,2}", texts()), 0..4)
    }

    fn transports() -> impl Strategy<Value = Choice> {
        prop_oneof![Just(Choice::Fixed(Kind::Sse)), texts().prop_map(Choice::Dynamic)]
    }

    prop_compose! {
        fn filters()(allow in maybe(words()), deny in words()) -> Filter {
            Filter { allow, deny }
        }
    }

    prop_compose! {
        fn ceilings()(
            (network, filesystem) in (maybe(any::<bool>()), maybe(any::<bool>())), secrets in maybe(words()),
        ) -> Grants {
            Grants { network, filesystem, secrets }
        }
    }

    prop_compose! {
        fn authorizations()(
            header in "[a!\"]{0,2}", bearer in any::<bool>(), secret in "[ab]{0,2}",
        ) -> Auth {
            Auth { header, bearer, secret }
        }
    }

    fn origin() -> Origin {
        let place = Place { line: 1, column: 1 };
        Origin { layer: LayerKind::User, path: Path::new("F").into(), place }
    }

    fn at<T>(value: Option<T>) -> Option<Located<T>> {
        value.map(|value| Located { value, origin: origin() })
    }

    prop_compose! {
        fn declarations()(
            (transport, command, args) in
                (maybe(transports()), maybe(vec(texts(), 0..3)), maybe(vec(texts(), 0..3))),
            (env, headers, inherit_env) in (maybe(pairs()), maybe(pairs()), maybe(words())),
            (cwd, auth, tools, grants) in
                (maybe(texts()), maybe(authorizations()), maybe(filters()), maybe(ceilings())),
            timeout in maybe(0..100_000_u64),
            result_limit in maybe(prop_oneof![any::<u64>(), Just(2 << 20), Just(1 << 10)]),
            (word, is, max_restarts) in
                (maybe("[a\"é]{0,2}"), maybe(any::<bool>()), maybe(any::<u32>())),
        ) -> Declaration {
            Declaration {
                transport: at(transport),
                command: at(command),
                args: at(args),
                env: at(env),
                inherit_env: at(inherit_env),
                url: at(cwd.clone()),
                client_cert: at(cwd.clone()),
                client_key: at(cwd.clone()),
                ca: at(cwd.clone()),
                cwd: at(cwd),
                headers: at(headers),
                auth: at(auth),
                startup_timeout: at(timeout.map(Duration::from_millis)),
                timeout: at(timeout.map(Duration::from_millis)),
                result_limit: at(result_limit),
                max_restarts: at(max_restarts),
                tools: at(tools),
                grants: at(grants),
                description: at(word.clone()),
                audit: at(word.clone()),
                pin: at(word),
                disabled: at(is),
                remove: at(is),
                sampling: at(is),
                spill: at(is),
                route: at(is.map(|_| Route::Direct)),
                ..Declaration::new(Name::squire(), origin())
            }
        }
    }

    proptest! {
        /// What is approved once stays approved: not a byte of what is hashed may change.
        #[test]
        fn b34_what_is_written_is_the_value_of_the_fields_as_they_are_shown(declaration in declarations()) {
            let expected = by_value(&declaration);
            prop_assert_eq!(compact_json(&Canonical(&declaration)), compact_json(&expected));
            prop_assert_eq!(Canonical(&declaration).fields(), expected);
        }
    }
}
