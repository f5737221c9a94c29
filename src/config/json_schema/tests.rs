//! The schema and the reader, held to one another.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::prelude::*;
use squire_strategies::ResolvedServer;
use toml::de::{DeTable, DeValue};

use super::super::{LayerKind, read};
use super::*;

static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&json_schema()).unwrap());

fn as_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => number.as_str().parse::<i64>().unwrap().into(),
        DeValue::Float(number) => number.as_str().parse::<f64>().unwrap().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(values) => values.iter().map(|value| as_json(value.get_ref())).collect(),
        DeValue::Table(table) => table_as_json(table),
    }
}

pub(crate) fn table_as_json(table: &DeTable<'_>) -> Value {
    let entries = table.iter().map(|(key, value)| (key.get_ref().to_string(), as_json(value.get_ref())));
    Value::Object(entries.collect())
}

fn wrong(text: &str) -> Vec<String> {
    let document = DeTable::parse(text.trim_start_matches('\u{feff}')).unwrap();
    let document = table_as_json(document.get_ref());
    VALIDATOR.iter_errors(&document).map(|error| error.to_string()).collect()
}

fn is_read(text: &str) -> bool {
    read(text.as_bytes(), Path::new("F"), LayerKind::User).1.is_empty()
}

/// For every declaration that a test of the reader sees accepted.
pub(in super::super) fn assert_valid(text: &str) {
    assert_eq!(wrong(text), Vec::<String>::new(), "in\n{text}");
}

#[test]
fn the_schema_is_one() {
    jsonschema::meta::validate(&json_schema()).unwrap();
}

#[test]
fn every_golden_declaration_is_valid() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files: Vec<PathBuf> = golden
        .read_dir()
        .unwrap()
        .flat_map(|case| ["squire.toml", "project.toml"].map(|name| case.as_ref().unwrap().path().join(name)))
        .filter(|file| file.exists())
        .collect();
    assert!(files.len() > 10);
    for file in files {
        #[expect(clippy::disallowed_methods, reason = "a test may read its files")]
        assert_valid(&std::fs::read_to_string(file).unwrap());
    }
}

#[test]
fn what_is_wrong_is_found() {
    for bad in [
        // Names of keys, and what this version refuses.
        "[server.a]\ncommand = 'a'",
        "[servers.a]\ncomand = 'a'",
        "[profiles.p]\nserver = []",
        "[profiles.p]\nstrict = 'yes'",
        "[policy]\ntransport = ['stdio']",
        "[policy]\ntransports = ['websocket']",
        "[policy]\nrewrite_urls = [{ from = 'x' }]",
        "[policy]\nresult_limit = '1 furlong'",
        "[policy]\nmax_project_servers = -1",
        "[agents.codex]\nprofiles = 'x'",
        "[agents.mine]\nstrategy = 'emacs'\nprogram = ['x']",
        "[agents.mine]\nstrategy = 'claude'\nprogram = []",
        "[servers.a]\nurl = 'https://h/'\nauth = { type = 'oauth' }",
        "[servers.a]\nurl = 'https://h/'\nauth = { type = 'bearer' }",
        "[servers.a]\ncommand = 'a'\nsampling = true",
        "[servers.a]\ncommand = 'a'\nmax_restarts = 1.5",
        "[servers.a]\ncommand = 'a'\npin = 'maybe'",
        "[servers.a]\ncommand = 'a'\ntools = { only = ['x'] }",
        "[servers.a]\ncommand = 'a'\ngrants = { network = 'no' }",
        // Types.
        "servers = 1",
        "[servers]\na = 'x'",
        "[servers.a]\ncommand = 1",
        "[servers.a]\ncommand = ['a', 1]",
        "[servers.a]\ncommand = 'a'\nargs = 'x'",
        "[servers.a]\ncommand = 'a'\nenv = ['A']",
        "[servers.a]\ncommand = 'a'\nenv = { A = 1 }",
        "[servers.a]\ncommand = 'a'\ndisabled = 'yes'",
        "[servers.a]\ncommand = 'a'\ntimeout = 30",
        "[servers.a]\nurl = 1",
        "[profiles.p]\nservers = 'a'",
        // Values.
        "[servers.a]\ncommand = ''",
        "[servers.a]\ncommand = []",
        "[servers.a]\ncommand = ['', 'x']",
        "[servers.a]\ncommand = \"a\\u0000\"",
        "[servers.a]\ncommand = 'a'\nargs = ['${HOME}']",
        "[servers.a]\ncommand = 'a'\nargs = ['${env:A']",
        "[servers.a]\ncommand = 'a'\nargs = ['${env:A:-${env:B}}']",
        "[servers.a]\ncommand = 'a'\nargs = ['${secret:a:-b}']",
        "[servers.a]\ncommand = 'a'\nenv = { 'A=B' = 'x' }",
        "[servers.a]\ncommand = 'a'\ninherit_env = ['A B']",
        "[servers.a]\ncommand = 'a'\ntimeout = '30'",
        "[servers.a]\ncommand = 'a'\ntimeout = '0s'",
        "[servers.a]\ncommand = 'a'\ntimeout = 'soon'",
        "[servers.a]\ncommand = 'a'\nroute = 'sideways'",
        "[servers.a]\ntransport = 'websocket'\nurl = 'https://h/'",
        "[servers.a]\nurl = 'ftp://h/mcp'",
        "[servers.a]\nurl = 'https:///mcp'",
        "[servers.a]\nurl = 'https://h/a b'",
        "[servers.a]\nurl = 'https://h/'\nheaders = { 'X Y' = '1' }",
        "[servers.a]\nurl = 'https://h/'\nheaders = { A = \"a\\nb\" }",
        // Names of servers and profiles.
        "[servers.'acme.search']\ncommand = 'a'",
        "[servers.a__b]\ncommand = 'a'",
        "[servers.1st]\ncommand = 'a'",
        "[servers.a-]\ncommand = 'a'",
        "[servers.Codex-Apps]\ncommand = 'a'",
        "[servers.squire]\ncommand = 'a'",
        "[profiles.'a b']",
        "[profiles.-p]",
    ] {
        assert!(!is_read(bad), "the reader takes\n{bad}");
        assert!(!wrong(bad).is_empty(), "the schema takes\n{bad}");
    }
}

