//! OpenCode: the variable `OPENCODE_CONFIG_CONTENT`. Measured with 1.18.33.
//!
//! The variable, not a file named by `OPENCODE_CONFIG`: a project's opencode.json ranks above that file and was seen
//! to replace the command and keep our environment. Even here OpenCode merges entries of one name key by key, so a
//! name that is taken in any of its files is left out. `{env:…}` and `{file:…}` are replaced in the text before the
//! JSON is parsed; in ours the brace is written as an escape, so that nothing matches.
//!
//! It starts the servers of a project's files, here and in every directory above, without a question. Those are switched
//! off by `"enabled": false`, which needs no more keys. `OPENCODE_DISABLE_PROJECT_CONFIG` is for files whose names can't
//! be known: one in which a substitution makes the name was seen to run under the name that comes out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use crate::artifacts::{Artifacts, Code, Refusal};
use crate::deceptive::spelled_in_json;
use crate::exposure;
use crate::json;
use crate::json::milliseconds;
use crate::repository::{self, Entries, Unknowable};
use crate::repository_server::{self, Dialect, RepositoryServer, UNCLEAR};
use crate::server::{ResolvedServer, Route, Transport};
use crate::strategy::{Base, Content, Description, Launch, Program, Read, Strategy, ToolNames};
use crate::taken::{self, Taken};

pub(crate) struct OpenCode;

const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";
/// The kernel takes 128 KiB for one environment string; the rest is left for its name and the user's own growth.
const LIMIT: usize = 120 * 1024;
/// Set to `1` or `true`, it keeps OpenCode from reading any file of the project.
const NO_PROJECT: &str = "OPENCODE_DISABLE_PROJECT_CONFIG";
const PROJECT: &[&str] =
    &["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"];
/// What keeps a server of the project's on.
const KEEP: &str = "or write `{\"mcp\": {\"NAME\": {\"enabled\": true}}}` into your own OpenCode config, or launch with --agent-servers";
/// An entry of opencode.json, in whose text `{env:X}` and `{file:x}` are replaced.
const DIALECT: Dialect = Dialect {
    command,
    variables: "environment",
    directory: Some("cwd"),
    references: &["{env:"],
    uncovered: &[("{file:", "what `{file:` puts into it is not looked at")],
};
const CONFIG: Base = Base::Variable("XDG_CONFIG_HOME", ".config");

