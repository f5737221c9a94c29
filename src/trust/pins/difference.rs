//! What differs from what was believed, for the user to read: word by word, and first what an agent is told of how
//! harmless a tool is. Pure.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::record::{Definitions, Kept, Named};
use crate::trust::words::difference;

/// The members of a tool's annotations by which agents decide whether they ask before a call (revision 2025-03-26 on),
/// and what each means where it is not there.
const HINTS: [(&str, bool); 2] = [("readOnlyHint", false), ("destructiveHint", true)];

/// The lines that tell what differs. Nothing in them is made harmless for a terminal.
pub fn differences(believed: &Definitions, differing: &Definitions) -> Vec<String> {
    let mut hints = Vec::new();
    let mut lines = Vec::new();
    for (kind, before, now) in
        [("tool", &believed.tools, &differing.tools), ("prompt", &believed.prompts, &differing.prompts)]
    {
        for (name, kept) in now.iter().flatten() {
            let old = known(before, name);
            if kind == "tool" {
                hints.extend(hints_of(name, old, &kept.definition));
            }
            lines.extend(of_one(kind, name, old, &kept.definition));
        }
    }
    if let Some(now) = &differing.instructions {
        let before = believed.instructions.clone().flatten().unwrap_or_default();
        let now = now.clone().unwrap_or_default();
        lines.push(format!("what it tells the model of itself: {}", difference(&before, &now)));
    }
    hints.into_iter().chain(lines).collect()
}

fn known<'a>(named: &'a Named, name: &str) -> Option<&'a RawValue> {
    named.as_ref()?.get(name).map(|Kept { definition, .. }| &**definition)
}

/// A hint that is another one now, as agents call a tool without a question because of it.
fn hints_of(name: &str, before: Option<&RawValue>, now: &RawValue) -> Vec<String> {
    let hint = |definition: &RawValue, hint: &str, missing: bool| {
        members(definition).get("annotations").and_then(|all| all[hint].as_bool()).unwrap_or(missing)
    };
    let Some(before) = before else { return Vec::new() };
    let changed = |(word, missing): (&str, bool)| {
        let (was, is) = (hint(before, word, missing), hint(now, word, missing));
        (was != is).then(|| format!("the tool {name}: {word} was {was}, and is {is}"))
    };
    HINTS.into_iter().filter_map(changed).collect()
}

fn of_one(kind: &str, name: &str, before: Option<&RawValue>, now: &RawValue) -> Vec<String> {
    let Some(before) = before else {
        let members = members(now);
        let mut lines = vec![format!("the {kind} {name} is new")];
        lines.extend(
            members
                .iter()
                .filter(|(key, _)| *key != "name")
                .map(|(key, value)| format!("  {key} = {}", shown(value))),
        );
        return lines;
    };
    let (before, now) = (members(before), members(now));
    let mut lines = vec![format!("the {kind} {name} has changed")];
    let gone = before.keys().filter(|key| !now.contains_key(*key));
    for key in now.keys().chain(gone).filter(|key| *key != "_meta") {
        let of = |members: &Map<String, Value>| members.get(key).map(shown).unwrap_or_default();
        let (was, is) = (of(&before), of(&now));
        if was != is {
            lines.push(format!("  {key} = {}", difference(&was, &is)));
        }
    }
    if lines.len() == 1 {
        // Its hash sees what a reader of JSON does not: a key that comes twice, digits that no number has.
        lines.push("  in how it is written, which programs may read differently".into());
    }
    lines
}

fn members(definition: &RawValue) -> Map<String, Value> {
    serde_json::from_str(definition.get()).unwrap_or_default()
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use squire_relay::hash;

    fn of(tools: &[(&str, &str)], instructions: Option<&str>) -> Definitions {
        let kept = |text: &str| {
            let definition = RawValue::from_string(text.into()).unwrap();
            Kept { hash: hash(&definition), definition }
        };
        Definitions {
            tools: Some(tools.iter().map(|(name, text)| ((*name).into(), kept(text))).collect()),
            instructions: instructions.map(|told| Some(told.to_owned())),
            ..Definitions::default()
        }
    }

    #[test]
    fn a_hint_is_told_first_and_the_rest_word_by_word() {
        let before = of(
            &[(
                "b",
                r#"{"name":"b","description":"reads a file","annotations":{"readOnlyHint":true,"destructiveHint":false}}"#,
            )],
            Some("be kind"),
        );
        let now = of(
            &[
                ("a", r#"{"name":"a","description":"new","inputSchema":{"type":"object"}}"#),
                ("b", r#"{"name":"b","description":"reads every file"}"#),
            ],
            Some("be evil"),
        );
        assert_eq!(
            differences(&before, &now),
            [
                "the tool b: readOnlyHint was true, and is false",
                "the tool b: destructiveHint was false, and is true",
                "the tool a is new",
                "  description = new",
                "  inputSchema = {\"type\":\"object\"}",
                "the tool b has changed",
                "  description = reads [-a-]{+every+} file",
                "  annotations = [-{\"readOnlyHint\":true,\"destructiveHint\":false}-]",
                "what it tells the model of itself: be [-kind-]{+evil+}",
            ]
        );
    }

    #[test]
    fn a_change_that_json_does_not_show_is_told_all_the_same() {
        let (before, now) =
            (of(&[("a", r#"{"name":"a","x":1}"#)], None), of(&[("a", r#"{"name":"a","x":1,"x":1}"#)], None));
        assert_eq!(
            differences(&before, &now),
            ["the tool a has changed", "  in how it is written, which programs may read differently"]
        );
    }
}
