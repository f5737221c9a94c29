//! Pieces of TOML as squire writes them: on one line, and with nothing in them that acts on a terminal.

use squire_strategies::{toml_key, toml_string};
use toml_edit::{InlineTable, Item, Table, Value};

/// A key.
pub(super) fn key(key: &str) -> String {
    toml_key(key)
}

/// A value.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(string) => toml_string(string.value()),
        Value::Array(array) => {
            let values: Vec<String> = array.iter().map(self::value).collect();
            format!("[{}]", values.join(", "))
        }
        Value::InlineTable(table) => inline(table),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {
            value.clone().decorated("", "").to_string()
        }
    }
}

fn inline(table: &InlineTable) -> String {
    let pairs: Vec<String> =
        table.iter().map(|(key, value)| format!("{} = {}", toml_key(key), self::value(value))).collect();
    if pairs.is_empty() { "{}".into() } else { format!("{{ {} }}", pairs.join(", ")) }
}

/// The keys of a table with their values.
pub(super) fn pairs(table: &Table) -> impl Iterator<Item = (&str, Value)> {
    table.iter().filter_map(|(key, item)| {
        let value: Option<Value> = match item {
            Item::Value(value) => Some(value.clone()),
            Item::Table(table) => Some(table.clone().into_inline_table().into()),
            Item::ArrayOfTables(tables) => Some(tables.clone().into_array().into()),
            Item::None => None,
        };
        value.map(|value| (key, value))
    })
}
