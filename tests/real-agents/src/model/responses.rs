//! OpenAI Responses, streamed.

use super::{ARGUMENTS, Question, Reply, Tool, event_stream, text};
use crate::http::Response;
use serde_json::{Value, json};

pub(super) fn read(request: &Value) -> Question {
    let tools = request["tools"].as_array().into_iter().flatten();
    let newest = request["input"].as_array().and_then(|items| items.last());
    let result = newest.filter(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with("_output")));
    Question { tools: tools.flat_map(expand).collect(), result: result.map(|item| text(&item["output"])) }
}

/// Codex offers one server's tools as a namespace, and its own ones flat, some with a type in place of a name.
fn expand(tool: &Value) -> Vec<Tool> {
    if tool["type"] != "namespace" {
        return vec![Tool::named(tool.get("name").unwrap_or(&tool["type"]))];
    }
    let members = tool["tools"].as_array().into_iter().flatten();
    let namespace = Some(text(&tool["name"]));
    members.map(|member| Tool { namespace: namespace.clone(), ..Tool::named(&member["name"]) }).collect()
}

pub(super) fn write(_request: &Value, reply: &Reply) -> Response {
    let item = match reply {
        Reply::Call(Tool { namespace, name }) => {
            let mut call = json!({
                "type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed",
                "name": name, "arguments": ARGUMENTS,
            });
            if let Some(namespace) = namespace {
                call["namespace"] = json!(namespace);
            }
            call
        }
        Reply::Say(text) => json!({
            "type": "message", "id": "m_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
    };
    let usage = json!({
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": { "cached_tokens": 0 }, "output_tokens_details": { "reasoning_tokens": 0 },
    });
    let response = |status: &str, output: &[&Value]| json!({ "id": "resp_1", "object": "response", "status": status, "output": output, "usage": usage });
    event_stream(&[
        json!({ "type": "response.created", "response": response("in_progress", &[]) }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": response("completed", &[&item]) }),
    ])
}

#[cfg(test)]
mod tests {
    use super::{Reply, Tool, read, write};
    use serde_json::json;

    #[test]
    fn the_tools_of_a_namespace_carry_its_name() {
        let question = read(&json!({ "tools": [
            { "type": "function", "name": "shell" },
            { "type": "web_search" },
            { "type": "namespace", "name": "mcp__quick", "tools": [{ "name": "echo" }] },
        ] }));
        let names: Vec<_> = question.tools.iter().map(Tool::full_name).collect();
        assert_eq!(names, ["shell", "web_search", "mcp__quick__echo"]);
        assert_eq!(question.result, None);
    }

    #[test]
    fn a_result_is_the_newest_item() {
        let question = read(&json!({ "input": [
            { "type": "message" },
            { "type": "function_call_output", "output": [{ "type": "input_text", "text": "echo:hi" }] },
        ] }));
        assert_eq!(question.result.as_deref(), Some("echo:hi"));
    }

    #[test]
    fn a_call_goes_to_the_namespace() {
        let tool = Tool { namespace: Some("mcp__quick".into()), name: "echo".into() };
        let response = write(&json!({}), &Reply::Call(tool));
        assert!(response.body.contains(r#""namespace":"mcp__quick""#));
        assert!(response.body.contains("event: response.completed\n"));
    }
}
