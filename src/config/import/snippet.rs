//! A JSON snippet out of a README: a whole file of an agent, a part of it, or one bare entry.

use serde_json::{Map, Value as Json};
use squire_strategies::parse_jsonc;

/// What holds servers by name in the files of agents.
const HOLDERS: &[&str] = &["mcpServers", "servers", "mcp_servers", "mcp", "context_servers"];
/// What only an entry itself has.
const OF_ENTRY: &[&str] = &["command", "url", "serverUrl", "httpUrl"];

/// An entry of a snippet, and the name that it has there.
#[derive(Clone, Debug, PartialEq)]
pub struct Snippet {
    /// None where the entry stands bare.
    pub name: Option<String>,
    /// The entry.
    pub entry: Map<String, Json>,
}

/// The entries of a text, which may have comments, trailing commas and no braces around it (case B15). The error says
/// what is wrong, with line and column where the text can't be read.
pub fn of_text(text: &str) -> Result<Vec<Snippet>, String> {
    let trimmed = text.trim_start_matches('\u{feff}').trim();
    let parsed = match parse_jsonc(trimmed.as_bytes()) {
        // Many a README shows the inside of the file alone.
        Err(_) if trimmed.starts_with('"') => parse_jsonc(format!("{{{trimmed}\n}}").as_bytes()),
        parsed => parsed,
    };
    let json = parsed.map_err(|error| format!("this is no JSON: {error}"))?;
    let Json::Object(object) = json else { return Err("this is no JSON object of servers".into()) };
    of_object(object)
}

fn of_object(object: Map<String, Json>) -> Result<Vec<Snippet>, String> {
    if OF_ENTRY.iter().any(|key| object.get(*key).is_some_and(|value| !value.is_object())) {
        return Ok(vec![Snippet { name: None, entry: object }]);
    }
    for holder in HOLDERS {
        if let Some(Json::Object(inner)) = object.get(*holder) {
            // VS Code's settings hold `mcp.servers`.
            return of_object(inner.clone());
        }
    }
    let mut snippets = Vec::new();
    for (name, value) in object {
        let Json::Object(entry) = value else {
            return Err(format!(
                "{name:?} is no entry of a server: {{ \"command\": … }} or {{ \"url\": … }}"
            ));
        };
        snippets.push(Snippet { name: Some(name), entry });
    }
    if snippets.is_empty() { Err("there is no server in it".into()) } else { Ok(snippets) }
}
