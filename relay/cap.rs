//! Results of calls that are too long for a model: cut, and kept whole in a file.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::edit::{Members, string};
use crate::message::Text;
use crate::policy::Spill;

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
}

/// The result in at most about `limit` bytes; `None` where it is short enough.
///
/// Blocks stand whole as long as they fit; the first text that does not is cut between characters, anything else, an
/// image above all, goes, as half of it is nothing. The last block names the length and the file that has all.
/// Structured content goes: where the tool promises it (`is_structured`), a strict client takes a result without it
/// only as an error.
pub(crate) fn cap(result: &str, limit: usize, is_structured: bool, spill: &mut dyn Spill) -> Option<String> {
    if result.len() <= limit {
        return None;
    }
    let kept = spill.keep(result);
    let whole = kept.map_or_else(String::new, |path| format!("; all {} bytes: {path}", result.len()));
    let marker = format!("[... truncated at {limit} bytes{whole}]");
    let Some(members) = Members::read(result) else {
        // No result of a call: nothing of it can be told apart.
        return Some(format!(
            "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}",
            string(&marker)
        ));
    };
    let content = members.get("content").map_or("[]", RawValue::get);
    let blocks = serde_json::from_str::<Vec<&RawValue>>(content).unwrap_or_default();
    let mut out: Vec<String> = Vec::new();
    let mut left = limit;
    for block in blocks {
        if block.get().len() < left {
            left -= block.get().len() + 1;
            out.push(block.get().into());
            continue;
        }
        let read = serde_json::from_str::<Block<'_>>(block.get()).ok();
        let is_text = |block: &Block<'_>| block.kind.as_ref().is_some_and(|kind| kind.0 == "text");
        if let Some(Text(text)) = read.filter(is_text).and_then(|block| block.text) {
            let start = beginning(&text, left);
            if !start.is_empty() {
                out.push(format!("{{\"type\":\"text\",\"text\":{}}}", string(start)));
            }
        }
        break;
    }
    out.push(format!("{{\"type\":\"text\",\"text\":{}}}", string(&marker)));
    let cut = members.with("content", &["[", &out.join(","), "]"].concat());
    let members = Members::read(&cut)?;
    let had_structure = members.get("structuredContent").is_some();
    let cut = members.without("structuredContent");
    let cut = if is_structured && had_structure { Members::read(&cut)?.with("isError", "true") } else { cut };
    // What is beside the content may be long too: then nothing of the server's is left but its kind.
    if cut.len() <= limit.saturating_mul(2).saturating_add(1024) {
        return Some(cut);
    }
    let kind =
        members.get("resultType").map_or(String::new(), |kind| format!(",\"resultType\":{}", kind.get()));
    Some(format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":{}{kind}}}",
        string(&marker),
        is_structured
    ))
}

/// The beginning of a text that takes at most `limit` bytes, between two characters.
fn beginning(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;
    use proptest::prelude::*;
    use serde_json::Value;

    struct Kept(Vec<String>);

    impl Spill for Kept {
        fn keep(&mut self, result: &str) -> Option<String> {
            self.0.push(result.into());
            Some("/s/1".into())
        }
    }

    fn capped(result: &str, limit: usize, is_structured: bool) -> Option<Value> {
        let cut = cap(result, limit, is_structured, &mut Kept(vec![]))?;
        Some(serde_json::from_str(&cut).unwrap())
    }

    #[test]
    fn a_short_result_stays() {
        assert_eq!(capped(r#"{"content":[]}"#, 14, false), None);
    }

    #[test]
    fn text_is_cut_between_characters_and_the_marker_names_the_file() {
        let result =
            format!(r#"{{"content":[{{"type":"text","text":"{}"}}],"_meta":{{"a":1}}}}"#, "é".repeat(50));
        let cut = capped(&result, 21, false).unwrap();
        assert_eq!(cut["content"][0]["text"], "é".repeat(10));
        assert_eq!(
            cut["content"][1]["text"],
            format!("[... truncated at 21 bytes; all {} bytes: /s/1]", result.len())
        );
        assert_eq!((cut["_meta"]["a"].as_i64(), cut.get("isError")), (Some(1), None));
    }

    #[test]
    fn an_image_is_never_half() {
        let result = format!(
            r#"{{"content":[{{"type":"text","text":"a"}},{{"type":"image","data":"{}","mimeType":"image/png"}}]}}"#,
            "A".repeat(500)
        );
        let cut = capped(&result, 100, false).unwrap();
        assert_eq!(cut["content"].as_array().unwrap().len(), 2);
        assert_eq!(cut["content"][0]["text"], "a");
    }

    #[test]
    fn structured_content_goes_and_a_promise_of_it_makes_an_error() {
        let result = format!(r#"{{"content":[],"structuredContent":{{"a":"{}"}}}}"#, "x".repeat(100));
        let cut = capped(&result, 50, false).unwrap();
        assert_eq!((cut.get("structuredContent"), cut.get("isError")), (None, None));
        assert_eq!(capped(&result, 50, true).unwrap()["isError"], true);
    }

    #[test]
    fn what_is_beside_the_content_is_bounded_too() {
        let result =
            format!(r#"{{"content":[],"_meta":{{"a":"{}"}},"resultType":"complete"}}"#, "x".repeat(9000));
        let cut = capped(&result, 50, false).unwrap();
        assert_eq!((cut.get("_meta"), cut["resultType"].as_str()), (None, Some("complete")));
    }

    proptest! {
        #[test]
        fn any_result_comes_out_bounded_and_as_json(text in "\\PC{0,200}", more in 0_usize..5, limit in 0_usize..300) {
            let block = serde_json::json!({ "type": "text", "text": text });
            let result = serde_json::json!({ "content": vec![block; more] }).to_string();
            let mut kept = Kept(vec![]);
            match cap(&result, limit, false, &mut kept) {
                None => prop_assert!(result.len() <= limit),
                Some(cut) => {
                    prop_assert!(cut.len() <= limit * 2 + 1024);
                    prop_assert_eq!(kept.0, [result]);
                    prop_assert!(serde_json::from_str::<Value>(&cut).unwrap()["content"].is_array());
                }
            }
        }
    }
}