impl Strategy for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn program(&self) -> Program {
        Program::Named("opencode")
    }

    fn description(&self) -> Description {
        Description {
            title: "OpenCode",
            carries: "the variable OPENCODE_CONFIG_CONTENT, added to the user's own value",
            same_name: "OpenCode would mix the two: ours is left out",
            approval: "asks nothing unless its permissions say so",
            verified: "1.18.33",
        }
    }

    fn speaks(&self, transport: &Transport) -> bool {
        matches!(transport, Transport::Http(_) | Transport::Sse(_))
    }

    fn reads(&self) -> &'static [Read] {
        &[
            Read::Variable(CONTENT),
            Read::Variable(NO_PROJECT),
            Read::UserFile(CONFIG, "opencode/config.json"),
            Read::UserFile(CONFIG, "opencode/opencode.json"),
            Read::UserFile(CONFIG, "opencode/opencode.jsonc"),
            Read::FileNamedBy("OPENCODE_CONFIG"),
            Read::UserFile(Base::Home, ".opencode/opencode.json"),
            Read::UserFile(Base::Home, ".opencode/opencode.jsonc"),
            Read::UserFile(Base::Named("OPENCODE_CONFIG_DIR"), "opencode.json"),
            Read::UserFile(Base::Named("OPENCODE_CONFIG_DIR"), "opencode.jsonc"),
            Read::Upward("opencode.json"),
            Read::Upward("opencode.jsonc"),
            Read::Upward(".opencode/opencode.json"),
            Read::Upward(".opencode/opencode.jsonc"),
        ]
    }

    /// `opencode DIR`, and `--dir` of `run`, whose other words are a prompt. Seen with 1.18.33: `run` takes the variable
    /// PWD for the directory that it is started in.
    fn directories<'a>(&self, words: &[&'a [u8]]) -> Option<Vec<&'a [u8]>> {
        let mut directories: Vec<&[u8]> = Vec::new();
        let is_prompt = words.first() == Some(&&b"run"[..]);
        let mut before: &[u8] = b"";
        for word in words {
            match word.strip_prefix(b"--dir=") {
                Some(value) => directories.push(value),
                None if before == b"--dir" || !is_prompt && !word.starts_with(b"-") => directories.push(word),
                None => {}
            }
            before = word;
        }
        Some(directories)
    }

    fn repository_servers(
        &self,
        contents: &[Content],
        unquoted: &[String],
    ) -> Result<Vec<RepositoryServer>, String> {
        let files = repository::files(contents, PROJECT);
        // One that a file switches off may be on by another, with all that both say.
        let mentioned = |bytes: &[u8]| mentioned(bytes, unquoted);
        repository_server::servers(files, &mentioned, &Map::new(), &DIALECT)
            .map_err(|unknowable| unknowable.located())
    }

    /// Model providers take names of 64 characters (anomalyco/opencode#3523).
    fn tool_names(&self) -> Option<ToolNames> {
        Some(ToolNames { prefix: "", separator: "_", limit: 64 })
    }

    fn plan(&self, launch: &Launch<'_>) -> Result<Artifacts, Refusal> {
        let mut artifacts = Artifacts::default();
        let declared = |content: &Content, bytes: &[u8]| declared(content, bytes, launch.unquoted);
        let taken = taken::names(launch.contents, declared, &mut artifacts.notes);
        let mut entries = Map::new();
        let off = |name: &str| (name.to_string(), json!({ "enabled": false }));
        if launch.strict || !launch.agent_servers {
            match projects(launch) {
                Ok(found) if launch.strict => drop(found),
                Ok(found) => {
                    repository::tell(&found, KEEP, &mut artifacts);
                    entries.extend(found.iter().map(|found| off(&found.name)));
                }
                Err(unknowable) => leave_the_project_out(&unknowable, &mut artifacts),
            }
        }
        if launch.strict {
            taken::refuse_unreadable(&artifacts.notes, "OpenCode")?;
            artifacts.notes.extend(taken::hidden(&taken::distinct(&taken)));
            entries.extend(taken.iter().map(|taken| off(taken.name())));
        }
        for server in launch.servers {
            let exposed =
                || exposure::note(server, "a variable that OpenCode hands to every server it starts");
            match taken::note(&taken, server, "OpenCode").or_else(exposed) {
                Some(note) => artifacts.notes.push(note),
                None => {
                    entries.insert(server.name.to_string(), entry(launch, server));
                }
            }
        }
        if entries.is_empty() {
            return Ok(artifacts);
        }
        let text = merged(launch, &entries)?;
        if text.len() > LIMIT {
            return Err(Refusal::new(
                Code::TooLarge,
                format!("{CONTENT} would hold {} bytes, and OpenCode can be given {LIMIT}", text.len()),
                "launch with fewer servers (--profile, --server)",
            ));
        }
        artifacts.environment.push((CONTENT.into(), text));
        Ok(artifacts)
    }
}

/// The servers of the project's files that the user's own files don't enable.
///
/// An entry of the user's with nothing but `"enabled": true` can only mean a server that another file declares.
fn projects<'a>(launch: &Launch<'a>) -> Result<Vec<repository::Found<'a>>, Unknowable<'a>> {
    let is_on = |value: &[u8]| matches!(value.to_ascii_lowercase().as_slice(), b"1" | b"true");
    let mut variables = launch.contents.iter().filter(|content| content.read == Read::Variable(NO_PROJECT));
    if variables.any(|content| content.bytes.as_deref().is_ok_and(is_on)) {
        return Ok(Vec::new());
    }
    let is_users = |content: &&Content| !matches!(content.read, Read::Upward(_) | Read::Variable(NO_PROJECT));
    let own: Vec<Value> = launch
        .contents
        .iter()
        .filter(is_users)
        .filter_map(|content| json::parse(content.bytes.as_deref().ok()?).ok())
        .collect();
    let enabled = json!({ "enabled": true });
    let is_enabled = |name: &str| {
        own.iter().any(|config| config.get("mcp").and_then(|mcp| mcp.get(name)) == Some(&enabled))
    };
    let of_project = |bytes: &[u8]| of_project(bytes, launch.unquoted);
    let files = repository::files(launch.contents, PROJECT);
    repository::found(files, &of_project, launch.approved, &is_enabled)
}

