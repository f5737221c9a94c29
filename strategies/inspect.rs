//! The built-in agent: reads a private file in Claude's shape, connects to every server and prints its tools.

use alloc::vec::Vec;

use crate::artifacts::{Argument, Artifacts, File, Refusal};
use crate::claude::PINNED;
use crate::json::milliseconds;
use crate::mcp_servers;
use crate::server::Transport;
use crate::strategy::{Description, Launch, Program, Strategy};

pub(crate) struct Inspect;

const FILE: &str = "inspect.json";

impl Strategy for Inspect {
    fn name(&self) -> &'static str {
        crate::OWN_AGENT
    }

    fn program(&self) -> Program {
        Program::Squire("inspect")
    }

    fn description(&self) -> Description {
        Description {
            title: "squire's own agent",
            carries: "a private file in Claude's shape, removed after the launch",
            same_name: "has no config of its own",
            approval: "calls no tool",
            verified: "this version",
        }
    }

    fn speaks(&self, transport: &Transport) -> bool {
        matches!(transport, Transport::Http(_))
    }

    fn shows_failures(&self) -> bool {
        true
    }

    fn plan(&self, launch: &Launch<'_>) -> Result<Artifacts, Refusal> {
        let mut artifacts = Artifacts::default();
        let mut entries = Vec::new();
        for server in launch.servers {
            match mcp_servers::entry(launch, server, PINNED) {
                Ok(mut entry) => {
                    entry.push("startupTimeout", &milliseconds(server.agent_startup_timeout()));
                    entries.push((server.name.as_str(), entry));
                }
                Err(note) => artifacts.notes.push(note),
            }
        }
        artifacts.files.push(File::Private { name: FILE, text: mcp_servers::file(&entries) });
        artifacts.arguments.push(Argument { text: "--mcp-config=".into(), file: Some(FILE), server: None });
        Ok(artifacts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::tests::{direct, plan, program};

    /// It must be able to say that there is nothing, so there always is a file.
    #[test]
    fn a_file_even_without_servers() {
        for servers in [&[][..], &[program("a"), direct("b", "https://h/mcp")]] {
            let artifacts = plan(&Inspect, servers, &[]).unwrap();
            let [File::Private { name: FILE, text }] = artifacts.files.as_slice() else {
                panic!("{artifacts:?}")
            };
            let file: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(file["mcpServers"].as_object().unwrap().len(), servers.len());
            assert_eq!(artifacts.arguments.len(), 1);
        }
    }
}
