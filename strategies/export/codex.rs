//! Codex's `config.toml`. Measured with 0.171.0: no string is replaced; `env_vars` hands variables on under their own names,
//! `bearer_token_env_var` and `env_http_headers` put them into headers; a server has ten variables otherwise.

use alloc::format;
use alloc::string::String;
use core::time::Duration;

use super::said::{Inherits, Kind, Said, Syntax, Timeouts};
use super::{Format, unless};
use crate::toml_text::{InlineTable, string, strings};

pub(super) static FORMAT: Format = Format {
    name: "codex",
    title: "Codex CLI",
    file: "~/.codex/config.toml, or .codex/config.toml of a project",
    remote: (true, false),
    syntax: Syntax {
        variable: |_, _| None,
        secret: |_| None,
        literal: |text| unless(false, text),
        inherits: Inherits::Named,
        has_cwd: true,
        timeouts: Timeouts::Each,
        has_tools: (true, true),
    },
    document,
};

fn document(said: &[Said]) -> String {
    let mut out = String::new();
    for said in said {
        if !out.is_empty() {
            out.push('\n');
        }
        table(said, &mut out);
    }
    out
}

fn table(said: &Said, out: &mut String) {
    out.extend(["[mcp_servers.", &said.name, "]\n"]);
    let mut set = |key: &str, value: String| out.extend([key, " = ", &value, "\n"]);
    let names = |names: &[String]| strings(names.iter().map(String::as_str));
    let inline = |pairs: &mut dyn Iterator<Item = (&str, &str)>| {
        let mut table = InlineTable::new();
        pairs.for_each(|(name, value)| table.set(name, &string(value)));
        table.finish()
    };
    match &said.kind {
        Kind::Program { command, args, env, variables, cwd } => {
            set("command", string(command));
            if !args.is_empty() {
                set("args", names(args));
            }
            if !env.is_empty() {
                set("env", inline(&mut env.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
            }
            if !variables.is_empty() {
                set("env_vars", names(variables));
            }
            if let Some(cwd) = cwd {
                set("cwd", string(cwd));
            }
        }
        Kind::Remote { is_sse: _, url, headers, of_variables } => {
            set("url", string(url));
            if !headers.is_empty() {
                let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                set("http_headers", inline(&mut { pairs }));
            }
            if let Some((_, _, variable)) = of_variables.iter().find(|(_, bearer, _)| *bearer) {
                set("bearer_token_env_var", string(variable));
            }
            let plain = || of_variables.iter().filter(|(_, bearer, _)| !bearer);
            if plain().next().is_some() {
                let pairs = plain().map(|(name, _, variable)| (name.as_str(), variable.as_str()));
                set("env_http_headers", inline(&mut { pairs }));
            }
        }
    }
    if let Some(allow) = &said.allow {
        set("enabled_tools", names(allow));
    }
    if !said.deny.is_empty() {
        set("disabled_tools", names(&said.deny));
    }
    if let Some(timeout) = said.startup_timeout {
        set("startup_timeout_sec", seconds(timeout));
    }
    if let Some(timeout) = said.timeout {
        set("tool_timeout_sec", seconds(timeout));
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:?}", duration.as_secs_f64())
}
