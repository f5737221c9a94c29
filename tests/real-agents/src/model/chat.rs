//! OpenAI Chat Completions, with and without streaming.

use super::{ARGUMENTS, Question, Reply, Tool, event_stream, text};
use crate::http::Response;
use serde_json::{Value, json};

pub(super) fn read(request: &Value) -> Question {
    let tools = request["tools"].as_array().into_iter().flatten();
    let newest = request["messages"].as_array().and_then(|messages| messages.last());
    let result = newest.filter(|message| message["role"] == "tool");
    Question {
        tools: tools.map(|tool| Tool::named(&tool["function"]["name"])).collect(),
        result: result.map(|message| text(&message["content"])),
    }
}

pub(super) fn write(request: &Value, reply: &Reply) -> Response {
    let (message, reason) = match reply {
        Reply::Call(tool) => {
            let function = json!({ "name": tool.name, "arguments": ARGUMENTS });
            let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
            (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
        }
        Reply::Say(text) => (json!({ "role": "assistant", "content": text }), "stop"),
    };
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
    let completion = |object: &str, choice: Value| {
        json!({
            "id": "c_1", "object": object, "created": 1, "model": request["model"], "choices": [choice], "usage": usage,
        })
    };
    if request["stream"] != true {
        let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
        return Response::json(completion("chat.completion", choice).to_string());
    }
    let chunk = |choice| completion("chat.completion.chunk", choice);
    let mut response = event_stream(&[
        chunk(json!({ "index": 0, "delta": message, "finish_reason": null })),
        chunk(json!({ "index": 0, "delta": {}, "finish_reason": reason })),
    ]);
    response.body += "data: [DONE]\n\n";
    response
}

#[cfg(test)]
mod tests {
    use super::{Reply, Tool, read, write};
    use serde_json::json;

    #[test]
    fn a_result_is_the_newest_message() {
        let question = read(&json!({
            "tools": [{ "type": "function", "function": { "name": "quick_echo" } }],
            "messages": [{ "role": "user", "content": "call echo" }, { "role": "tool", "content": "echo:hi" }],
        }));
        assert_eq!(question.tools, [Tool::named(&json!("quick_echo"))]);
        assert_eq!(question.result.as_deref(), Some("echo:hi"));
    }

    #[test]
    fn a_stream_ends_with_done() {
        let response = write(&json!({ "stream": true }), &Reply::Call(Tool::named(&json!("quick_echo"))));
        assert!(response.body.starts_with("data: {"));
        assert!(response.body.contains(r#""name":"quick_echo""#));
        assert!(response.body.ends_with("data: [DONE]\n\n"));
    }
}
