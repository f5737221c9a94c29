//! A small MCP server over any reader and writer.

use std::io::{self, BufRead, ErrorKind, Write};

use serde_json::{Value, json};

use super::lines::{Line, Lines};
use super::message::{
    self, Flaw, INVALID_PARAMS, INVALID_REQUEST, Incoming, METHOD_NOT_FOUND, PARSE_ERROR, to_line,
};
use super::{LINE_LIMIT, OFFERED_REVISION, has_initialize};

/// What a server is: the built-in one, or the stand-in for one that could not be started (no tools, and the reason
/// in its instructions).
pub struct Service {
    /// The name for programs.
    pub name: String,
    /// The version.
    pub version: String,
    /// Advice to the model.
    pub instructions: Option<String>,
    /// The tools, in the order in which they are listed.
    pub tools: Vec<ServiceTool>,
    /// Hears of each request that was answered with a result, by its method.
    pub heard: Box<dyn Fn(&str)>,
}

/// A tool that only reads: it is always announced with `readOnlyHint`.
pub struct ServiceTool {
    /// The name by which it is called.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments, of type `object`.
    pub input_schema: Value,
    /// What answers a call of it.
    pub call: Call,
}

/// Answers a call with these arguments, which are always an object but not checked against the schema. An error is a
/// sentence that the model gets as a failed result.
pub type Call = Box<dyn Fn(&Value) -> Result<Reply, String>>;

/// What a call gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// For the model.
    pub text: String,
    /// The same for programs, an object (revision 2025-06-18, `structuredContent`).
    pub structured: Option<Value>,
}

/// Serves until `input` ends. Every request gets exactly one answer and no line ends the service: what is not JSON is
/// answered with an error and passed over (case B74). It speaks the revisions that begin with `initialize`; a client
/// of 2026-07-28 learns from the refusal of `server/discover` to fall back to one. An output that was closed is the end of
/// the conversation too, not an error; other failures of `input` and `output` are.
pub fn serve(service: &Service, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    converse(input, &mut output, |line| Some(to_line(&answer(service, line)?)))
}

/// Answers every request with the same refusal, of the gateway's: there is no server. It ends as [`serve`] does.
pub fn refuse(sentence: &str, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    converse(input, &mut output, |line| {
        let Line::Whole(line) = line else { return None };
        let Incoming::Request { id, .. } = message::classify(line) else { return None };
        Some([squire_relay::server_error(&id.to_string(), sentence), b"\n".to_vec()].concat())
    })
}

fn converse(
    input: impl BufRead,
    output: &mut impl Write,
    answer: impl Fn(&Line) -> Option<Vec<u8>>,
) -> io::Result<()> {
    for line in Lines::new(input, LINE_LIMIT) {
        let Some(answer) = answer(&line?) else { continue };
        match output.write_all(&answer).and_then(|()| output.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            outcome => outcome?,
        }
    }
    Ok(())
}

fn answer(service: &Service, line: &Line) -> Option<Value> {
    let line = match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => return None,
        Line::Whole(line) => line,
        Line::TooLong => return Some(message::error(Value::Null, INVALID_REQUEST, "the line is too long")),
    };
    match message::classify(line) {
        Incoming::Request { id, method, params } => Some(match respond(service, &method, &params) {
            Ok(result) => {
                (service.heard)(&method);
                message::response(id, result)
            }
            Err((code, sentence)) => message::error(id, code, &sentence),
        }),
        // Nothing was asked of the client, and nothing that it reports changes what is served.
        Incoming::Notification { .. } | Incoming::Response { .. } => None,
        Incoming::Garbage(flaw) => {
            let (code, sentence) = match flaw {
                Flaw::NotJson => (PARSE_ERROR, "the line is not JSON"),
                Flaw::Batch => (INVALID_REQUEST, "batches are not served"),
                Flaw::NotMessage => (INVALID_REQUEST, "the line is not a JSON-RPC 2.0 message"),
            };
            Some(message::error(Value::Null, code, sentence))
        }
    }
}

fn respond(service: &Service, method: &str, params: &Value) -> Result<Value, (i64, String)> {
    match method {
        "initialize" => Ok(hello(service, params)),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": service.tools.iter().map(describe).collect::<Vec<_>>() })),
        "tools/call" => call(service, params),
        _ => Err((METHOD_NOT_FOUND, format!("unknown method: {method}"))),
    }
}

/// A revision that is known comes back as asked, any other becomes the newest that is served (case B48).
fn hello(service: &Service, params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).filter(|asked| has_initialize(asked));
    let mut hello = json!({
        "protocolVersion": asked.unwrap_or(OFFERED_REVISION),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": service.name, "version": service.version },
    });
    if let Some(instructions) = &service.instructions {
        hello["instructions"] = instructions.as_str().into();
    }
    hello
}

fn describe(tool: &ServiceTool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": { "title": tool.title, "readOnlyHint": true, "openWorldHint": false },
    })
}