#[test]
fn defaults_are_those_of_the_code() {
    let default = |key: &str| {
        let schema = json_schema();
        let written = schema["$defs"]["server"]["properties"][key]["default"].as_str().unwrap().to_owned();
        humantime::parse_duration(&written).unwrap()
    };
    assert_eq!(default("timeout"), ResolvedServer::TIMEOUT);
    assert_eq!(default("startup_timeout"), ResolvedServer::STARTUP_TIMEOUT);
}

/// A title and a description for everything that an editor offers, and examples that are valid themselves.
#[test]
fn every_field_is_told() {
    let schema = json_schema();
    let tables =
        ["", "/$defs/server", "/$defs/builtin", "/$defs/profile", "/$defs/agent", "/properties/policy"];
    for (table, (key, field)) in tables.iter().flat_map(|table| {
        let properties = schema.pointer(&format!("{table}/properties")).unwrap().as_object().unwrap();
        properties.iter().map(move |entry| (table, entry))
    }) {
        for told in ["title", "description"] {
            assert!(!field[told].as_str().unwrap().is_empty(), "{table} {key} has no {told}");
        }
        let mut alone = field.clone();
        alone["$defs"] = schema["$defs"].clone();
        let validator = jsonschema::draft202012::new(&alone).unwrap();
        for value in field["examples"].as_array().into_iter().flatten().chain(field.get("default")) {
            assert!(validator.is_valid(value), "{table} {key}: {value}");
        }
    }
}

fn word_of(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..8).prop_map(|pieces| pieces.concat())
}

/// One value in the place of `<>`, which stands for a string of TOML.
fn agree(template: &str, word: &str) -> Result<(), TestCaseError> {
    let text = template.replace("<>", &Value::from(word).to_string());
    prop_assert_eq!(is_read(&text), wrong(&text).is_empty(), "{}", text);
    Ok(())
}

proptest! {
    #[test]
    fn reader_and_schema_agree_on_references(word in word_of(&[
        "$", "{", "}", "${", "${env:A", "${env:A:-", "${secret:a", "env:", "A", "-b", "1", ":", ".", "\n", "é", "\0",
    ])) {
        agree("[servers.a]\ncwd = <>\n", &word)?;
        agree("[servers.a]\ncommand = <>\n", &word)?;
        agree("[servers.a]\ncommand = ['x', <>]\n", &word)?;
        agree("[servers.a]\nheaders = { A = <> }\n", &word)?;
        agree("[servers.a]\nenv = { <> = 'x' }\n", &word)?;
        agree("[servers.a]\ntransport = <>\n", &word)?;
    }

    #[test]
    fn reader_and_schema_agree_on_addresses(word in word_of(&[
        "http", "HTTPS", "ftp", "://", "h", "/", "?", ":", "#", " ", "\u{85}", "\u{a0}", "$", "$${", "${env:X}",
    ])) {
        agree("[servers.a]\nurl = <>\n", &word)?;
    }

    #[test]
    fn reader_and_schema_agree_on_names(word in word_of(&[
        "a", "B", "1", "-", "_", ".", " ", "é", "squire", "Computer", "use", "workspace", "abcdefghijklmnop",
    ])) {
        agree("[servers.<>]\n", &word)?;
        agree("[profiles.<>]\n", &word)?;
        agree("[servers.a]\ninherit_env = [<>]\n", &word)?;
        agree("[servers.a]\nheaders = { <> = 'x' }\n", &word)?;
    }

    /// A schema does not count: the longest and the finest times are the reader's to refuse.
    #[test]
    fn the_schema_takes_every_duration_of_the_reader(word in word_of(&[
        "0", "1", "5", " ", ".", "s", "ms", "min", "h", "d", "weeks", "µs", "x", "-", "M",
    ])) {
        let text = format!("[servers.a]\ntimeout = {}\n", Value::from(word));
        prop_assert!(!is_read(&text) || wrong(&text).is_empty(), "{}", text);
    }
}
