//! Kedi: `> mcp:` directives, each with fields indented below it; a value in backticks is Python. What Python only knows
//! when it runs is not carried over, but for `os.getenv`.

use super::super::dialect::{Dialect, Meaning, Syntax, Untyped};
use super::super::foreign::{Foreign, Found};
use super::super::tree::{Member, NOWHERE, Node, Tree, Unread, read_json, text_of};
use super::super::words::{named_after_address, of_words};
use super::{Format, Language, never};
use crate::config::Place;

pub(super) static FORMAT: Format = Format {
    name: "kedi",
    title: "Kedi",
    own: &[],
    companions: &[],
    paths: &["**/*.kedi"],
    looks_so: never,
    languages: &[Language::Kedi],
    read,
    remove: None,
};

static DIALECT: Dialect = Dialect {
    fields: &[("name", Meaning::Nothing)],
    references: &[Syntax::Own],
    untyped: Untyped::Http,
    is_readme: false,
};

/// What stands in the tree for Python that can't be read.
const PYTHON: &str = "`";

/// The directives of a file, in its order.
pub(super) fn tree(bytes: &[u8]) -> Result<Tree, Unread> {
    let text = text_of(bytes)?;
    let mut directives: Vec<Tree> = Vec::new();
    let mut open: Option<usize> = None;
    for (index, line) in text.lines().enumerate() {
        let indentation = line.len() - line.trim_start().len();
        let written = line.trim();
        let place = |column: usize| Place { line: index + 1, column: column + 1 };
        if written.is_empty() || written.starts_with('#') {
            continue;
        }
        if written.strip_prefix('>').is_some_and(|rest| rest.trim() == "mcp:") {
            directives.push(Tree { node: Node::Table(Vec::new()), place: place(indentation) });
            open = Some(indentation);
            continue;
        }
        if open.is_none_or(|outer| indentation <= outer) {
            open = None;
            continue;
        }
        let field = written.split_once(':').filter(|(key, _)| !key.is_empty() && !key.contains(' '));
        let Some((key, value)) = field else {
            return Err(Unread::at(
                place(indentation),
                "a field of `> mcp:` was expected, as in `command: uv`",
            ));
        };
        let begins = place(indentation + key.len() + 1);
        let value = Tree { node: self::value(value.trim()), place: begins };
        if let Some(Tree { node: Node::Table(members), .. }) = directives.last_mut() {
            members.push(Member { key: key.to_owned(), place: place(indentation), value });
        }
    }
    Ok(Tree { node: Node::List(directives), place: Place { line: 1, column: 1 } })
}

fn value(written: &str) -> Node {
    let Some(python) = written.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) else {
        return Node::Text(written.to_owned());
    };
    let python = python.trim();
    if let Some(variable) = variable(python) {
        return Node::Text(variable);
    }
    // A list or a dictionary of strings is JSON, once its quotes are.
    let json = if python.contains('"') { python.to_owned() } else { python.replace('\'', "\"") };
    match read_json(json.as_bytes()) {
        Ok(tree) if !matches!(tree.node, Node::Null) => tree.node,
        _ => {
            let value = Tree { node: Node::Null, place: NOWHERE };
            Node::Table(vec![Member { key: PYTHON.to_owned(), place: NOWHERE, value }])
        }
    }
}

/// `os.getenv("NAME")`, `os.getenv("NAME", "default")` and `os.environ["NAME"]` as a reference.
fn variable(python: &str) -> Option<String> {
    let inner = python
        .strip_prefix("os.getenv(")
        .or_else(|| python.strip_prefix("os.environ.get("))
        .and_then(|rest| rest.strip_suffix(')'))
        .or_else(|| python.strip_prefix("os.environ[").and_then(|rest| rest.strip_suffix(']')))?;
    let words: Vec<&str> = inner.split(',').map(str::trim).collect();
    let unquoted = |word: &str| {
        let quote = word.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let inner = word.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains([quote, '\\', '}', '$'])).then(|| inner.to_owned())
    };
    match words.as_slice() {
        [name] => Some(format!("${{env:{}}}", unquoted(name)?)),
        [name, default] => Some(format!("${{env:{}:-{}}}", unquoted(name)?, unquoted(default)?)),
        _ => None,
    }
}

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    let mut found = Found::default();
    for directive in tree.items() {
        directive.refuse_twice()?;
        let mut entry = directive.clone();
        let mut dynamic = Vec::new();
        if let Node::Table(members) = &mut entry.node {
            members.retain(|member| {
                let is_python = member.value.get(PYTHON).is_some();
                if is_python {
                    dynamic.push((member.place, member.key.clone()));
                }
                !is_python
            });
        }
        let name = entry.get("name").and_then(Tree::text).map_or_else(|| name_of(&entry), str::to_owned);
        let member = Member { key: name, place: directive.place, value: entry };
        let mut foreign = Foreign::new(&member, &[], &DIALECT)?;
        for (place, key) in dynamic {
            foreign.remark(place, format!("`{key}` is left away: it is Python, which only Kedi can run"));
        }
        found.servers.push(foreign);
    }
    if found.servers.is_empty() {
        return Err(Unread::at(tree.place, "there is no `> mcp:` in it"));
    }
    Ok(found)
}

/// A name for a directive without one: after what runs.
fn name_of(entry: &Tree) -> String {
    if let Some(address) = entry.get("url").and_then(Tree::text) {
        return named_after_address(address);
    }
    let program = entry.get("command").and_then(Tree::text).unwrap_or("server");
    let arguments = entry.get("args").map(Tree::texts).unwrap_or_default();
    let words: Vec<String> = std::iter::once(program).chain(arguments).map(str::to_owned).collect();
    of_words(&words).map_or_else(|| "server".to_owned(), |(_, name)| name)
}