/// The servers that a project's file switches on.
fn of_project(bytes: &[u8], unquoted: &[String]) -> Result<Entries, String> {
    let mut entries = mentioned(bytes, unquoted)?;
    entries.retain(|(_, entry)| entry.get("enabled") != Some(&Value::Bool(false)));
    Ok(entries)
}

/// The servers that a project's file says anything of.
fn mentioned(bytes: &[u8], unquoted: &[String]) -> Result<Entries, String> {
    let mut config = parsed(bytes, unquoted)?;
    let servers = config.get_mut("mcp").and_then(Value::as_object_mut).map(core::mem::take);
    Ok(servers.into_iter().flatten().collect())
}

/// A config file as OpenCode reads it, which is not known where a substitution makes a name, or where a value of the
/// environment could end the string that it is put into.
fn parsed(bytes: &[u8], unquoted: &[String]) -> Result<Value, String> {
    let config = json::parse(bytes).map_err(|error| error.to_string())?;
    let servers = config.get("mcp").and_then(Value::as_object);
    let mut keys = config.as_object().into_iter().chain(servers).flat_map(Map::keys);
    if keys.any(|key| key.contains("{env:") || key.contains("{file:")) {
        return Err("a substitution stands in a name".into());
    }
    // What is put into a comment can end it, and the rest of it counts then (seen with 1.18.33).
    if json::block_comments(bytes).any(|comment| String::from_utf8_lossy(comment).contains("{file:")) {
        return Err("a substitution stands in a comment".into());
    }
    let text = String::from_utf8_lossy(bytes);
    let mut substituted = text.split("{env:").skip(1).filter_map(|rest| rest.split_once('}'));
    match substituted.find(|(name, _)| unquoted.iter().any(|unquoted| unquoted == name)) {
        Some((name, _)) => Err(format!(
            "{{env:{name}}} is replaced in its text, and the value could end a string or a comment there"
        )),
        None => Ok(config),
    }
}

fn command(entry: &Value) -> Result<Vec<String>, String> {
    match (entry.get("command"), entry.get("url")) {
        (command @ Some(Value::Array(_)), None) => {
            let words = repository_server::words(command).filter(|words| !words.is_empty());
            words.ok_or_else(|| UNCLEAR.into())
        }
        (None, Some(Value::String(_))) => Ok(Vec::new()),
        _ => Err(UNCLEAR.into()),
    }
}

fn leave_the_project_out(unknowable: &Unknowable<'_>, artifacts: &mut Artifacts) {
    let consequence = "OpenCode reads no configuration of the project in this launch";
    let mend = "mend that file, or launch with --agent-servers";
    artifacts.environment.push((NO_PROJECT.into(), "1".into()));
    // What the note on names says of this file is said by this one.
    artifacts.notes.retain(|note| {
        note.code != Code::Unreadable
            || note.place.as_ref().is_none_or(|place| *place.path != *unknowable.place)
    });
    artifacts.notes.push(repository::unknowable(unknowable, consequence, mend));
}

fn entry(launch: &Launch<'_>, server: &ResolvedServer) -> Value {
    let mut entry = match (&server.transport, server.route) {
        (Transport::Http(remote) | Transport::Sse(remote), Route::Direct) => {
            let mut entry = json!({ "type": "remote", "url": remote.url.literal() });
            if !remote.headers.is_empty() {
                let headers: Map<String, Value> =
                    remote.headers.iter().map(|(name, text)| (name.clone(), text.literal().into())).collect();
                entry["headers"] = headers.into();
            }
            entry
        }
        // OpenCode hands its whole environment on, so no variable needs a name here.
        (Transport::Builtin | Transport::Stdio(_) | Transport::Dynamic(_), Route::Direct)
        | (_, Route::Gateway) => {
            let mut command = alloc::vec![launch.gateway.program.as_str()];
            command.extend(launch.gateway.arguments(launch.agent, server));
            let mut entry = json!({ "type": "local" });
            // Moved, while `json!` would copy it.
            entry["command"] = command.into();
            entry
        }
    };
    entry["enabled"] = true.into();
    // One number for both: OpenCode waits this long for the start and for each call (both seen with 1.18.33).
    entry["timeout"] = milliseconds(server.agent_timeout().max(server.agent_startup_timeout())).into();
    entry
}

fn unmergeable(sentence: &str) -> Refusal {
    Refusal::new(Code::Unmergeable, sentence, "mend its value, or unset it")
}

