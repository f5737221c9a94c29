//! Anthropic Messages, with and without streaming.

use super::{ARGUMENTS, Question, Reply, Tool, event_stream, text};
use crate::http::Response;
use serde_json::{Value, json};

pub(super) fn read(request: &Value) -> Question {
    let tools = request["tools"].as_array().into_iter().flatten();
    let newest =
        request["messages"].as_array().and_then(|all| all.iter().rfind(|each| each["role"] == "user"));
    let blocks = newest.and_then(|message| message["content"].as_array()).into_iter().flatten();
    Question {
        tools: tools.map(|tool| Tool::named(&tool["name"])).collect(),
        result: blocks
            .rev()
            .find(|block| block["type"] == "tool_result")
            .map(|block| text(&block["content"])),
    }
}

pub(super) fn write(request: &Value, reply: &Reply) -> Response {
    let arguments: Value = serde_json::from_str(ARGUMENTS).unwrap_or_default();
    let (start, delta, whole, reason) = match reply {
        Reply::Call(tool) => {
            let block =
                |input| json!({ "type": "tool_use", "id": "toolu_1", "name": tool.name, "input": input });
            let delta = json!({ "type": "input_json_delta", "partial_json": ARGUMENTS });
            (block(json!({})), delta, block(arguments), "tool_use")
        }
        Reply::Say(text) => {
            let block = |text| json!({ "type": "text", "text": text });
            (block(""), json!({ "type": "text_delta", "text": text }), block(text), "end_turn")
        }
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let mut message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    if request["stream"] != true {
        message["content"] = json!([whole]);
        message["stop_reason"] = json!(reason);
        return Response::json(message.to_string());
    }
    event_stream(&[
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": start }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "usage": usage, "delta": { "stop_reason": reason, "stop_sequence": null } }),
        json!({ "type": "message_stop" }),
    ])
}

#[cfg(test)]
mod tests {
    use super::{Reply, Tool, read, write};
    use serde_json::{Value, json};

    #[test]
    fn a_result_is_read_from_the_newest_message_of_the_user() {
        let question = read(&json!({ "tools": [{ "name": "echo" }], "messages": [
            { "role": "user", "content": "call echo" },
            { "role": "assistant", "content": [{ "type": "tool_use" }] },
            { "role": "user", "content": [
                { "type": "tool_result", "content": [{ "type": "text", "text": "echo:hi" }] },
                { "type": "text", "text": "a reminder" },
            ] },
        ] }));
        assert_eq!(question.tools, [Tool::named(&json!("echo"))]);
        assert_eq!(question.result.as_deref(), Some("echo:hi"));
    }

    #[test]
    fn an_answer_without_streaming_is_one_message() {
        let response = write(&json!({ "model": "m" }), &Reply::Call(Tool::named(&json!("echo"))));
        let message: Value = serde_json::from_str(&response.body).unwrap();
        assert_eq!(message["stop_reason"], "tool_use");
        assert_eq!(message["content"][0]["input"], json!({ "text": "hi" }));
    }

    #[test]
    fn a_stream_names_its_events() {
        let response = write(&json!({ "stream": true }), &Reply::Say("bye".into()));
        assert!(response.body.starts_with("event: message_start\ndata: {"));
        assert!(response.body.contains(r#""delta":{"type":"text_delta","text":"bye"}"#));
    }
}
