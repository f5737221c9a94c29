//! What the server answers to a message, apart from how and when it arrives.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMETERS: i32 = -32602;
const REFUSED: i32 = -32000;

/// How `tools/list` goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// All tools at once.
    Whole,
    /// One tool a page.
    Pages,
    /// All tools, again and again, behind a cursor that never moves.
    Endless,
    /// An error.
    Refused,
}

/// What the answers depend on.
pub(crate) struct State {
    /// The names of the tools that all behave like `echo`; without them there are three of a kind.
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) instructions: Option<String>,
    /// A file with what the server tells of itself, read for each answer.
    pub(crate) definitions: Option<PathBuf>,
    pub(crate) listing: Listing,
    pub(crate) environment: Map<String, Value>,
}

/// The code and the sentence of a JSON-RPC error.
type Failure = (i32, String);

/// The answer to one message; a notification and a response have none.
pub(crate) fn answer(state: &State, message: &Value) -> Option<Value> {
    let Some(object) = message.as_object() else {
        return Some(error_reply(&Value::Null, INVALID_REQUEST, "not one message"));
    };
    let id = object.get("id")?;
    let method = object.get("method")?.as_str().unwrap_or_default();
    Some(match result(state, method, &message["params"]) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, sentence)) => error_reply(id, code, &sentence),
    })
}

/// A JSON-RPC error.
pub(crate) fn error_reply(id: &Value, code: i32, sentence: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": sentence } })
}

fn result(state: &State, method: &str, parameters: &Value) -> Result<Value, Failure> {
    match method {
        "initialize" => Ok(initialize(state, parameters)),
        "ping" => Ok(json!({})),
        "tools/list" => list(state, &parameters["cursor"]),
        "prompts/list" if state.definitions.is_some() => Ok(json!({ "prompts": defined(state)["prompts"] })),
        "prompts/get" if state.definitions.is_some() => Ok(json!({ "messages": [] })),
        "tools/call" => {
            call(state, parameters).map(|text| json!({ "content": [{ "type": "text", "text": text }] }))
        }
        _ => Err((METHOD_NOT_FOUND, format!("Method not found: {method}"))),
    }
}

fn initialize(state: &State, parameters: &Value) -> Value {
    let mut result = json!({
        "protocolVersion": parameters["protocolVersion"],
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "fake-server", "version": "1" },
    });
    if let Some(instructions) = &state.instructions {
        result["instructions"] = json!(instructions);
    }
    if state.definitions.is_some() {
        let defined = defined(state);
        if defined["prompts"].is_array() {
            result["capabilities"]["prompts"] = json!({});
        }
        if defined["instructions"].is_string() {
            result["instructions"] = defined["instructions"].clone();
        }
    }
    result
}

