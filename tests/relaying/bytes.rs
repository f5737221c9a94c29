//! What policy does not touch passes byte for byte, in order.

use serde_json::json;

use super::conversation::{Conversation, HELLO, puppet, text};

/// Lines that a reader and writer of JSON would change.
const ODD: &[&str] = &[
    r#" {"method" :"x/y" ,"jsonrpc":"2.0",  "id": 9007199254740993 ,"params":{"n":[1.0,1e2,-0,1E+2,0.10],"n2":12345678901234567890123}}  "#,
    r#"{"id":"\u0061\/b","jsonrpc":"2.0","method":"x","params":{"\u00e9":"\ud83d\ude42🙂","b":1,"a":2,"empty":{} , "l":[ ]}}"#,
    r#"{"jsonrpc":"2.0","id":-1.5,"method":"resources/read","params":{"uri":"a:b"},"unknown":[null,true]}"#,
    "{\"jsonrpc\":\"2.0\",\t\"method\":\"notifications/odd\",\"params\":{\"_meta\":{\"traceparent\":\"00-1\"}}}",
    r#"{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"arguments":{"n":1.00,"z":0,"a":1},"name":"silence","task":{"ttl":1e3}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none","reason":"\u2028"}}"#,
];

#[test]
fn the_agents_bytes_reach_the_server() {
    let mut conversation = Conversation::begun(puppet(""));
    for line in ODD {
        conversation.say(line);
    }
    for _ in 0..3 {
        assert_eq!(conversation.hear()["error"]["code"], -32601);
    }
    conversation.works();
    let got = conversation.got();
    assert_eq!(got[2..2 + ODD.len()], *ODD);
    conversation.close_stdin();
    // The end answers what is open, by the id as it was written.
    assert_eq!(conversation.hear()["id"], "call");
    conversation.finish();
}

#[test]
fn the_servers_bytes_reach_the_agent() {
    let mut conversation = Conversation::begun(puppet(""));
    let lines = [
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":{"b":1,"a":1.0}},"x":[ ]}"#,
        r#" { "jsonrpc":"2.0", "id" : 1 , "method":"roots/list" } "#,
        r#"{"jsonrpc":"2.0","method":"unknown/\u0061","params":[1,2]}"#,
        r#"{"result":{"content":[],"n":1e400,"z":1,"a":0.10, "_meta":{"\u00e9":null}},"jsonrpc":"2.0","id":4.0}"#,
        r#"{"error":{"message":"\u00e9","code":-1.0,"data":{"x":[1.0]}},"id":"\u0035","extra":1}"#,
    ];
    for (index, line) in lines.iter().enumerate() {
        // The last two answer the calls that say them.
        let id = ["1", "2", "3", "4.0", "\"5\""][index];
        let arguments = json!({ "line": line });
        conversation.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"say","arguments":{arguments}}}}}"#
        ));
        assert_eq!(conversation.hear_line(), *line);
    }
    let answer = r#"{"id" :1, "result":{"roots":[ ]},"jsonrpc":"2.0"}"#;
    conversation.say(answer);
    conversation.say(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#);
    assert_eq!(conversation.hear_line(), r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    assert_eq!(conversation.got()[7], answer);
    conversation.finish_with(&[1, 2, 3]);
}

#[test]
fn noise_and_blank_lines_of_the_server_do_not_reach_the_agent() {
    let mut conversation = Conversation::begun(puppet(""));
    for line in ["Starting...", "", "{ not JSON", "\u{feff}"] {
        conversation.ask_tool("say", &json!({ "line": line }));
    }
    conversation.works();
    let said = conversation.stderr();
    assert!(said.contains("squire: a: no message: Starting...\n"), "{said}");
    conversation.finish_with(&[1, 2, 3, 4]);
}

#[test]
fn the_order_is_kept_under_pipelining() {
    let mut conversation = Conversation::begun(puppet(""));
    let calls = (1..=500).map(|id| {
        let notification = format!(r#"{{"jsonrpc":"2.0","method":"notifications/odd","params":{{"n":{id}}}}}"#);
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{id}"}}}}}}"#
        );
        format!("{notification}\n{call}")
    });
    let sent: Vec<String> =
        calls.clone().flat_map(|lines| lines.split('\n').map(str::to_owned).collect::<Vec<_>>()).collect();
    for lines in calls {
        conversation.say(&lines);
    }
    for id in 1..=500 {
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"echo:{id}"}}]}}}}"#
        );
        assert_eq!(conversation.hear_line(), expected);
    }
    assert_eq!(conversation.got()[2..], sent);
    conversation.finish();
}

/// As a shell's pipe does: everything at once, and the end.
#[test]
fn what_is_said_before_the_server_runs_is_answered_after_the_end_of_the_input() {
    let mut conversation = Conversation::start(puppet(""));
    conversation.say(HELLO);
    conversation.ask_tool("echo", &json!({ "text": "late" }));
    conversation.close_stdin();
    assert_eq!(conversation.hear()["id"], 0);
    assert_eq!(text(&conversation.hear()), "echo:late");
    conversation.finish();
}
