//! What an agent writes to a server's stdin, without squire between them.

use crate::agents::{Agent, CLAUDE, CODEX};
use crate::driver::{LIMIT, search_path};
use crate::home::Home;
use crate::model::Model;
use crate::{process, programs};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

const SERVER: &str = "quick";

/// The lines of a first turn in which the agent calls one tool, as they came.
pub fn recorded(agent: &Agent, program: &Path) -> io::Result<Vec<String>> {
    let model = Model::start("echo")?;
    let mut home = Home::new()?;
    agent.write_settings(&mut home, &model.url())?;
    let log = home.beside("server.jsonl");
    let words = json!(["stdio", "--mode", "puppet", "--log", log]);
    let server = programs::fake_server()?;

    let mut command = Command::new(program);
    command.args((agent.arguments)(SERVER)).current_dir(home.project()).env_clear();
    command.env("HOME", home.path()).env("PATH", search_path(agent, program, &home)?);
    command.envs(agent.environment.iter().copied());
    if agent.name == CLAUDE.name {
        let entry = json!({ "command": server, "args": words, "alwaysLoad": true });
        let file = home.beside("servers.json");
        fs::write(&file, json!({ "mcpServers": { SERVER: entry } }).to_string())?;
        command.arg(format!("--mcp-config={}", file.display())).env("MCP_CONNECT_TIMEOUT_MS", "60000");
    } else if agent.name == CODEX.name {
        // Strings and arrays of JSON are strings and arrays of TOML.
        let entry = format!(
            "{{command={}, args={words}, required=true, default_tools_approval_mode=\"approve\"}}",
            json!(server)
        );
        command.arg("-c").arg(format!("mcp_servers.{SERVER}={entry}"));
    } else {
        let words = [vec![json!(server)], words.as_array().cloned().unwrap_or_default()].concat();
        let entry = json!({ "type": "local", "command": words, "enabled": true });
        command.env("OPENCODE_CONFIG_CONTENT", json!({ "mcp": { SERVER: entry } }).to_string());
    }
    let finished = process::run(&mut command, &home.beside(""), LIMIT)?;
    let text = fs::read_to_string(&log).unwrap_or_default();
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut lines: Vec<String> =
        events.filter_map(|event| event["text"].as_str().map(str::to_owned)).collect();
    let Some(call) = lines.iter().position(|line| line.contains("\"tools/call\"")) else {
        return Err(io::Error::other(format!("{lines:#?}\n{}\n{}", finished.stdout, finished.stderr)));
    };
    lines.truncate(call + 1);
    Ok(lines.iter().map(|line| scrubbed(line)).collect())
}

/// The recording of an agent, which the gateway's tests replay.
pub fn file(agent: &Agent) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../relaying/recorded");
    folder.join(agent.name).with_extension("jsonl")
}

/// A line without what is of one session: its names and its times.
fn scrubbed(line: &str) -> String {
    const NAME: &str = "00000000-0000-7000-8000-000000000000";
    const TIME: &str = "1700000000000";
    let is_like = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(byte, pattern)| match pattern {
                b'-' => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    };
    let (mut out, mut rest) = (String::new(), line);
    while let Some(first) = rest.chars().next() {
        let starts = |pattern: &str| rest.get(..pattern.len()).is_some_and(|text| is_like(text, pattern));
        let is_time =
            rest.get(..TIME.len()).is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let (new, length) = if starts(NAME) {
            (NAME, NAME.len())
        } else if is_time {
            (TIME, TIME.len())
        } else {
            (&rest[..first.len_utf8()], first.len_utf8())
        };
        out.push_str(new);
        rest = &rest[length..];
    }
    out
}

/// A message with nothing but its structure and its method, which stay from session to session.
pub fn structure(message: &Value) -> Value {
    match message {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), if key == "method" { value.clone() } else { structure(value) }))
            .collect(),
        Value::Array(values) => values.iter().map(structure).collect(),
        Value::String(_) => json!(""),
        Value::Number(_) => json!(0),
        Value::Bool(_) => json!(true),
        Value::Null => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::scrubbed;

    #[test]
    fn what_is_of_one_session_goes() {
        let line = r#"{"a":"01a22bac-65e2-77a2-bd74-61f38335dfca:0","t":1796029048371,"é":12,"b":"01a2-65"}"#;
        let expected =
            r#"{"a":"00000000-0000-7000-8000-000000000000:0","t":1700000000000,"é":12,"b":"01a2-65"}"#;
        assert_eq!(scrubbed(line), expected);
    }
}
