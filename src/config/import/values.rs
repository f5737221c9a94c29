//! What a field wants, or the sentence that says so.

use squire_strategies::Text;

use super::tree::{Member, Node, Tree};

pub(super) fn string_of<'a>(key: &str, value: &'a Tree) -> Result<&'a str, String> {
    value.text().ok_or_else(|| format!("`{key}` wants a string"))
}

pub(super) fn variable_of(key: &str, value: &Tree) -> Result<String, String> {
    let name = value.text().filter(|name| Text::is_variable(name));
    name.map(str::to_owned).ok_or_else(|| format!("`{key}` wants the name of an environment variable"))
}

pub(super) fn flag_of(key: &str, value: &Tree) -> Result<bool, String> {
    value.flag().ok_or_else(|| format!("`{key}` wants `true` or `false`"))
}

/// A string, or what other tools take for one.
pub(super) fn scalar_of(key: &str, value: &Tree) -> Result<String, String> {
    match &value.node {
        Node::Text(text) | Node::Number(text) => Ok(text.clone()),
        Node::Flag(flag) => Ok(flag.to_string()),
        Node::Null | Node::List(_) | Node::Table(_) => Err(format!("`{key}` wants a string")),
    }
}

pub(super) fn table_of<'a>(key: &str, value: &'a Tree, what: &str) -> Result<&'a [Member], String> {
    match &value.node {
        Node::Table(members) => Ok(members),
        // As good as not written.
        Node::Null => Ok(&[]),
        Node::Flag(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => {
            Err(format!("`{key}` wants an object of {what}"))
        }
    }
}

pub(super) fn list_of<'a>(key: &str, value: &'a Tree, what: &str) -> Result<&'a [Tree], String> {
    match &value.node {
        Node::List(items) => Ok(items),
        Node::Null => Ok(&[]),
        Node::Flag(_) | Node::Number(_) | Node::Text(_) | Node::Table(_) => {
            Err(format!("`{key}` wants an array of {what}"))
        }
    }
}

pub(super) fn strings_of<'a>(key: &str, value: &'a Tree) -> Result<Vec<&'a str>, String> {
    list_of(key, value, "strings")?
        .iter()
        .map(|item| item.text().ok_or_else(|| format!("`{key}` wants an array of strings")))
        .collect()
}
