//! Lists of tools and prompts: without those that policy hides, or holds back.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::edit::{Members, replaced, string};
use crate::memory::List;
use crate::message::Text;

#[derive(Deserialize)]
struct Listing<'a> {
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    prompts: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, default, rename = "outputSchema")]
    output_schema: Option<&'a RawValue>,
}

/// The member of a page's `_meta` that tells squire's own client which tools policy hides: their names, `null` for a
/// tool without one.
pub const WITHHELD: &str = "squire/withheld";

/// What became of a list.
pub(crate) enum Listed<'a> {
    /// It goes on as it is.
    Whole,
    /// The result with fewer tools, and every other byte as it was.
    Fewer(Cow<'a, str>),
    /// Two readers could take it differently: why.
    Refused(String),
}

/// Filters one page. The tools that promise structured results are remembered, for results that are cut. The names of
/// those that are hidden go into the page where that `is_told`.
pub(crate) fn filter<'a>(
    result: &'a str,
    list: List,
    admits: &mut dyn FnMut(&str, &RawValue) -> bool,
    structured: &mut BTreeSet<String>,
    is_told: bool,
) -> Listed<'a> {
    let listing: Listing<'a> = match serde_json::from_str(result) {
        Ok(listing) => listing,
        Err(error) => {
            let list = list.member();
            return Listed::Refused(alloc::format!("its list of {list} is ambiguous: {error}"));
        }
    };
    let listed = if list == List::Prompts { listing.prompts } else { listing.tools };
    let Some(tools) = listed else { return Listed::Whole };
    let Ok(all) = serde_json::from_str::<Vec<&RawValue>>(tools.get()) else { return Listed::Whole };
    let mut kept = Vec::with_capacity(all.len());
    let mut hidden = Vec::new();
    for tool in &all {
        // A tool whose name can't be told for sure is none that policy allows.
        let Ok(Tool { name: Text(name), output_schema }) = serde_json::from_str::<Tool<'_>>(tool.get())
        else {
            hidden.push("null".to_string());
            continue;
        };
        if !admits(&name, tool) {
            hidden.push(string(&name));
            continue;
        }
        if list != List::Tools {
            // Only tools have results.
        } else if output_schema.is_some_and(|schema| schema.get() != "null") {
            structured.insert(name.into_owned());
        } else {
            structured.remove(&*name);
        }
        kept.push(tool.get());
    }
    if hidden.is_empty() && !is_told {
        return Listed::Whole;
    }
    let list = ["[", &kept.join(","), "]"].concat();
    let fewer = replaced(result, tools, &list);
    Listed::Fewer(if is_told { telling(&fewer, &hidden) } else { fewer }.into())
}

/// A page that says what is hidden. What a server says under that name is none of its business, and goes.
fn telling(page: &str, hidden: &[String]) -> String {
    let Some(members) = Members::read(page) else { return page.into() };
    let names = ["[", &hidden.join(","), "]"].concat();
    let own = members.get("_meta").map_or("{}", RawValue::get);
    let meta = Members::read(own).unwrap_or(Members(Vec::new())).with(WITHHELD, &names);
    members.with("_meta", &meta)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(result: &str) -> String {
        let mut structured = BTreeSet::new();
        shown(filter(result, List::Tools, &mut |name, _| name.starts_with('a'), &mut structured, false))
    }

    fn shown(listed: Listed<'_>) -> String {
        match listed {
            Listed::Whole => "whole".into(),
            Listed::Fewer(text) => text.into_owned(),
            Listed::Refused(_) => "refused".into(),
        }
    }

    #[test]
    fn who_may_know_is_told_what_is_hidden() {
        let told = |page| {
            shown(filter(page, List::Tools, &mut |name, _| name.starts_with('a'), &mut BTreeSet::new(), true))
        };
        assert_eq!(
            told(r#"{"tools":[{"name":"a", "n":1.0},{"name":"b\u0031"},{}],"nextCursor":"n"}"#),
            r#"{"tools":[{"name":"a", "n":1.0}],"nextCursor":"n","_meta":{"squire/withheld":["b1",null]}}"#
        );
        assert_eq!(
            told(r#"{"_meta":{"squire/withheld":["lie"],"x":1.0},"tools":[]}"#),
            r#"{"_meta":{"squire/withheld":[],"x":1.0},"tools":[]}"#
        );
        assert_eq!(told(r#"{"_meta":7,"tools":[]}"#), r#"{"_meta":{"squire/withheld":[]},"tools":[]}"#);
        assert_eq!(told("{}"), "whole");
    }

    #[test]
    fn hidden_tools_go_and_every_other_byte_stays() {
        assert_eq!(filtered(r#"{"tools":[{"name":"a"}]}"#), "whole");
        assert_eq!(
            filtered(
                r#"{ "nextCursor" : "x", "tools" : [ {"name":"b"}, {"z":1.0, "name":"a\u0031"} ], "ttlMs":1e3}"#
            ),
            r#"{ "nextCursor" : "x", "tools" : [{"z":1.0, "name":"a\u0031"}], "ttlMs":1e3}"#
        );
        // A page may come out empty.
        assert_eq!(
            filtered(r#"{"tools":[{"name":"b"}],"nextCursor":"n"}"#),
            r#"{"tools":[],"nextCursor":"n"}"#
        );
    }

    #[test]
    fn what_two_readers_could_take_differently_is_not_passed_on() {
        assert_eq!(filtered(r#"{"tools":[{"name":"a"}],"tools":[{"name":"b"}]}"#), "refused");
        assert_eq!(filtered(r#"{"tools":[{"name":"a","name":"b"},{"name":7},{}]}"#), r#"{"tools":[]}"#);
        assert_eq!(filtered(r#"{"tools":5}"#), "whole");
        assert_eq!(filtered("{}"), "whole");
    }
}
