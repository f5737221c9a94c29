//! The JSON Schema of a `secrets.toml`, for editors. It says what the reader says, as far as a schema can, and keeps the
//! rules of that of `squire.toml`. That a name is written twice, or that a field is misspelt, the reader alone says.

use serde_json::{Map, Value, json};

use super::sources::FIELDS;
use crate::config::{STRING, VARIABLE_NAME};

/// What [`squire_strategies::Text::is_secret`] takes.
const NAME: &str = r"^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$";
/// A whole path, or one below the home directory.
const PATH: &str = r"^~?/[^\x00]*$";
/// A name on PATH, a whole path, or one below the home directory.
const PROGRAM: &str = r"^(?:[^/\x00]+|~?/[^\x00]*)$";

/// The schema, of draft 2020-12.
pub fn json_schema() -> Value {
    let entry = json!({ "$ref": "#/$defs/entry" });
    // A table that has the name of a field is a secret, never a group of further names.
    let fields: Map<String, Value> = FIELDS.iter().map(|field| ((*field).to_owned(), false.into())).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "secrets.toml",
        "description": "Where the values come from that servers need: no agent and no other server gets them.",
        "type": "object",
        "properties": {
            "secrets": {
                "title": "Secrets",
                "description": "A value, its source, or a table of further names, by name: `api_keys.github` is `github` in the table `api_keys`.",
                "type": "object",
                "patternProperties": { NAME: entry },
                "additionalProperties": false,
            },
        },
        "additionalProperties": false,
        "$defs": {
            "entry": {
                "anyOf": [
                    { "$ref": "#/$defs/value" },
                    { "$ref": "#/$defs/secret" },
                    { "$ref": "#/$defs/group" },
                ],
            },
            "value": value(),
            "secret": secret(),
            "group": {
                "title": "Group",
                "description": "Further names: those of its secrets begin with its own and a dot.",
                "type": "object",
                "minProperties": 1,
                "properties": fields,
                "patternProperties": { NAME: entry },
                "additionalProperties": false,
            },
        },
    })
}

fn secret() -> Value {
    let alone = |source: &str| json!({ "required": [source] });
    json!({
        "title": "Secret",
        "description": "One source, and the servers that may have the value.",
        "type": "object",
        "properties": {
            "env": {
                "title": "Variable",
                "description": "The variable of the launch's environment that holds the value.",
                "type": "string",
                "pattern": VARIABLE_NAME,
                "examples": ["GITHUB_TOKEN"],
            },
            "file": {
                "title": "File",
                "description": "The file that holds the value, a whole path or one below ~/; nobody else may read it. One line end behind the value is taken off.",
                "type": "string",
                "pattern": PATH,
                "examples": ["~/.config/github/token"],
            },
            "value": value(),
            "command": {
                "title": "Command",
                "description": "The program that prints the value, and its arguments. It runs without a shell and without input when a server that needs the secret starts.",
                "type": "array",
                "minItems": 1,
                "prefixItems": [{ "type": "string", "pattern": PROGRAM }],
                "items": { "type": "string", "pattern": STRING },
                "examples": [["op", "read", "op://work/github/token"]],
            },
            "inherit_env": {
                "title": "Inherited variables",
                "description": "The variables that the command gets beyond the base environment.",
                "type": "array",
                "items": { "type": "string", "pattern": VARIABLE_NAME },
                "examples": [["OP_SERVICE_ACCOUNT_TOKEN"]],
            },
            "servers": {
                "title": "Servers",
                "description": "The only servers that get the value: your own of these names.",
                "type": "array",
                "items": { "type": "string", "pattern": STRING },
                "examples": [["github"]],
            },
        },
        "additionalProperties": false,
        "oneOf": [alone("env"), alone("file"), alone("value"), alone("command")],
        "dependentRequired": { "inherit_env": ["command"] },
    })
}