/// What the file of definitions says now.
fn defined(state: &State) -> Value {
    let text = state.definitions.as_ref().and_then(|file| fs::read(file).ok()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn list(state: &State, cursor: &Value) -> Result<Value, Failure> {
    let tools = tools(state);
    match state.listing {
        Listing::Whole => Ok(json!({ "tools": tools })),
        Listing::Pages => page(&tools, cursor),
        Listing::Endless => Ok(json!({ "tools": tools, "nextCursor": "again" })),
        Listing::Refused => Err((REFUSED, "list refused".into())),
    }
}

fn page(tools: &[Value], cursor: &Value) -> Result<Value, Failure> {
    let index =
        if cursor.is_null() { Some(0) } else { cursor.as_str().and_then(|cursor| cursor.parse().ok()) };
    let Some((index, tool)) = index.and_then(|index: usize| Some((index, tools.get(index)?))) else {
        return Err((INVALID_PARAMETERS, format!("Unknown cursor: {cursor}")));
    };
    let mut page = json!({ "tools": [tool] });
    if index + 1 < tools.len() {
        page["nextCursor"] = json!((index + 1).to_string());
    }
    Ok(page)
}

fn tools(state: &State) -> Vec<Value> {
    if state.definitions.is_some() {
        return defined(state)["tools"].as_array().cloned().unwrap_or_default();
    }
    match &state.tools {
        Some(names) => names.iter().map(|name| echo_tool(name)).collect(),
        None => vec![
            echo_tool("echo"),
            tool("add", "Adds two numbers.", &[("a", "number"), ("b", "number")]),
            tool("environment", "Reads a variable of the environment.", &[("name", "string")]),
        ],
    }
}

fn echo_tool(name: &str) -> Value {
    tool(name, "Says the text again.", &[("text", "string")])
}

fn tool(name: &str, description: &str, parameters: &[(&str, &str)]) -> Value {
    let properties: Map<String, Value> =
        parameters.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
    let required: Vec<_> = parameters.iter().map(|(name, _)| name).collect();
    json!({
        "name": name,
        "description": description,
        "inputSchema": { "type": "object", "properties": properties, "required": required },
    })
}

fn call(state: &State, parameters: &Value) -> Result<String, Failure> {
    let name = parameters["name"].as_str().unwrap_or_default();
    let arguments = &parameters["arguments"];
    let text = |argument: &str| arguments[argument].as_str().unwrap_or_default().to_owned();
    match (&state.tools, name) {
        // Whatever it is called by: also what no list has.
        _ if state.definitions.is_some() => Ok(format!("called:{name}")),
        (Some(names), name) if names.iter().any(|known| known == name) => {
            Ok(format!("echo:{}", text("text")))
        }
        (None, "echo") => Ok(format!("echo:{}", text("text"))),
        (None, "add") => Ok(sum(&arguments["a"], &arguments["b"])),
        (None, "environment") => {
            let value = state.environment.get(&text("name")).and_then(Value::as_str);
            Ok(value.unwrap_or("(unset)").to_owned())
        }
        _ => Err((INVALID_PARAMETERS, format!("Unknown tool: {name}"))),
    }
}

fn sum(a: &Value, b: &Value) -> String {
    (a.as_f64().unwrap_or_default() + b.as_f64().unwrap_or_default()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        let environment = Map::from_iter([("HOME".into(), json!("/home"))]);
        State { tools: None, instructions: None, definitions: None, listing: Listing::Whole, environment }
    }

    fn ask(state: &State, method: &str, parameters: &Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": parameters });
        let mut reply = answer(state, &message).unwrap();
        assert_eq!(reply["id"], 7);
        reply.as_object_mut().unwrap().remove("result").unwrap_or_else(|| reply["error"]["code"].take())
    }

    fn called(state: &State, name: &str, arguments: &Value) -> Value {
        ask(state, "tools/call", &json!({ "name": name, "arguments": arguments }))["content"][0]["text"]
            .take()
    }

    fn names(listed: &Value) -> Vec<&str> {
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn initialize_agrees_to_the_version() {
        let mut state = state();
        let parameters = json!({ "protocolVersion": "2025-06-18" });
        let result = ask(&state, "initialize", &parameters);
        assert_eq!(result["protocolVersion"], "2025-06-18");
        assert_eq!(result["serverInfo"], json!({ "name": "fake-server", "version": "1" }));
        assert!(result.get("instructions").is_none());
        state.instructions = Some("Be kind.".into());
        assert_eq!(ask(&state, "initialize", &parameters)["instructions"], "Be kind.");
    }

    #[test]
    fn the_three_tools_work() {
        let state = state();
        assert_eq!(names(&ask(&state, "tools/list", &json!({}))), ["echo", "add", "environment"]);
        assert_eq!(called(&state, "echo", &json!({ "text": "hi" })), "echo:hi");
        assert_eq!(called(&state, "add", &json!({ "a": 2, "b": 3 })), "5");
        assert_eq!(called(&state, "environment", &json!({ "name": "HOME" })), "/home");
        assert_eq!(called(&state, "environment", &json!({ "name": "NONE" })), "(unset)");
    }

    #[test]
    fn named_tools_replace_them_and_echo() {
        let state = State { tools: Some(vec!["a".into()]), ..state() };
        assert_eq!(names(&ask(&state, "tools/list", &json!({}))), ["a"]);
        assert_eq!(called(&state, "a", &json!({ "text": "hi" })), "echo:hi");
        assert_eq!(ask(&state, "tools/call", &json!({ "name": "echo" })), INVALID_PARAMETERS);
    }

    #[test]
    fn pages_end_with_the_last_tool() {
        let state = State { listing: Listing::Pages, ..state() };
        let mut parameters = json!({});
        let mut cursors = Vec::new();
        for name in ["echo", "add", "environment"] {
            let page = ask(&state, "tools/list", &parameters);
            assert_eq!(names(&page), [name]);
            cursors.push(page["nextCursor"].clone());
            parameters = json!({ "cursor": page["nextCursor"] });
        }
        assert_eq!(cursors, [json!("1"), json!("2"), Value::Null]);
        assert_eq!(ask(&state, "tools/list", &json!({ "cursor": "3" })), INVALID_PARAMETERS);
    }

    #[test]
    fn a_list_may_be_endless_or_refused() {
        let endless = State { listing: Listing::Endless, ..state() };
        assert_eq!(ask(&endless, "tools/list", &json!({ "cursor": "again" }))["nextCursor"], "again");
        let refused = State { listing: Listing::Refused, ..state() };
        assert_eq!(ask(&refused, "tools/list", &json!({})), REFUSED);
    }

    #[test]
    fn only_requests_are_answered() {
        let state = state();
        assert_eq!(answer(&state, &json!({ "method": "notifications/initialized" })), None);
        assert_eq!(answer(&state, &json!({ "id": 1, "result": {} })), None);
        assert_eq!(ask(&state, "ping", &Value::Null), json!({}));
        assert_eq!(ask(&state, "server/discover", &Value::Null), METHOD_NOT_FOUND);
        assert_eq!(answer(&state, &json!([1, 2])).unwrap()["error"]["code"], INVALID_REQUEST);
    }
}
