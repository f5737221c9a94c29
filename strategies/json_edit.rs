//! Entries into and out of a JSON file with comments. Every other byte stays as it is: text is spliced at the places
//! that a parser names, and never written anew. Pure.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};

use crate::entries::Entries;
use crate::json::compact;
use crate::json_removal::{Tokens, bytes};
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
/// no longer as we wrote it is left, and where the original had one of the same name, that comes back. A comma trails
/// only where the user's text or the original has one that does.
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
    let (parsed, tokens) = parse_with_tokens(text)?;
    if let Some((original, ours)) = original.zip(ours)
        && let Some(rebased) = rebase(original, ours, text)
        && is_same_edit(&tokens, ours, original, &rebased)
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
    let mut removed = Vec::new();
    for (index, property) in servers.properties.iter().enumerate() {
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
            removed.push(index);
        }
    }
    if splices.is_empty() && removed.is_empty() {
        return Ok(Some(text.to_string()));
    }
    let ours_alone = removed.len() == servers.properties.len() && original_servers.is_none();
    let whole = |root: &Object<'_>| root.properties.iter().position(|property| property.name.as_str() == at);
    match root.filter(|_| ours_alone).and_then(|root| Some((root, whole(root)?))) {
        Some((root, whole)) => splices = tokens.removals(text, root, &[whole]),
        None => splices.extend(tokens.removals(text, servers, &removed)),
    }
    let out = splice(text, splices);
    // What was not foreseen must not leave a broken file.
    parse(&out)?;
    let nothing_left = original.is_none() && out.chars().filter(|c| !c.is_whitespace()).eq("{}".chars());
    Ok((!nothing_left).then_some(out))
}

/// Whether the original takes an edit of ours as ours did: it doesn't where a comma that stood before an entry of ours
/// would trail.
fn is_same_edit(edited: &Tokens<'_>, ours: &str, original: &str, rebased: &str) -> bool {
    let count = |text| parse_with_tokens(text).map(|(_, tokens)| tokens.trailing_commas());
    match (count(ours), count(original), count(rebased)) {
        (Ok(ours), Ok(original), Ok(rebased)) => rebased + ours <= original + edited.trailing_commas(),
        _ => false,
    }
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

/// The value of a member. Of two of one name a reader takes the last, and an entry put into the first would be lost.
fn find<'a, 'b>(object: &'b Object<'a>, name: &str, text: &str) -> Edited<Option<&'b Node<'a>>> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
    let value = found.next().map(|property| &property.value);
    match found.next() {
        Some(second) => Err(Uneditable::at(second.start(), text, format!("it has `{name}` more than once"))),
        None => Ok(value),
    }
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
    parse_and_collect(text, &CollectOptions::default()).map(|parsed| parsed.value)
}

fn parse_with_tokens(text: &str) -> Edited<(Option<Node<'_>>, Tokens<'_>)> {
    let collected = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = parse_and_collect(text, &collected)?;
    Ok((parsed.value, Tokens::new(parsed.tokens.unwrap_or_default())))
}

