//! The server that does what the tool of each call says, over stdio: what no server would do when it is asked.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::left_behind::LIFETIME;
use super::mode::Mode;
use super::service::{Reaction, Service};
use super::stdio::say;
use super::{DEATH, complain};
use crate::signals;

/// The id of its one request to the agent.
const SAMPLE: &str = "sample";

/// What comes of a message.
enum Turn {
    /// The next one, please.
    Next,
    /// This is no call of a puppet's tool.
    Ordinary,
    Crash,
}

/// Serves until stdin ends, or a call ends it; returns the exit status.
pub(crate) fn serve(service: &Service) -> io::Result<u8> {
    let survives = matches!(service.mode, Mode::Survivor(_));
    if survives {
        signals::ignore_terminate()?;
    }
    let mut sampling = Value::Null;
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        service.log.append(&json!({ "event": "line", "text": String::from_utf8_lossy(&line) }))?;
        let message = serde_json::from_slice(&line).unwrap_or_default();
        match obey(&message, &mut sampling)? {
            Turn::Next => {}
            Turn::Crash => return Ok(complain(DEATH, "crashing, as asked")),
            Turn::Ordinary => {
                if let Reaction::Reply(reply) = service.react(&line)? {
                    say(&reply.to_string())?;
                }
            }
        }
    }
    if survives {
        thread::sleep(LIFETIME);
    }
    Ok(0)
}

fn obey(message: &Value, sampling: &mut Value) -> io::Result<Turn> {
    let (id, params) = (&message["id"], &message["params"]);
    if message["id"] == SAMPLE {
        say(&told(&sampling.take(), &message.to_string()))?;
        return Ok(Turn::Next);
    }
    if message["method"] != "tools/call" {
        return Ok(Turn::Ordinary);
    }
    let arguments = &params["arguments"];
    let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
    let pause = Duration::from_millis(number("milliseconds"));
    let size = usize::try_from(number("bytes")).unwrap_or_default();
    match params["name"].as_str().unwrap_or_default() {
        "crash" => return Ok(Turn::Crash),
        "silence" => {}
        // Hears nothing meanwhile.
        "nap" => {
            thread::sleep(pause);
            say(&told(id, "awake"))?;
        }
        "say" => say(arguments["line"].as_str().unwrap_or_default())?,
        "bytes" => say(&told(id, &"x".repeat(size)))?,
        "stderr" => {
            io::stderr().write_all("all is well\n".repeat(size / 12).as_bytes())?;
            say(&told(id, "said"))?;
        }
        "close" => {
            rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
            thread::sleep(LIFETIME);
        }
        "sample" => {
            *sampling = id.clone();
            say(
                &json!({ "jsonrpc": "2.0", "id": SAMPLE, "method": "sampling/createMessage", "params": {} })
                    .to_string(),
            )?;
        }
        "progress" => {
            let (token, id) = (params["_meta"]["progressToken"].clone(), id.clone());
            let times = number("times");
            thread::spawn(move || {
                for time in 0..times {
                    thread::sleep(pause);
                    let params = json!({ "progressToken": token, "progress": time });
                    let method = "notifications/progress";
                    say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())?;
                }
                say(&told(&id, "done"))
            });
        }
        _ => return Ok(Turn::Ordinary),
    }
    Ok(Turn::Next)
}

/// The answer to a call.
fn told(id: &Value, text: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
        .to_string()
}
