//! Cursor CLI: entries in the project's `.cursor/mcp.json`, put back after the launch.
//!
//! From its documentation and from what other launchers report; no Cursor was run. There is no option that names a
//! file, a server's environment is curated, and an unapproved server is absent without a word.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use crate::artifacts::{Artifacts, Code, File, Note, Refusal, Whereabouts};
use crate::entries::Entries;
use crate::exposure;
use crate::json;
use crate::json_edit;
use crate::mcp_servers::{self, Reference};
use crate::repository;
use crate::server::Transport;
use crate::strategy::{Description, Launch, Program, Read, Strategy, ToolNames};

pub(crate) struct Cursor;

/// Its servers for one project.
const FILE: &str = ".cursor/mcp.json";
/// The object in it that holds them.
const AT: &str = "mcpServers";

impl Strategy for Cursor {
    fn name(&self) -> &'static str {
        "cursor"
    }

    fn program(&self) -> Program {
        Program::Named("cursor-agent")
    }

    fn description(&self) -> Description {
        Description {
            title: "Cursor CLI",
            carries: "entries in .cursor/mcp.json of the project, put back after the launch",
            same_name: "ours for the launch, the user's back afterwards",
            approval: "loads a server only once it is enabled: squire launch cursor -- mcp enable NAME",
            verified: "its documentation",
        }
    }

    fn speaks(&self, transport: &Transport) -> bool {
        matches!(transport, Transport::Http(_) | Transport::Sse(_))
    }

    fn reads(&self) -> &'static [Read] {
        &[Read::Merged(FILE)]
    }

    /// Cursor leaves out a tool whose names have 60 characters together, server and tool.
    fn tool_names(&self) -> Option<ToolNames> {
        Some(ToolNames { prefix: "", separator: ":", limit: 60 })
    }

    fn plan(&self, launch: &Launch<'_>) -> Result<Artifacts, Refusal> {
        if launch.strict {
            return Err(Refusal::new(
                Code::NoStrict,
                "Cursor has no way to switch its own servers off for one launch",
                "leave --strict away, or `strict` of the profile",
            ));
        }
        let mut artifacts = Artifacts::default();
        let mut entries = Entries::default();
        for server in launch.servers {
            if let Some(note) = exposure::note(server, "a file of the project, which may be committed") {
                artifacts.notes.push(note);
                continue;
            }
            match mcp_servers::entry(launch, server, PINNED) {
                Ok(mut entry) => {
                    // Cursor tells streamable HTTP and SSE apart by itself.
                    if entry.get("url").is_some() {
                        entry.remove("type");
                    }
                    entries.push(server.name.as_str(), &entry);
                }
                Err(note) => artifacts.notes.push(note),
            }
            if server.timeout.is_some() || server.startup_timeout.is_some() {
                artifacts.notes.push(Note {
                    code: Code::Unenforced,
                    server: Some(server.name.clone()),
                    sentence: "Cursor has no place for its timeouts".into(),
                    mend: None,
                    place: None,
                });
            }
        }
        artifacts.notes.extend(approved_too(launch, &entries));
        if entries.is_empty() {
            return Ok(artifacts);
        }
        let commands: Vec<String> =
            entries.names().map(|name| format!("squire launch cursor -- mcp enable {name}")).collect();
        artifacts.notes.push(Note {
            code: Code::AgentApproval,
            server: None,
            sentence: "Cursor loads a server only once it is enabled for the project".into(),
            mend: Some(commands.join("; ")),
            place: None,
        });
        refuse_unmergeable(launch, &entries)?;
        artifacts.files.push(File::Merge { path: FILE, at: AT, entries: entries.into() });
        Ok(artifacts)
    }
}

/// What the user's words let Cursor do beyond what is meant for ours (case B65), from its documentation: squire passes
/// none of them itself.
const TOO_WIDE: &[(&str, &str)] = &[
    ("--approve-mcps", "enables for good"),
    ("--force", "lets it use without a question"),
    ("-f", "lets it use without a question"),
    ("--yolo", "lets it use without a question"),
];

