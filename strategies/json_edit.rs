//! Entries into and out of a JSON file with comments. Every other byte stays as it is: text is spliced at the places
//! that a parser names, and never written anew. Pure.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::entries::Entries;
use crate::json::compact;
use crate::splice::{Splice, rebase, splice};

/// Why a text can't be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uneditable {
    /// The line and the character in it, both from 1.
    pub position: (usize, usize),
    /// What is so.
    pub reason: String,
}

impl Uneditable {
    /// At a byte of the text, whose mark is no character of its first line.
    fn at(offset: usize, text: &str, reason: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Self { position: (line, column), reason: reason.into() }
    }
}

impl fmt::Display for Uneditable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position;
        write!(formatter, "{} on line {line} column {column}", self.reason)
    }
}

type Edited<T> = Result<T, Uneditable>;

/// The bytes of a file as the text that is edited.
pub fn text(bytes: &[u8]) -> Edited<&str> {
    core::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let (_, body) = split_mark(&before);
        Uneditable::at(body.len(), body, "it is not UTF-8")
    })
}

/// Adds entries to the object `at` of the top level, in place of those of the same name.
///
/// The error says why the text can't be edited.
pub fn add(text: &str, at: &str, entries: &Entries) -> Edited<String> {
    let (mark, body) = split_mark(text);
    add_to_body(body, at, entries).map(|added| marked(mark, added))
}

fn add_to_body(text: &str, at: &str, entries: &Entries) -> Edited<String> {
    let member = |(name, entry): (&str, &str)| [&compact(name), entry].join(": ");
    let Some(root) = parse(text)? else {
        let members: Vec<String> = entries.iter().map(member).collect();
        // A comment on the last line would swallow what follows it.
        let gap = if text.trim().is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let members = members.join(",\n    ");
        return Ok([text, gap, "{\n  ", &compact(at), ": {\n    ", &members, "\n  }\n}\n"].concat());
    };
    let no_object =
        |node: &Node<'_>, what: &str| Uneditable::at(node.start(), text, format!("{what} is no object"));
    let root = root.as_object().ok_or_else(|| no_object(&root, "its top level"))?;
    let Some(servers) = find(root, at, text)? else {
        let members: Vec<String> = entries.iter().map(member).collect();
        let all = format!("{}: {{{}}}", compact(at), members.join(", "));
        return Ok(splice(text, vec![first_in(root, text, &[all])]));
    };
    let servers = servers.as_object().ok_or_else(|| no_object(servers, &format!("its `{at}`")))?;
    let mut splices = Vec::new();
    let mut new = Vec::new();
    for (name, entry) in entries.iter() {
        match find(servers, name, text)? {
            Some(own) => splices.push(Splice { range: bytes(own), text: entry.to_string() }),
            None => new.push(member((name, entry))),
        }
    }
    if !new.is_empty() {
        splices.push(first_in(servers, text, &new));
    }
    Ok(splice(text, splices))
}

/// Takes our entries out of a text that somebody edited after we made `ours`, where that is still known, of `original`;
/// `is_ours` knows them by name and text. `None` where nothing of the user's is left in a file that we made.
///
/// An edit beside our entries is applied to the original. Otherwise our entries are taken out one by one: one that is
/// no longer as we wrote it is left, and where the original had one of the same name, that comes back.
pub fn take_out(
    text: &str,
    at: &str,
    is_ours: &dyn Fn(&str, &str) -> bool,
    original: Option<&str>,
    ours: Option<&str>,
) -> Edited<Option<String>> {
    let (mark, text) = split_mark(text);
    let original = original.map(|original| split_mark(original).1);
    let taken = take_out_of_body(text, at, is_ours, original, ours.map(|ours| split_mark(ours).1))?;
    Ok(taken.map(|text| marked(mark, text)))
}