fn parse_and_collect<'a>(text: &'a str, collected: &CollectOptions) -> Edited<ParseResult<'a>> {
    parse_to_ast(text, collected, &dialect()).map_err(|error| {
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

    fn strict(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// What is left of a text of strict JSON with `db` of ours in it, after an edit.
    fn left(original: Option<&str>, edit: impl Fn(&str) -> String) -> String {
        let ours = add(original.unwrap_or_default(), "mcpServers", &entries()).unwrap();
        let edited = edit(&ours);
        assert_ne!(edited, ours);
        back(&edited, original, &ours).unwrap()
    }

    #[test]
    fn an_entry_put_before_ours_leaves_no_comma() {
        let user = "\"u\": {\"command\": \"x\"}";
        let insert = |ours: &str| ours.replacen("\"db\":", &format!("{user}, \"db\":"), 1);
        let alone = json!({"mcpServers": {"u": {"command": "x"}}});
        assert_eq!(left(Some("{\"mcpServers\":{}}"), insert), format!("{{\"mcpServers\":{{{user}}}}}"));
        for original in [None, Some(""), Some("{}"), Some("{\"mcpServers\": {\n}\n}\n")] {
            assert_eq!(strict(&left(original, insert)), alone, "{original:?}");
        }
        let on_its_line = |ours: &str| ours.replacen("\"db\":", &format!("\n  {user},\n  \"db\":"), 1);
        for original in [None, Some("{\"mcpServers\":{}}"), Some("{\"mcpServers\": {}, \"x\": [1,\n]}")] {
            let taken = left(original, on_its_line);
            assert!(
                taken.contains(&format!("{user}}}")) || taken.contains(&format!("{user}\n  }}")),
                "{taken}"
            );
        }
        let member_before = |ours: &str| ours.replacen("\"mcpServers\"", "\"x\": 1, \"mcpServers\"", 1);
        assert_eq!(left(Some("{}"), member_before), "{\"x\": 1}");
        assert_eq!(left(Some("{\"y\": 2}"), member_before), "{\"x\": 1, \"y\": 2}");
    }

    #[test]
    fn ours_that_were_sorted_to_the_end_leave_no_comma() {
        let several: Entries =
            serde_json::from_str("{\"sa\": {}, \"own\": {\"ours\": 1}, \"sb\": {}}").unwrap();
        let is_ours = |name: &str, written: &str| {
            several.get(name).map(value) == crate::json::parse(written.as_bytes()).ok()
        };
        let own = json!({"own": {"command": "mine"}});
        for (original, mut users) in [
            (None, json!({})),
            (Some("{}".to_string()), json!({})),
            (Some(json!({"mcpServers": {"a": {}}}).to_string()), json!({"a": {}})),
            (Some(json!({ "mcpServers": own }).to_string()), own.clone()),
        ] {
            let ours = add(original.as_deref().unwrap_or_default(), "mcpServers", &several).unwrap();
            let mut edited = strict(&ours);
            edited["mcpServers"]["gg"] = json!({"command": "g"});
            edited["mcpServers"].sort_all_objects();
            users["gg"] = json!({"command": "g"});
            for text in [format!("{edited:#}"), edited.to_string()] {
                let kept = original.as_ref().map(|_| ours.as_str());
                let taken =
                    take_out(&text, "mcpServers", &is_ours, original.as_deref(), kept).unwrap().unwrap();
                assert_eq!(strict(&taken), json!({ "mcpServers": users }), "{text}\nbecame\n{taken}");
            }
        }
    }

    #[test]
    fn an_edit_of_what_hides_an_empty_entry_leaves_no_comma() {
        let original = "{\"mcpServers\": {\"db\": {}}}";
        let edit = |ours: &str| ours.replacen("\"command\"", "\"env\": {}, \"command\"", 1);
        strict(&left(Some(original), edit));
    }

    fn in_servers(members: &str) -> String {
        format!("{{\"mcpServers\": {{{members}}}}}")
    }

    #[test]
    fn commas_go_from_among_comments_which_swallow_nothing() {
        let ours = format!("\"db\": {}", entries().get("db").unwrap());
        for (edited, expected) in [
            ("\"a\": {}, // note\n  OURS\n", "\"a\": {} // note\n"),
            ("\"a\": {} // note\n, OURS", "\"a\": {} // note\n"),
            ("\"a\": {}, // note\n  OURS", "\"a\": {} // note\n  "),
            ("\"a\": {}, /* , */ OURS /* , */\n", "\"a\": {} /* , */ /* , */\n"),
            ("OURS /* note */, \"a\": {}", " /* note */ \"a\": {}"),
            ("// note\n  OURS, \"a\": {}", "// note\n   \"a\": {}"),
            ("// note\n  OURS,\n  \"a\": {}", "// note\n  \"a\": {}"),
            ("\"a\": {}, OURS,\n", "\"a\": {},\n"),
        ] {
            let (edited, expected) = (in_servers(edited), in_servers(expected));
            let edited = edited.replace("OURS", &ours);
            let is_ours = |name: &str, _: &str| name == "db";
            let taken = take_out(&edited, "mcpServers", &is_ours, Some("{\"mcpServers\": {}}"), None);
            assert_eq!(taken, Ok(Some(expected)), "{edited}");
        }
    }

    #[test]
    fn b86_a_name_that_comes_twice_is_refused() {
        for text in
            ["{\"mcpServers\": {\"db\": {}, \"\\u0064b\": {}}}", "{\"mcpServers\": {}, \"mcpServers\": {}}"]
        {
            assert!(add(text, "mcpServers", &entries()).is_err(), "{text}");
        }
    }

    /// Puts an entry among the members of an object, before the one at a place that wraps around, or behind all.
    fn inserted(text: &str, object: &Object<'_>, place: usize, gap: &str, name: &str) -> String {
        let members = &object.properties;
        let new = format!("{gap}\"{name}\": {{\"command\": \"x\"}}");
        let (at, new) = match (members.get(place % (members.len() + 1)), members.last()) {
            (Some(next), _) => (next.start(), format!("{new}, ")),
            (None, Some(last)) => (last.end(), format!(", {new}")),
            (None, None) => (object.start() + 1, new),
        };
        splice(text, vec![Splice { range: at..at, text: new }])
    }

    /// An edit of a user's: an entry among the servers or beside them.
    fn edited(text: &str, among_servers: bool, place: usize, gap: &str, name: &str) -> String {
        let parsed = parse(text).unwrap().unwrap();
        let root = parsed.as_object().unwrap();
        let object = if among_servers { root.get_object("mcpServers").unwrap() } else { root };
        inserted(text, object, place, gap, name)
    }

    fn named(names: &[u8], value: &Value) -> Value {
        names.iter().map(|name| (format!("n{name}"), value.clone())).collect()
    }

    proptest! {
        /// Whatever a user puts among ours in strict JSON, what comes out is strict JSON with the user's alone.
        #[test]
        fn strict_json_stays_strict_whatever_is_put_among_ours(
            servers in proptest::option::of(proptest::collection::vec(0_u8..6, 0..4)),
            beside in proptest::collection::vec(6_u8..9, 0..3),
            ours in proptest::collection::vec(0_u8..6, 1..4),
            own in prop_oneof![Just(json!({})), Just(json!({"command": "squire"})), Just(json!({"url": "own"}))],
            edits in proptest::collection::vec(
                (any::<bool>(), 0_usize..8, prop_oneof![Just(""), Just(" "), Just("\n  ")]), 0..4,
            ),
            exists in any::<bool>(), indented in any::<bool>(), sorted in any::<bool>(),
        ) {
            let mut users = named(&beside, &json!(1));
            if let Some(servers) = &servers {
                users["mcpServers"] = named(servers, &own);
            }
            if !exists {
                users = json!({});
            }
            let original = if indented { format!("{users:#}\n") } else { users.to_string() };
            let original = exists.then_some(original.as_str());
            let entry = json!({"command": "squire", "args": ["gateway"]});
            let entries: Entries = serde_json::from_str(&named(&ours, &entry).to_string()).unwrap();
            let added = add(original.unwrap_or_default(), "mcpServers", &entries).unwrap();
            let mut text = added.clone();
            for (index, &(among_servers, place, gap)) in edits.iter().enumerate() {
                let name = format!("u{index}");
                text = edited(&text, among_servers, place, gap, &name);
                let object = if among_servers { &mut users["mcpServers"] } else { &mut users };
                object[name] = json!({"command": "x"});
            }
            if sorted {
                let mut value = strict(&text);
                value.sort_all_objects();
                text = if indented { format!("{value:#}") } else { value.to_string() };
            }
            let is_ours = |name: &str, written: &str| entries.get(name).is_some() && value(written) == entry;
            for ours in [None, original.map(|_| added.as_str())] {
                let taken = take_out(&text, "mcpServers", &is_ours, original, ours).unwrap();
                prop_assert_eq!(taken.as_deref().map_or(json!({}), strict), users.clone(), "{}", text);
                if !sorted && edits.is_empty() && ours.is_some() {
                    prop_assert_eq!(taken.as_deref(), original);
                }
            }
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