fn value() -> Value {
    json!({
        "title": "Value",
        "description": "The value itself. In a file or a command it is in fewer places.",
        "type": "string",
        "minLength": 1,
        "pattern": STRING,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::LazyLock;

    use jsonschema::Validator;
    use proptest::prelude::*;
    use toml::de::DeTable;

    use super::*;
    use crate::config::table_as_json;
    use crate::secrets::sources::read;

    static VALIDATOR: LazyLock<Validator> =
        LazyLock::new(|| jsonschema::draft202012::new(&json_schema()).unwrap());

    fn wrong(text: &str) -> Vec<String> {
        let document = DeTable::parse(text).unwrap();
        let document = table_as_json(document.get_ref());
        VALIDATOR.iter_errors(&document).map(|error| error.to_string()).collect()
    }

    fn is_read(text: &str) -> bool {
        read(text.as_bytes(), Path::new("F")).1.is_empty()
    }

    #[test]
    fn the_schema_is_one() {
        jsonschema::meta::validate(&json_schema()).unwrap();
    }

    #[test]
    fn what_is_right_is_valid() {
        for good in [
            "",
            "[secrets]",
            "[secrets]\na = 'v'\nenv = 'v'\n'a.b' = 'v'\n-_ = 'v'",
            "[secrets.api_keys]\ngithub = { env = 'GITHUB_TOKEN' }\n[secrets.api_keys.deep]\nx = 'v'",
            "[secrets.a]\nfile = '/f'",
            "[secrets.a]\nfile = '~/f'\nservers = ['x', 'y']",
            "[secrets.a]\nvalue = '''\nl1\nl2'''\nservers = []",
            "[secrets.a]\ncommand = ['op', '', 'x/y']\ninherit_env = ['A', '_b']",
            "[secrets.a]\ncommand = ['/bin/x']\ninherit_env = []",
            "[secrets.a]\ncommand = ['~/bin/x']",
        ] {
            assert!(is_read(good), "the reader refuses\n{good}");
            assert_eq!(wrong(good), Vec::<String>::new(), "in\n{good}");
        }
    }

    #[test]
    fn what_is_wrong_is_found() {
        for bad in [
            "secret = 1",
            "secrets = 'x'",
            "[secrets]\na = 1",
            "[secrets]\na = ['x']",
            "[secrets]\na = ''",
            "[secrets]\na = \"x\\u0000\"",
            "[secrets]\n'a b' = 'x'",
            "[secrets]\n'.a' = 'x'",
            "[secrets.a]",
            "[secrets.a.b]",
            "[secrets.a]\nservers = ['x']",
            "[secrets.a]\nenv = 'A'\nfile = '/f'",
            "[secrets.a]\nenv = 'A B'",
            "[secrets.a]\nenv = ['A']",
            "[secrets.a]\nenv = 'A'\nzzz = 'x'",
            "[secrets.a]\nenv = 'A'\ninherit_env = ['B']",
            "[secrets.a]\nfile = 'f'",
            "[secrets.a]\nfile = '~f'",
            "[secrets.a]\nvalue = 1",
            "[secrets.a]\nvalue = ''",
            "[secrets.a]\ncommand = 'op'",
            "[secrets.a]\ncommand = []",
            "[secrets.a]\ncommand = ['']",
            "[secrets.a]\ncommand = ['./op']",
            "[secrets.a]\ncommand = ['op', 1]",
            "[secrets.a]\ncommand = ['op']\ninherit_env = ['A-B']",
            "[secrets.a]\nenv = 'A'\nservers = 'x'",
            "[secrets.a]\nenv = 'A'\nb = { value = 'x' }",
            "[secrets.a.env]\nb = 'x'",
        ] {
            assert!(!is_read(bad), "the reader takes\n{bad}");
            assert!(!wrong(bad).is_empty(), "the schema takes\n{bad}");
        }
    }

    /// A title and a description for everything that an editor offers, and examples that are valid themselves.
    #[test]
    fn every_field_is_told() {
        let schema = json_schema();
        let properties = schema["$defs"]["secret"]["properties"].as_object().unwrap();
        assert_eq!(properties.keys().collect::<Vec<_>>(), FIELDS);
        for (key, field) in properties {
            for told in ["title", "description"] {
                assert!(!field[told].as_str().unwrap().is_empty(), "{key} has no {told}");
            }
            let validator = jsonschema::draft202012::new(field).unwrap();
            for value in field["examples"].as_array().into_iter().flatten() {
                assert!(validator.is_valid(value), "{key}: {value}");
            }
        }
    }

    /// One value in the place of `<>`, which stands for a string of TOML.
    fn agree(template: &str, word: &str) -> Result<(), TestCaseError> {
        let text = template.replace("<>", &Value::from(word).to_string());
        prop_assert_eq!(is_read(&text), wrong(&text).is_empty(), "{}", text);
        Ok(())
    }

    proptest! {
        #[test]
        fn reader_and_schema_agree(pieces in prop::collection::vec(prop::sample::select(vec![
            "a", "B", "1", "-", "_", ".", "/", "~", " ", "é", "\0", "\n",
        ]), 0..6)) {
            let word = pieces.concat();
            agree("[secrets]\n<> = 'v'\n", &word)?;
            agree("[secrets.g]\n<> = { value = 'v' }\n", &word)?;
            agree("[secrets]\na = <>\n", &word)?;
            agree("[secrets.a]\nenv = <>\n", &word)?;
            agree("[secrets.a]\nfile = <>\n", &word)?;
            agree("[secrets.a]\nvalue = <>\n", &word)?;
            agree("[secrets.a]\ncommand = [<>, <>]\n", &word)?;
            agree("[secrets.a]\ncommand = ['x']\ninherit_env = [<>]\n", &word)?;
            agree("[secrets.a]\nenv = 'A'\nservers = [<>]\n", &word)?;
        }
    }
}