fn take_out_of_body(
    text: &str,
    at: &str,
    is_ours: &dyn Fn(&str, &str) -> bool,
    original: Option<&str>,
    ours: Option<&str>,
) -> Edited<Option<String>> {
    let parsed = parse(text)?;
    if let Some((original, ours)) = original.zip(ours)
        && let Some(rebased) = rebase(original, ours, text)
        && parse(&rebased).is_ok()
    {
        // An edit may have brought back entries of a launch that ended.
        return take_out_of_body(&rebased, at, is_ours, Some(original), None);
    }
    let root = parsed.as_ref().and_then(Node::as_object);
    let Some(servers) = root.and_then(|root| root.get_object(at)) else { return Ok(Some(text.to_string())) };
    let original_root = original.map(parse).transpose()?.flatten();
    let original_servers =
        original_root.as_ref().and_then(Node::as_object).and_then(|root| root.get_object(at));
    let mut splices = Vec::new();
    let mut removed = 0;
    for property in &servers.properties {
        let name = property.name.as_str();
        let written = text.get(bytes(&property.value)).unwrap_or_default();
        if !is_ours(name, written) {
            continue;
        }
        let own = original_servers.and_then(|servers| servers.get(name)).map(|own| bytes(&own.value));
        if let Some(own) = own {
            let own = original.and_then(|original| original.get(own)).unwrap_or_default();
            splices.push(Splice { range: bytes(&property.value), text: own.into() });
        } else {
            splices.push(Splice { range: with_comma(text, bytes(property)), text: String::new() });
            removed += 1;
        }
    }
    if splices.is_empty() {
        return Ok(Some(text.to_string()));
    }
    let ours_alone = removed == servers.properties.len() && original_servers.is_none();
    if let Some(whole) = root.and_then(|root| root.get(at)).filter(|_| ours_alone) {
        splices = vec![Splice { range: with_comma(text, bytes(whole)), text: String::new() }];
    }
    let out = splice(text, splices);
    // What was not foreseen must not leave a broken file.
    parse(&out)?;
    let nothing_left = original.is_none() && out.chars().filter(|c| !c.is_whitespace()).eq("{}".chars());
    Ok((!nothing_left).then_some(out))
}

/// The byte order mark, if there is one, and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body))
}

fn marked(mark: &str, body: String) -> String {
    if mark.is_empty() { body } else { [mark, &body].concat() }
}

/// Puts members at the beginning of an object, set off as its first one is.
fn first_in(object: &Object<'_>, text: &str, members: &[String]) -> Splice {
    let inside = object.range.start + 1;
    let rest = text.get(inside..object.range.end).unwrap_or_default();
    let gap = &rest[..rest.len() - rest.trim_start().len()];
    let new = if object.properties.is_empty() {
        members.join(", ")
    } else {
        members.iter().flat_map(|member| [gap, member, ","]).collect()
    };
    Splice { range: inside..inside, text: new }
}

/// A member's range with the blanks before it and the comma that goes with it.
fn with_comma(text: &str, member: Range<usize>) -> Range<usize> {
    let before = text.get(..member.start).unwrap_or_default().trim_end();
    let after = text.get(member.end..).unwrap_or_default();
    match after.trim_start().strip_prefix(',') {
        Some(rest) => before.len()..text.len() - rest.len(),
        None => before.strip_suffix(',').unwrap_or(before).len()..member.end,
    }
}

/// The value of a member. Of two of one name a reader takes the last, and an entry put into the first would be lost.
fn find<'a, 'b>(object: &'b Object<'a>, name: &str, text: &str) -> Edited<Option<&'b Node<'a>>> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
    let value = found.next().map(|property| &property.value);
    match found.next() {
        Some(second) => Err(Uneditable::at(second.start(), text, format!("it has `{name}` more than once"))),
        None => Ok(value),
    }
}

fn bytes(node: &impl Ranged) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}

/// How JSON of agents is read: strict, but for comments and trailing commas.
pub fn dialect() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_extended_string_escapes: false,
        allow_non_finite_numbers: false,
    }
}

