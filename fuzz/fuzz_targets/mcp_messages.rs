//! JSON-RPC messages: what is understood and said again is understood as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire::mcp::message::{Incoming, classify, error, notification, request, response, to_line};

fuzz_target!(|line: &[u8]| {
    let first = classify(line);
    let said = match first.clone() {
        Incoming::Request { id, method, params } => request(id, &method, params),
        Incoming::Notification { method, params } => notification(&method, params),
        Incoming::Response { id, outcome: Ok(result) } => response(id, result),
        Incoming::Response { id, outcome: Err(failure) } => {
            let mut said = error(id, failure.code, &failure.message);
            if let Some(data) = failure.data {
                said["error"]["data"] = data;
            }
            said
        }
        Incoming::Garbage(_) => return,
    };
    let line = to_line(&said);
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
    assert_eq!(classify(&line), first);
});