/// Our entries in the user's own value of the variable. The user's part keeps its substitutions, ours has none.
fn merged(launch: &Launch<'_>, entries: &Map<String, Value>) -> Result<String, Refusal> {
    let own = launch.contents.iter().find(|content| content.read == Read::Variable(CONTENT));
    let mut config = match own.map(|content| content.bytes.as_deref()) {
        None => Map::new(),
        Some(bytes) => bytes
            .map_err(String::clone)
            .and_then(|bytes| json::parse(bytes).map_err(|error| error.to_string()))
            .and_then(|config| config.as_object().cloned().ok_or_else(|| "it is no object".into()))
            .map_err(|reason| {
                unmergeable(&format!("{CONTENT} is set, and OpenCode could not read it: {reason}"))
            })?,
    };
    let mut own_servers = match config.shift_remove("mcp") {
        None => Map::new(),
        Some(Value::Object(servers)) => servers,
        Some(_) => return Err(unmergeable(&format!("{CONTENT} is set, and its `mcp` is no object"))),
    };
    // The variable holds one object: a server of the user's own that is switched off is there once.
    for (name, entry) in &mut own_servers {
        match (entries.get(name), entry.as_object_mut()) {
            (Some(ours), Some(entry)) => entry.extend(ours.as_object().cloned().unwrap_or_default()),
            (Some(ours), None) => *entry = ours.clone(),
            (None, _) => {}
        }
    }
    let mut servers: Vec<String> = own_servers.iter().map(|(name, entry)| member(name, entry)).collect();
    let new = entries.iter().filter(|(name, _)| !own_servers.contains_key(*name));
    servers.extend(new.map(|(name, entry)| without_substitutions(&member(name, entry))));
    let mut members: Vec<String> = config.iter().map(|(key, value)| member(key, value)).collect();
    members.push(format!("\"mcp\":{{{}}}", servers.join(",")));
    Ok(spelled_in_json(format!("{{{}}}", members.join(","))))
}

fn member(key: &str, value: &Value) -> String {
    [json::compact(key), json::compact(value)].join(":")
}

/// In JSON text `{env:` stands in a string alone, where an escaped brace is the same brace.
fn without_substitutions(json: &str) -> String {
    json.replace("{env:", "\\u007benv:").replace("{file:", "\\u007bfile:")
}