/// Names the project's own servers, where a word of the user's reaches them too.
fn approved_too(launch: &Launch<'_>, entries: &Entries) -> Vec<Note> {
    let found = launch.contents.iter().find(|content| content.read == Read::Merged(FILE));
    let Some((found, bytes)) = found.and_then(|found| Some((found, found.bytes.as_deref().ok()?))) else {
        return Vec::new();
    };
    let config = json::parse(bytes).unwrap_or_default();
    let servers = config.get(AT).and_then(Value::as_object).into_iter().flatten();
    let names: Vec<&str> =
        servers.map(|(name, _)| name.as_str()).filter(|name| entries.get(name).is_none()).collect();
    let own = launch.words.iter().take_while(|word| **word != b"--");
    let said = TOO_WIDE.iter().find(|(word, _)| own.clone().any(|own| *own == word.as_bytes()));
    let Some((word, effect)) = said.filter(|_| !names.is_empty()) else { return Vec::new() };
    let sentence = format!("{word} {effect} what the project has there too: {}", repository::listed(&names));
    let mend = "leave it away, and enable ours by name: squire launch cursor -- mcp enable NAME";
    Vec::from([repository::note(&found.place, sentence, mend)])
}

/// The project's file as it is now must take the entries: the launch would find out too late.
fn refuse_unmergeable(launch: &Launch<'_>, entries: &Entries) -> Result<(), Refusal> {
    let Some(found) = launch.contents.iter().find(|content| content.read == Read::Merged(FILE)) else {
        return Ok(());
    };
    let refusal = |position, sentence: &str, mend: &str| Refusal {
        place: Some(Whereabouts { path: found.place.as_str().into(), position }),
        ..Refusal::new(Code::Unmergeable, sentence, mend)
    };
    let bytes = found.bytes.as_ref().map_err(|reason| {
        refusal(None, reason, "squire wants a regular file of yours there, in a project, or none yet")
    })?;
    json_edit::text(bytes)
        .and_then(|text| json_edit::add(text, AT, entries))
        .map(drop)
        .map_err(|error| refusal(Some(error.position), &error.reason, "mend the file, or move it away"))
}

const PINNED: Reference = ("${env:", "}");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::tests::{codes, direct, plan, program};
    use crate::server::ResolvedServer;
    use core::time::Duration;
    use serde_json::Map;

    fn entries(artifacts: &Artifacts) -> Map<String, Value> {
        let [File::Merge { path: ".cursor/mcp.json", at: "mcpServers", entries }] =
            artifacts.files.as_slice()
        else {
            panic!("{artifacts:?}")
        };
        entries.iter().map(|(name, entry)| (name.into(), serde_json::from_str(entry).unwrap())).collect()
    }

    #[test]
    fn entries_in_cursors_own_shape() {
        let artifacts = plan(&Cursor, &[program("a"), direct("b", "https://h/mcp")], &[]).unwrap();
        let entries = entries(&artifacts);
        assert_eq!(entries["b"], serde_json::json!({ "url": "https://h/mcp" }));
        assert_eq!(entries["a"]["command"], "/usr/bin/squire");
        assert_eq!(entries["a"]["env"]["HOME"], "${env:HOME}");
        assert!(artifacts.arguments.is_empty() && artifacts.environment.is_empty());
    }

    #[test]
    fn what_it_has_no_place_for_is_a_note() {
        let slow = ResolvedServer { timeout: Some(Duration::from_secs(1)), ..program("slow") };
        let artifacts = plan(&Cursor, &[slow, direct("x", "https://h/${env:X}")], &[]).unwrap();
        assert_eq!(
            codes(&artifacts),
            [(Code::Unenforced, "slow"), (Code::Inexpressible, "x"), (Code::AgentApproval, "")]
        );
        assert_eq!(entries(&artifacts).len(), 1);
    }

    #[test]
    fn b86_where_all_are_left_out_nothing_is_emitted() {
        let artifacts = plan(&Cursor, &[direct("x", "https://h/${userHome}")], &[]).unwrap();
        assert_eq!(codes(&artifacts), [(Code::Inexpressible, "x")]);
        assert!(artifacts.files.is_empty());
    }
}
