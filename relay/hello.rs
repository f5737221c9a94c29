//! The first words of either side: what the agent can do, and what the server has.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::edit::{Members, replaced};

#[derive(Deserialize)]
struct Greeting<'a> {
    #[serde(borrow, default)]
    capabilities: Option<&'a RawValue>,
}

/// The parameters of `initialize` without the capability of sampling; `None` where there is none, the error where two
/// readers could take them differently.
pub(crate) fn without_sampling(params: &RawValue) -> Result<Option<String>, String> {
    let greeting: Greeting<'_> =
        serde_json::from_str(params.get()).map_err(|error| alloc::format!("its parameters: {error}"))?;
    Ok(greeting
        .capabilities
        .and_then(|capabilities| Some((capabilities, cleared(capabilities)?)))
        .map(|(capabilities, cleared)| replaced(params.get(), capabilities, &cleared)))
}

/// Capabilities of a client without sampling; `None` where they have none.
pub(crate) fn cleared(capabilities: &RawValue) -> Option<String> {
    let members = Members::read(capabilities.get())?;
    members.get("sampling").map(|_| members.without("sampling"))
}

/// The result of `initialize` or `server/discover` with the promise to tell of changed tools, which the gateway itself
/// may have to do; Claude Code hears of none without it. `None` where it is there, or the server has no tools.
pub(crate) fn announcing_changes(result: &str) -> Option<String> {
    let greeting: Greeting<'_> = serde_json::from_str(result).ok()?;
    let capabilities = greeting.capabilities?;
    let members = Members::read(capabilities.get())?;
    let tools = members.get("tools")?;
    let of_tools = Members::read(tools.get())?;
    if of_tools.get("listChanged").is_some_and(|changed| changed.get() == "true") {
        return None;
    }
    let announced = of_tools.with("listChanged", "true");
    Some(replaced(result, tools, &announced))
}

/// The news, for a request `subscriptions/listen` (revision 2026-07-28) of this id, that each of these lists that it
/// hears of may be another one.
pub(crate) fn changes_for(listen: &[u8], id: &str, changed: &[&str]) -> Vec<Vec<u8>> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Wanted {
        tools_list_changed: bool,
        prompts_list_changed: bool,
        resources_list_changed: bool,
    }
    #[derive(Deserialize)]
    struct Listen {
        #[serde(default)]
        notifications: Wanted,
    }
    #[derive(Deserialize)]
    struct Request {
        params: Listen,
    }
    let wanted = serde_json::from_slice::<Request>(listen).map(|request| request.params.notifications);
    let wanted = wanted.unwrap_or_default();
    let news = |list| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{list}/list_changed\",\"params\":{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}}}}}"
        )
        .into_bytes()
    };
    let lists = [
        ("tools", wanted.tools_list_changed),
        ("prompts", wanted.prompts_list_changed),
        ("resources", wanted.resources_list_changed),
    ];
    let is_news = |(list, is_wanted): &(&str, bool)| *is_wanted && changed.contains(list);
    lists.into_iter().filter(is_news).map(|(list, _)| news(list)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_is_taken_out_and_nothing_else() {
        let raw = |text| serde_json::from_str::<&RawValue>(text).unwrap();
        assert_eq!(
            without_sampling(raw(
                r#"{ "v": 1.0, "capabilities": {"roots":{ "x":1 },"sampling":{"tools":{}}}, "z":0}"#
            )),
            Ok(Some(r#"{ "v": 1.0, "capabilities": {"roots":{ "x":1 }}, "z":0}"#.into()))
        );
        assert_eq!(without_sampling(raw(r#"{"capabilities":{}}"#)), Ok(None));
        assert!(without_sampling(raw(r#"{"capabilities":{},"capabilities":{"sampling":{}}}"#)).is_err());
    }

    #[test]
    fn changed_tools_are_announced() {
        assert_eq!(
            announcing_changes(r#"{"a" : 1,"capabilities":{"tools":{ }, "x" : 2}}"#).unwrap(),
            r#"{"a" : 1,"capabilities":{"tools":{"listChanged":true}, "x" : 2}}"#
        );
        assert!(announcing_changes(r#"{"capabilities":{"tools":{"listChanged":true}}}"#).is_none());
        assert!(announcing_changes(r#"{"capabilities":{}}"#).is_none());
    }
}
