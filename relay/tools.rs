//! Lists of tools: without those that policy hides.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::edit::replaced;
use crate::message::Text;

#[derive(Deserialize)]
struct Listing<'a> {
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, default, rename = "outputSchema")]
    output_schema: Option<&'a RawValue>,
}

/// What became of a list.
pub(crate) enum Listed<'a> {
    /// It goes on as it is.
    Whole,
    /// The result with fewer tools, and every other byte as it was.
    Fewer(Cow<'a, str>),
    /// Two readers could take it differently: why.
    Refused(String),
}

/// Filters one page. The tools that promise structured results are remembered, for results that are cut.
pub(crate) fn filter<'a>(
    result: &'a str,
    allows: &dyn Fn(&str) -> bool,
    structured: &mut BTreeSet<String>,
) -> Listed<'a> {
    let listing: Listing<'a> = match serde_json::from_str(result) {
        Ok(listing) => listing,
        Err(error) => return Listed::Refused(alloc::format!("its list of tools is ambiguous: {error}")),
    };
    let Some(tools) = listing.tools else { return Listed::Whole };
    let Ok(all) = serde_json::from_str::<Vec<&RawValue>>(tools.get()) else { return Listed::Whole };
    let mut kept = Vec::with_capacity(all.len());
    for tool in &all {
        // A tool whose name can't be told for sure is none that policy allows.
        let Ok(Tool { name: Text(name), output_schema }) = serde_json::from_str::<Tool<'_>>(tool.get())
        else {
            continue;
        };
        if !allows(&name) {
            continue;
        }
        if output_schema.is_some_and(|schema| schema.get() != "null") {
            structured.insert(name.into_owned());
        } else {
            structured.remove(&*name);
        }
        kept.push(tool.get());
    }
    if kept.len() == all.len() {
        return Listed::Whole;
    }
    let list = ["[", &kept.join(","), "]"].concat();
    Listed::Fewer(replaced(result, tools, &list).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(result: &str) -> String {
        let mut structured = BTreeSet::new();
        match filter(result, &|name| name.starts_with('a'), &mut structured) {
            Listed::Whole => "whole".into(),
            Listed::Fewer(text) => text.into_owned(),
            Listed::Refused(_) => "refused".into(),
        }
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
