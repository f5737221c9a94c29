//! The real agents: where they are, and what their users have configured and would type.

use crate::home::Home;
use crate::process;
use serde_json::json;
use std::env;
use std::io;
use std::path::{self, Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// One coding agent.
#[derive(Debug)]
pub struct Agent {
    /// What squire calls it, and the program's name.
    pub name: &'static str,
    /// Where it may be under `node_modules`, best first.
    programs: &'static [&'static str],
    /// The user's own file that points it at a model: its place in the home, and its text for an address.
    settings: (&'static str, fn(model: &str) -> String),
    /// What a user exports so that it stays off the network.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// The arguments of one run without a terminal, its tool calls approved for one server.
    pub arguments: fn(server: &str) -> Vec<String>,
    /// What it puts before the server's name, and between that and the tool's.
    tool_name: (&'static str, &'static str),
}

/// Claude Code.
pub static CLAUDE: Agent = Agent {
    name: "claude",
    programs: &["@anthropic-ai/claude-code-linux-x64/claude", ".bin/claude"],
    settings: (".claude/settings.json", claude_settings),
    environment: &[],
    arguments: |server| strings(&["-p", "call echo", "--allowedTools", &format!("mcp__{server}")]),
    tool_name: ("mcp__", "__"),
};

/// Codex CLI.
pub static CODEX: Agent = Agent {
    name: "codex",
    programs: &[".bin/codex"],
    settings: (".codex/config.toml", codex_settings),
    environment: &[],
    // The approval is what squire tells a user to pass; it must survive beside what squire adds for that server.
    arguments: |server| {
        let approval = format!("mcp_servers.{server}.default_tools_approval_mode=\"approve\"");
        strings(&["exec", "--skip-git-repo-check", "-m", "gpt-5", "-c", &approval, "call echo"])
    },
    tool_name: ("mcp__", "__"),
};

/// OpenCode.
pub static OPENCODE: Agent = Agent {
    name: "opencode",
    programs: &["opencode-linux-x64/bin/opencode", ".bin/opencode"],
    settings: (".config/opencode/opencode.json", opencode_settings),
    environment: &[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        // Else it fetches a package for plugins in the background, which no variable of its own stops.
        ("npm_config_offline", "true"),
    ],
    arguments: |_| strings(&["run", "call echo"]),
    tool_name: ("", "_"),
};

impl Agent {
    /// Its program, where it is installed.
    pub fn program(&self) -> Option<PathBuf> {
        let modules = path::absolute(env::var_os("SQUIRE_REAL_AGENTS")?).ok()?.join("node_modules");
        self.programs.iter().map(|program| modules.join(program)).find(|program| program.is_file())
    }

    /// Where its user's settings lie, below the home.
    pub fn settings_file(&self) -> &'static str {
        self.settings.0
    }

    /// The sentence for somebody who has not installed it.
    pub fn not_installed(&self) -> String {
        format!(
            "not installed: {} (set SQUIRE_REAL_AGENTS to the folder that holds node_modules)\n",
            self.name
        )
    }

    /// The name under which it offers a server's tool to the model.
    pub fn tool(&self, server: &str, tool: &str) -> String {
        let (before, between) = self.tool_name;
        format!("{before}{server}{between}{tool}")
    }

    /// What `PROGRAM WORDS… --help` says.
    pub fn help(&self, program: &Path, words: &[&str]) -> io::Result<String> {
        let home = Home::new()?;
        let mut command = Command::new(program);
        command.args(words).arg("--help").env("HOME", home.path()).current_dir(home.project());
        Ok(process::run(&mut command, &home.beside(""), Duration::from_secs(60))?.stdout)
    }

    pub(crate) fn write_settings(&self, home: &mut Home, model: &str) -> io::Result<()> {
        let (name, contents) = self.settings;
        home.write(name, contents(model))
    }
}

fn claude_settings(model: &str) -> String {
    let environment = json!({
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "sk-ant-fake",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    });
    json!({ "env": environment }).to_string()
}

fn codex_settings(model: &str) -> String {
    format!(
        r#"model_provider = "fake"
# What reaches for the network.
analytics.enabled = false
features.plugins = false

[model_providers.fake]
name = "fake"
base_url = "{model}/v1"
wire_api = "responses"
"#
    )
}

fn opencode_settings(model: &str) -> String {
    json!({
        "$schema": "https://opencode.ai/config.json",
        "model": "fake/one",
        "small_model": "fake/one",
        "provider": { "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "fake",
            "options": { "baseURL": format!("{model}/v1"), "apiKey": "fake" },
            "models": { "one": { "name": "one", "tool_call": true } },
        } },
    })
    .to_string()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}