/// The servers that a config file, or the variable, declares.
fn declared(content: &Content, bytes: &[u8], unquoted: &[String]) -> Result<Vec<Taken>, String> {
    if content.read == Read::Variable(NO_PROJECT)
        || content.read == Read::Variable(CONTENT) && bytes.is_empty()
    {
        return Ok(Vec::new());
    }
    let config = parsed(bytes, unquoted)?;
    let names = config.get("mcp").and_then(Value::as_object).map(Map::keys);
    Ok(names.into_iter().flatten().map(|name| Taken::new(name, content)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::tests::{codes, direct, found, plan, program};

    fn own(text: &str) -> Content {
        found(Read::Variable(CONTENT), CONTENT, text)
    }

    fn content(artifacts: &Artifacts) -> &str {
        let [(name, text)] = artifacts.environment.as_slice() else { panic!("{artifacts:?}") };
        assert_eq!(name, CONTENT);
        text
    }

    #[test]
    fn b18_entries_in_opencodes_own_shape() {
        let artifacts = plan(&OpenCode, &[program("a"), direct("r", "https://h/mcp")], &[]).unwrap();
        let config: Value = serde_json::from_str(content(&artifacts)).unwrap();
        assert_eq!(
            config,
            json!({ "mcp": {
                "a": {
                    "type": "local",
                    "command": ["/usr/bin/squire", "gateway", "a", "--agent", "opencode", "--config", "/c", "--state", "/s"],
                    "enabled": true,
                    "timeout": 305_000,
                },
                "r": { "type": "remote", "url": "https://h/mcp", "enabled": true, "timeout": 305_000 },
            }})
        );
    }

    #[test]
    fn the_users_own_value_stays_with_its_substitutions() {
        let value =
            r#"{ "theme": "{env:THEME}", /* note */ "mcp": { "own": { "url": "{file:x}" }, }, "z": 1 }"#;
        let artifacts = plan(&OpenCode, &[direct("r", "https://h/{env:X}")], &[own(value)]).unwrap();
        let text = content(&artifacts);
        assert!(
            text.contains(r#""theme":"{env:THEME}""#) && text.contains(r#""own":{"url":"{file:x}"}"#),
            "{text}"
        );
        assert!(text.contains(r#""url":"https://h/\u007benv:X}""#), "{text}");
        let config: Value = serde_json::from_str(text).unwrap();
        assert_eq!((&config["z"], &config["mcp"]["r"]["url"]), (&json!(1), &json!("https://h/{env:X}")));
        assert_eq!(plan(&OpenCode, &[], &[own(value)]).unwrap(), Artifacts::default());
    }

    #[test]
    fn a_value_that_opencode_could_not_read_refuses() {
        for value in ["{ broken", "[]", "\"x\"", r#"{"mcp": []}"#] {
            assert!(plan(&OpenCode, &[program("a")], &[own(value)]).is_err(), "{value}");
        }
        assert!(plan(&OpenCode, &[program("a")], &[own("{}")]).is_ok());
    }

    #[test]
    fn words_that_name_directories() {
        let named = |words: &[&'static str]| {
            let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
            let found = OpenCode.directories(&words).unwrap();
            found.iter().map(|word| core::str::from_utf8(word).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(named(&["run", "fix", "src"]), [""; 0]);
        assert_eq!(named(&["run", "fix", "--dir", "../a"]), ["../a"]);
        assert_eq!(named(&["run", "--dir=../a", "fix"]), ["../a"]);
        assert_eq!(named(&["-c", "../a"]), ["../a"]);
        assert_eq!(named(&["--prompt", "run", "../a"]), ["run", "../a"]);
        assert_eq!(named(&["acp", "--cwd", "../a"]), ["acp", "../a"]);
    }

    /// What is pasted into the text could end a string there: such a file is not known, whoever wrote it.
    #[test]
    fn a_value_with_a_quote_makes_a_file_unknowable() {
        let project = found(
            Read::Upward("opencode.json"),
            "/p/opencode.json",
            r#"{ "theme": "{env:JSON}", "mcp": { "a": {} } }"#,
        );
        let planned = |unquoted: &[String], strict: bool| {
            let gateway = crate::gateway::Gateway {
                program: "/usr/bin/squire".into(),
                project: None,
                profiles: Vec::new(),
                config: "/c".into(),
                state: "/s".into(),
            };
            OpenCode
                .plan(&Launch {
                    agent: "opencode",
                    gateway: &gateway,
                    servers: &[],
                    contents: core::slice::from_ref(&project),
                    directory: "/p",
                    strict,
                    agent_servers: false,
                    approved: &repository_server::Approved::default(),
                    unquoted,
                    words: &[],
                })
                .unwrap()
        };
        assert_eq!(content(&planned(&["OTHER".into()], false)), r#"{"mcp":{"a":{"enabled":false}}}"#);
        for strict in [false, true] {
            let artifacts = planned(&["JSON".into()], strict);
            assert_eq!(artifacts.environment, [(NO_PROJECT.into(), "1".into())]);
            let [note] = artifacts.notes.as_slice() else { panic!("{artifacts:?}") };
            assert_eq!(
                note.located(),
                "/p/opencode.json: which servers it adds can't be known ({env:JSON} is replaced in its text, and the value could end a string or a comment there), so OpenCode reads no configuration of the project in this launch"
            );
        }
    }

    #[test]
    fn b97_a_name_that_is_taken_in_any_file_is_left_out() {
        for read in OpenCode.reads().iter().filter(|read| **read != Read::Variable(NO_PROJECT)) {
            let taken = found(*read, "F", "\u{feff}// note\n{\"mcp\": {\"a\": {\"enabled\": false,},},}");
            let artifacts = plan(&OpenCode, &[program("a")], &[taken]).unwrap();
            assert_eq!(codes(&artifacts), [(Code::AgentHasIt, "a")], "{read:?}");
            assert!(artifacts.environment.is_empty());
        }
    }

    #[test]
    fn more_than_the_kernel_takes_is_refused_with_the_size() {
        let url = alloc::format!("https://h/{}", "x".repeat(LIMIT));
        let Refusal { sentence, .. } = plan(&OpenCode, &[direct("r", &url)], &[]).unwrap_err();
        assert!(
            sentence.starts_with("OPENCODE_CONFIG_CONTENT would hold 12") && sentence.contains("122880"),
            "{sentence}"
        );
    }
}
