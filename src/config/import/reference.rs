//! References in the syntaxes of other tools (case B23).

use squire_strategies::Text;

use super::dialect::{Dialect, Syntax};

/// A reference in the syntax of another tool.
#[derive(Clone, Copy)]
pub(super) enum Foreign<'a> {
    Variable(&'a str, Option<&'a str>),
    /// `${NAME}` and nothing more.
    Braces(&'a str),
    /// It is one of squire's.
    Own(&'a str),
    /// It always stands for the same.
    Plain(&'a str),
    Workspace,
    /// The last part of the workspace's path.
    WorkspaceName,
    /// What an editor asks for, by its name.
    Input(&'a str),
    /// The content of a file.
    File(&'a str),
    /// What the other tool asks its user for, or knows by itself.
    Asked(&'a str),
}

/// The reference that a text begins with, and what is behind it (case B23).
pub(super) fn reference<'a>(text: &'a str, key: &str, dialect: &Dialect) -> Option<(Foreign<'a>, &'a str)> {
    if let Some(opened) = text.strip_prefix("${") {
        let (inner, behind) = opened.split_once('}')?;
        let whole = text.get(..inner.len() + 3)?;
        return Some((in_braces(inner, whole, dialect)?, behind));
    }
    if dialect.has(Syntax::Curly) {
        if let Some((inner, behind)) = text.strip_prefix("{env:").and_then(|opened| opened.split_once('}')) {
            return Text::is_variable(inner).then_some((Foreign::Variable(inner, None), behind));
        }
        if let Some((inner, behind)) = text.strip_prefix("{file:").and_then(|opened| opened.split_once('}')) {
            return (!inner.is_empty()).then_some((Foreign::File(inner), behind));
        }
    }
    let bare = text.strip_prefix('$')?;
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if dialect.has(Syntax::Bare) {
        let (name, behind) = bare.split_at(bare.len() - bare.trim_start_matches(of_name).len());
        return Text::is_variable(name).then_some((Foreign::Variable(name, None), behind));
    }
    // A program's argument with a dollar sign is no reference to any of the tools that a README may be for.
    if !dialect.has(Syntax::BareInValues) || !matches!(key, "env" | "headers" | "url") {
        return None;
    }
    let length = bare.len()
        - bare.trim_start_matches(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_').len();
    let (name, behind) = bare.split_at(length);
    let is_whole = !behind.starts_with(|c: char| c.is_ascii_alphanumeric());
    (Text::is_variable(name) && is_whole).then_some((Foreign::Variable(name, None), behind))
}

/// None where the other tool takes it for plain text.
fn in_braces<'a>(inner: &'a str, whole: &'a str, dialect: &Dialect) -> Option<Foreign<'a>> {
    if dialect.has(Syntax::Editor) {
        match inner {
            "workspaceFolder" | "workspaceRoot" | "projectRoot" => return Some(Foreign::Workspace),
            "workspaceFolderBasename" => return Some(Foreign::WorkspaceName),
            "userHome" => return Some(Foreign::Variable("HOME", None)),
            "pathSeparator" | "/" => return Some(Foreign::Plain("/")),
            _ => {}
        }
    }
    if dialect.has(Syntax::Own) && Text::parse(whole).is_ok() {
        return Some(Foreign::Own(whole));
    }
    let variable = |named: &'a str| {
        let (name, default) = match named.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (named, None),
        };
        let is_one = Text::is_variable(name) && default.is_none_or(|default| !default.contains("${"));
        is_one.then_some(Foreign::Variable(name, default))
    };
    let named = inner.strip_prefix("env:").filter(|_| dialect.has(Syntax::Named));
    let braces = Some(inner).filter(|_| dialect.has(Syntax::Braces));
    match named.or(braces).and_then(variable) {
        Some(Foreign::Variable(name, None)) if name == inner && !dialect.is_readme => {
            return Some(Foreign::Braces(name));
        }
        None => {}
        found => return found,
    }
    if dialect.is_readme {
        return Some(Foreign::Asked(whole));
    }
    if dialect.has(Syntax::Inputs)
        && let Some(id) = inner.strip_prefix("input:").filter(|id| !id.is_empty())
    {
        return Some(Foreign::Input(id));
    }
    let is_of_editor = ["command:", "config:"].iter().any(|kind| inner.starts_with(kind));
    (dialect.has(Syntax::Editor) && is_of_editor).then_some(Foreign::Asked(whole))
}