pub(crate) fn parse(text: &str) -> Edited<Option<Node<'_>>> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &dialect());
    parsed.map(|parsed| parsed.value).map_err(|error| {
        let reason = error.kind().to_string().to_lowercase();
        Uneditable::at(error.range().start, text, format!("it is no JSON: {reason}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn value(text: &str) -> Value {
        crate::json::parse(text.as_bytes()).unwrap()
    }

    fn entries() -> Entries {
        serde_json::from_str("{\"db\": {\"command\":\"squire\",\"args\":[\"gateway\"]}}").unwrap()
    }

    #[test]
    fn b26_everything_else_keeps_its_bytes() {
        let text = "\u{feff}{\r\n\t// ours\r\n\t\"x-team\": {\"z\": 1, \"a\": 12345678901234567890, \"b\": 1.0, \"c\": \"\\u00e9\"},\r\n\t\"mcpServers\": {\r\n\t\t\"own\": {\"command\": \"x\",}, // keep\r\n\t},\r\n}\r\n";
        let added = add(text, "mcpServers", &entries()).unwrap();
        assert!(added.starts_with("\u{feff}{\r\n\t// ours\r\n\t\"x-team\": {\"z\": 1, \"a\": 12345678901234567890, \"b\": 1.0, \"c\": \"\\u00e9\"},\r\n"));
        assert!(added.contains("\"own\": {\"command\": \"x\",}, // keep"));
        assert!(!added.replace("\r\n", "").contains('\n'));
        let parsed = value(&added);
        assert_eq!(parsed["mcpServers"]["db"], json!({"command": "squire", "args": ["gateway"]}));
        assert_eq!(parsed["mcpServers"]["own"], json!({"command": "x"}));
    }

    /// Found by the fuzz target of these files.
    #[test]
    fn what_holds_a_comment_alone_does_not_swallow_the_entries() {
        for text in ["// mine", "\u{feff}// mine", "/* mine */", "// one\n// two", "// mine\n", " ", ""] {
            let added = add(text, "mcpServers", &entries()).unwrap();
            assert_eq!(value(&added)["mcpServers"]["db"]["command"], "squire", "{added}");
            let out = take_out(&added, "mcpServers", &|name, _| name == "db", Some(text), Some(&added));
            assert_eq!(out, Ok(Some(text.into())));
        }
    }

    #[test]
    fn an_empty_file_and_a_file_without_servers_take_entries() {
        for text in ["", "  \n", "{}", "{ \"other\": [] }"] {
            let added = add(text, "mcpServers", &entries()).unwrap();
            let parsed = value(&added);
            assert_eq!(parsed["mcpServers"]["db"]["command"], "squire", "{text:?}");
        }
        for text in ["[]", "{\"mcpServers\": []}", "{", "{a: 1}", "{\"mcpServers\": null}"] {
            assert!(add(text, "mcpServers", &entries()).is_err(), "{text:?}");
        }
    }

    fn back(edited: &str, original: Option<&str>, ours: &str) -> Option<String> {
        let is_ours = |name: &str, written: &str| {
            entries().get(name).map(value) == crate::json::parse(written.as_bytes()).ok()
        };
        take_out(edited, "mcpServers", &is_ours, original, Some(ours)).unwrap()
    }

    #[test]
    fn an_edit_beside_ours_is_applied_to_the_original() {
        let original = "{\"x\": 1, \"mcpServers\": {\"own\": {}}, \"y\": 2}";
        let ours = add(original, "mcpServers", &entries()).unwrap();
        for (from, to) in
            [("\"x\": 1", "\"x\": 11"), ("\"y\": 2", "\"z\": []"), ("\"y\": 2", "\"y\": 2, \"z\": 1.0")]
        {
            let edited = ours.replace(from, to);
            assert_eq!(back(&edited, Some(original), &ours), Some(original.replace(from, to)));
        }
    }

    #[test]
    fn what_somebody_edited_keeps_the_edit_and_loses_ours_alone() {
        let original = "{\"mcpServers\": {\"db\": {\"big\": 1.0, /* own */ \"e\": \"\\u00e9\"}, \"x\": {}}}";
        let ours = add(original, "mcpServers", &entries()).unwrap();
        let edited = format!(
            "{}\n",
            ours.replace("\"x\": {}", "\"x\": {}, \"new\": {\"command\": \"n\"}").replacen('{', "{ ", 1)
        );
        let taken = back(&edited, Some(original), &ours).unwrap();
        assert!(taken.contains("\"db\": {\"big\": 1.0, /* own */ \"e\": \"\\u00e9\"}"), "{taken}");
        assert!(taken.contains("\"new\": {\"command\": \"n\"}"), "{taken}");
        let changed = ours.replace("\"squire\"", "\"mine\"");
        assert_eq!(back(&changed, Some(original), &ours), Some(changed.clone()));
    }

    #[test]
    fn a_file_of_ours_that_was_only_reformatted_holds_nothing_of_the_users() {
        let ours = add("", "mcpServers", &entries()).unwrap();
        assert_eq!(back(&ours.replace('\n', "\n\n"), None, &ours), None);
        let kept = back(&ours.replacen('{', "{ \"x\": 1,", 1), None, &ours).unwrap();
        assert_eq!(value(&kept), json!({"x": 1}));
    }

    #[test]
    fn b86_a_name_that_comes_twice_is_refused() {
        for text in
            ["{\"mcpServers\": {\"db\": {}, \"\\u0064b\": {}}}", "{\"mcpServers\": {}, \"mcpServers\": {}}"]
        {
            assert!(add(text, "mcpServers", &entries()).is_err(), "{text}");
        }
    }

    proptest! {
        /// An untouched text comes back to the byte, an edit anywhere outside our entries stays.
        #[test]
        fn what_is_added_comes_out_again(
            keys in proptest::collection::vec("[a-z]{1,3}", 0..4), comment in "[a-zé ]{0,6}", servers in any::<bool>(),
        ) {
            let mut text = String::from("{\n");
            text.extend(keys.iter().enumerate().map(|(index, key)| format!("  \"{key}-{index}\": 1, // {comment}\n")));
            text.push_str(if servers { "  \"mcpServers\": {}\n}" } else { "  \"last\": 0\n}" });
            let ours = add(&text, "mcpServers", &entries()).unwrap();
            prop_assert_eq!(back(&ours, Some(&text), &ours), Some(text.clone()));
            let edit = |text: &str| text.replacen('{', "{ \"first\": [],", 1);
            prop_assert_eq!(back(&edit(&ours), Some(&text), &ours), Some(edit(&text)));
        }
    }
}