fn call(service: &Service, params: &Value) -> Result<Value, (i64, String)> {
    let refuse = |sentence: String| (INVALID_PARAMS, sentence);
    let Some(name) = params.get("name").and_then(Value::as_str) else {
        return Err(refuse("tools/call needs the name of a tool".into()));
    };
    let Some(tool) = service.tools.iter().find(|tool| tool.name == name) else {
        return Err(refuse(format!("unknown tool: {name}")));
    };
    let none = json!({});
    let arguments = params.get("arguments").filter(|arguments| !arguments.is_null()).unwrap_or(&none);
    if !arguments.is_object() {
        return Err(refuse(format!("the arguments of {name} are not an object")));
    }
    let text = |text: String| json!([{ "type": "text", "text": text }]);
    Ok(match (tool.call)(arguments) {
        Ok(Reply { text: words, structured: None }) => json!({ "content": text(words) }),
        Ok(Reply { text: words, structured: Some(value) }) => {
            json!({ "content": text(words), "structuredContent": value })
        }
        Err(sentence) => json!({ "content": text(sentence), "isError": true }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Service {
        let call = |arguments: &Value| match arguments.get("fail") {
            Some(_) => Err("it failed".to_owned()),
            None => Ok(Reply { text: "読—🙂".into(), structured: Some(json!({ "got": arguments })) }),
        };
        let tool = ServiceTool {
            name: "look".into(),
            title: "Look".into(),
            description: "Looks.".into(),
            input_schema: json!({ "type": "object" }),
            call: Box::new(call),
        };
        Service {
            name: "s".into(),
            version: "1".into(),
            instructions: Some("why".into()),
            tools: vec![tool],
            heard: Box::new(|_| {}),
        }
    }

    fn talk(input: &[u8]) -> Vec<Value> {
        let mut output = Vec::new();
        serve(&service(), input, &mut output).unwrap();
        output
            .split_inclusive(|&byte| byte == b'\n')
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    fn ask(method: &str, params: Value) -> Value {
        let answers = talk(&to_line(&message::request(json!("id"), method, params)));
        assert_eq!((answers.len(), &answers[0]["id"]), (1, &json!("id")));
        answers[0].clone()
    }

    #[test]
    fn revisions_are_echoed_when_known() {
        for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            let hello = ask("initialize", json!({ "protocolVersion": revision }));
            assert_eq!(hello["result"]["protocolVersion"], revision);
        }
        for params in [
            json!({ "protocolVersion": "2099-01-01" }),
            json!({ "protocolVersion": "2026-07-28" }),
            json!({}),
        ] {
            let hello = ask("initialize", params);
            assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
            assert_eq!(hello["result"]["instructions"], "why");
        }
    }

    #[test]
    fn tools_are_listed_and_called() {
        let tool = ask("tools/list", Value::Null)["result"]["tools"][0].take();
        assert_eq!((&tool["name"], &tool["annotations"]["readOnlyHint"]), (&json!("look"), &json!(true)));
        let done = ask("tools/call", json!({ "name": "look", "arguments": { "a": 1 } }));
        let expected = json!({
            "content": [{ "type": "text", "text": "読—🙂" }],
            "structuredContent": { "got": { "a": 1 } },
        });
        assert_eq!(done["result"], expected);
        let failed = ask("tools/call", json!({ "name": "look", "arguments": { "fail": 1 } }));
        assert_eq!(failed["result"]["isError"], true);
        assert_eq!(
            ask("tools/call", json!({ "name": "look" }))["result"]["structuredContent"]["got"],
            json!({})
        );
        for params in [json!({ "name": "other" }), json!({}), json!({ "name": "look", "arguments": [] })] {
            assert_eq!(ask("tools/call", params)["error"]["code"], INVALID_PARAMS);
        }
    }

    #[test]
    fn unknown_methods_are_refused() {
        assert_eq!(ask("ping", Value::Null)["result"], json!({}));
        for method in ["server/discover", "resources/list", "prompts/list", "subscriptions/listen"] {
            assert_eq!(ask(method, Value::Null)["error"]["code"], METHOD_NOT_FOUND);
        }
    }

    #[test]
    fn no_line_ends_the_service() {
        let ping = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        let lines: [&[u8]; 9] = [
            b"\xff\xfe garbage",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xe8\xaf\"}",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}",
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            b"{\"level\":\"info\"}\r",
            b"",
            br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            ping,
        ];
        let answers = talk(&lines.join(&b'\n'));
        let codes: Vec<_> = answers.iter().map(|answer| answer["error"]["code"].as_i64()).collect();
        assert_eq!(codes, [Some(-32700), Some(-32700), Some(-32700), Some(-32600), Some(-32600), None]);
        assert!(answers[..5].iter().all(|answer| answer["id"].is_null()));
        assert_eq!(answers[5]["id"], 7);
    }

    #[test]
    fn a_closed_output_is_a_quiet_end() {
        struct Closed(ErrorKind);
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let ping = to_line(&message::request(json!(1), "ping", Value::Null));
        assert!(serve(&service(), &ping[..], Closed(ErrorKind::BrokenPipe)).is_ok());
        assert!(serve(&service(), &ping[..], Closed(ErrorKind::StorageFull)).is_err());
    }
}
