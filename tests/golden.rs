//! The exact plan of every case in `tests/golden/` for every agent, and what each agent makes of it by its own rules.
//!
//! A case directory holds `squire.toml` (the user layer) and, where they matter, `project.toml` (the project layer),
//! `agent-files/` (files below the home directory `/home/u`, whose `project` is the working directory), `variables`
//! (`NAME=VALUE` lines) and `arguments` (lines of `profile NAME`, `server NAME`, `word TEXT`). `AGENT.txt` is the plan as
//! `squire describe` prints it. `UPDATE_GOLDEN=1 cargo test golden` writes them anew; git shows what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use squire::config::{self, LayerKind, Layers};
use squire::plan::Plan;
use squire::report;
use squire::resolve::{Selection, resolve};
use squire_strategies::{
    AGENTS, Base, Content, Effect, Gateway, Launch, Name, Read, Route, Strategy, Text, Transport,
};

use crate::agents_rules::{Entry, received};
use crate::support::many_servers;

const HOME: &str = "/home/u";
const PROJECT: &str = "/home/u/project";

/// What a plan depends on, without a file or a process.
#[derive(Default)]
struct Case {
    user: String,
    project: Option<String>,
    files: BTreeMap<PathBuf, Vec<u8>>,
    variables: BTreeMap<String, String>,
    selection: Selection,
    words: Vec<OsString>,
}

impl Case {
    fn read(directory: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(directory.join(name)).ok();
        let mut case =
            Self { user: text("squire.toml").unwrap(), project: text("project.toml"), ..Self::default() };
        for file in files_below(&directory.join("agent-files")) {
            let relative = file.strip_prefix(directory.join("agent-files")).unwrap();
            case.files.insert(Path::new(HOME).join(relative), fs::read(&file).unwrap());
        }
        for line in text("variables").unwrap_or_default().lines() {
            let (name, value) = line.split_once('=').unwrap();
            case.variables.insert(name.into(), value.into());
        }
        for line in text("arguments").unwrap_or_default().lines() {
            match line.split_once(' ').unwrap() {
                ("profile", name) => case.selection.profiles.push(name.into()),
                ("server", name) => case.selection.servers.push(name.into()),
                ("word", word) => case.words.push(word.into()),
                (other, _) => panic!("{other} in {}", directory.display()),
            }
        }
        case
    }

    fn of_user(user: &str) -> Self {
        Self { user: user.into(), ..Self::default() }
    }

    fn layers(&self) -> Layers {
        let layer = |kind, path: &str, text: &str| {
            let (declarations, problems) = config::read(text.as_bytes(), Path::new(path), kind);
            assert!(problems.is_empty(), "{problems:?}\n{text}");
            declarations
        };
        Layers {
            user: layer(LayerKind::User, "/home/u/.config/squire/squire.toml", &self.user),
            project: self
                .project
                .as_ref()
                .map(|text| layer(LayerKind::Project, "/home/u/project/squire.toml", text)),
            ..Layers::default()
        }
    }

    /// As the runner reads for a strategy, from the case's own files.
    fn contents(&self, strategy: &dyn Strategy) -> Vec<Content> {
        let variable = |name: &str| self.variables.get(name).filter(|value| !value.is_empty());
        let mut contents = Vec::new();
        for &read in strategy.reads() {
            let paths = match read {
                Read::Variable(name) => {
                    contents.extend(variable(name).map(|value| Content {
                        read,
                        place: name.into(),
                        bytes: Ok(value.clone().into_bytes()),
                    }));
                    continue;
                }
                Read::UserFile(Base::Home, file) => vec![Path::new(HOME).join(file)],
                Read::UserFile(Base::Named(name), file) => {
                    variable(name).map(|base| Path::new(base).join(file)).into_iter().collect()
                }
                Read::UserFile(Base::Variable(name, below), file) => {
                    let base = variable(name).map_or_else(|| Path::new(HOME).join(below), PathBuf::from);
                    vec![base.join(file)]
                }
                Read::FileNamedBy(name) => {
                    variable(name).map(|path| Path::new(PROJECT).join(path)).into_iter().collect()
                }
                Read::Merged(file) => vec![Path::new(PROJECT).join(file)],
                Read::Upward(file) => {
                    Path::new(PROJECT).ancestors().map(|directory| directory.join(file)).collect()
                }
            };
            for path in paths {
                if let Some(bytes) = self.files.get(&path) {
                    let place = path.display().to_string();
                    contents.push(Content { read, place, bytes: Ok(bytes.clone()) });
                }
            }
        }
        contents
    }

    fn plan(&self, strategy: &'static dyn Strategy) -> Result<Plan, String> {
        let standings = squire::resolve::Standings::new();
        let mut resolution =
            resolve(&self.layers(), &standings, &self.selection, &|transport| strategy.speaks(transport))
                .map_err(|error| error.to_string())?;
        // As if the user's secrets.toml took each secret from the variable of its name.
        for entry in &mut resolution.entries {
            let used = squire::secrets::used(&entry.server.transport);
            let variables = used.iter().map(|name| name.replace(['.', '-'], "_").to_uppercase()).collect();
            Rc::make_mut(&mut entry.server).secret_variables = variables;
        }
        let launch = Launch {
            agent: strategy.name(),
            gateway: &gateway(&self.selection.profiles),
            servers: &resolution.servers(),
            contents: &self.contents(strategy),
            directory: PROJECT,
            strict: resolution.strict,
            agent_servers: false,
            approved: &squire_strategies::Approved::default(),
            unquoted: &[],
            words: &[],
        };
        squire::plan::plan(strategy, &resolution, &launch, &[], &self.words)
            .map_err(|refusal| refusal.to_string())
    }
}

fn gateway(profiles: &[String]) -> Gateway {
    Gateway {
        program: "/usr/bin/squire".into(),
        project: Some(PROJECT.into()),
        profiles: profiles.to_vec(),
        config: "/home/u/.config/squire".into(),
        state: "/home/u/.local/state/squire".into(),
    }
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

fn source(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn cases() -> Vec<(String, PathBuf)> {
    let mut cases: Vec<(String, PathBuf)> = fs::read_dir(source("tests/golden"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .collect();
    cases.sort();
    cases
}

#[test]
fn golden_plans_are_the_expected_ones() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for (name, directory) in cases() {
        let case = Case::read(&directory);
        for strategy in AGENTS {
            let found = match case.plan(*strategy) {
                Ok(plan) => report::text(&plan, &format!("/usr/bin/{}", strategy.name())),
                Err(refusal) => format!("refused: {refusal}\n"),
            };
            let file = directory.join(format!("{}.txt", strategy.name()));
            if update {
                fs::write(&file, &found).unwrap();
            }
            match fs::read_to_string(&file) {
                Ok(expected) if expected == found => {}
                Ok(expected) => {
                    wrong.push(format!("{name}/{}:\n{}", strategy.name(), difference(&expected, &found)));
                }
                Err(error) => wrong.push(format!("{}: {error}", file.display())),
            }
        }
        let expected: BTreeSet<String> =
            AGENTS.iter().map(|strategy| format!("{}.txt", strategy.name())).collect();
        for entry in fs::read_dir(&directory).unwrap().flatten() {
            let file = entry.file_name().into_string().unwrap();
            let known = ["squire.toml", "project.toml", "agent-files", "variables", "arguments"];
            if !known.contains(&file.as_str()) && !expected.contains(&file) {
                if update {
                    fs::remove_file(entry.path()).unwrap();
                } else {
                    wrong.push(format!("{}: no agent expects this file", entry.path().display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n(UPDATE_GOLDEN=1 writes them anew)", wrong.join("\n"));
}

/// The lines that only one of two texts has.
fn difference(expected: &str, found: &str) -> String {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (expected, found) = (lines(expected), lines(found));
    let missing = expected.iter().filter(|line| !found.contains(line)).map(|line| format!("- {line}"));
    let new = found.iter().filter(|line| !expected.contains(line)).map(|line| format!("+ {line}"));
    missing.chain(new).collect::<Vec<_>>().join("\n")
}

#[test]
fn golden_every_strategy_file_is_an_agent() {
    let mut implemented = BTreeSet::new();
    for file in fs::read_dir(source("strategies")).unwrap().flatten().map(|entry| entry.path()) {
        if file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for (_, after) in text.match_indices("impl Strategy for ").map(|(at, _)| text.split_at(at)) {
            let (_, body) = after.split_once("fn name(&self)").unwrap();
            implemented.insert(body.split('"').nth(1).unwrap().to_owned());
        }
    }
    let listed: BTreeSet<String> = AGENTS.iter().map(|strategy| strategy.name().to_owned()).collect();
    assert_eq!(implemented, listed);
    assert_eq!(listed.len(), AGENTS.len(), "two agents have one name");
    for strategy in AGENTS {
        assert!(Name::parse(strategy.name()).is_ok() || strategy.name() == "inspect");
        assert_eq!(squire_strategies::find(strategy.name()).unwrap().name(), strategy.name());
    }
}

/// The variables of a launch: odd values that no expansion may touch a second time (B22).
fn environment(case: &Case) -> BTreeMap<String, String> {
    let mut environment: BTreeMap<String, String> = [
        ("HOME", HOME),
        ("PATH", "/usr/bin:/bin"),
        ("X", "EXPANDED"),
        ("DB_USER", "pa$HOME${X}$$x"),
        ("DB_TOKEN", "{env:X}\n\"${X:-d}"),
        ("PGHOST", " blank "),
        ("ODD", "=--"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    environment.extend(case.variables.clone());
    environment
}

/// What the agent makes of the plan by its own rules is what is declared; what it does not get has a note.
fn check_received(case: &Case, strategy: &'static dyn Strategy) {
    let Ok(plan) = case.plan(strategy) else { return };
    let agent = strategy.name();
    let environment = environment(case);
    let received = received(&plan, &environment);
    for server in &plan.servers {
        let name = server.name.as_str();
        let noted =
            plan.artifacts.notes.iter().any(|note| {
                note.code.effect() == Effect::LeftOut && note.server.as_ref() == Some(&server.name)
            });
        let Some(entry) = received.get(name) else {
            assert!(noted || plan.no_session().is_some(), "{agent} does not get {name}, and no note says so");
            continue;
        };
        assert!(!noted, "{agent} gets {name}, which a note leaves out");
        match (entry, server.route) {
            (Entry::Remote { kind, url, headers }, Route::Direct) => {
                let remote = server.transport.remote().unwrap();
                assert_eq!(url, remote.url.literal().unwrap(), "{agent}: {name}");
                let declared: BTreeMap<String, String> = remote
                    .headers
                    .iter()
                    .map(|(name, text)| (name.clone(), text.literal().unwrap().into()))
                    .collect();
                assert_eq!(headers, &declared, "{agent}: {name}");
                if let Some(kind) = kind {
                    assert_eq!(*kind, server.transport.as_str(), "{agent}: {name} is spoken to as {kind}");
                }
            }
            (Entry::Program { command, args, environment: given }, Route::Gateway) => {
                assert_eq!(command, "/usr/bin/squire");
                let mut expected = vec!["gateway", name, "--agent", agent, "--project", PROJECT];
                for profile in &case.selection.profiles {
                    expected.extend(["--profile", profile]);
                }
                expected.extend([
                    "--config",
                    "/home/u/.config/squire",
                    "--state",
                    "/home/u/.local/state/squire",
                ]);
                assert_eq!(args, &expected, "{agent}: {name}");
                for variable in
                    server.declared_variables().into_iter().chain(["HOME", "PATH", "SQUIRE_LAUNCH"])
                {
                    let given = given.get(variable).filter(|value| !value.is_empty());
                    assert_eq!(given, environment.get(variable), "{agent}: {name} needs {variable}");
                }
            }
            (entry, route) => panic!("{agent}: {name} of route {route:?} came as {entry:?}"),
        }
    }
    let known: BTreeSet<&str> = plan.servers.iter().map(|server| server.name.as_str()).collect();
    assert!(received.keys().all(|name| known.contains(name.as_str())), "{agent} gets {received:?}");
}

#[test]
fn golden_plans_are_received_as_declared() {
    for (_, directory) in cases() {
        let case = Case::read(&directory);
        for strategy in AGENTS {
            check_received(&case, *strategy);
        }
    }
}

/// B86: an agent that does not speak a transport is not given it as another one, even where the user asks for it.
#[test]
fn b86_sse_by_the_direct_route_is_sse_or_a_note() {
    let case =
        Case::of_user("[servers.old]\ntransport = \"sse\"\nurl = \"https://h/sse\"\nroute = \"direct\"\n");
    for strategy in AGENTS {
        check_received(&case, *strategy);
    }
}

/// B92: what one server's entry looks like depends on nothing but its own declaration.
#[test]
fn b92_an_entry_is_the_same_on_every_launch() {
    let a = "[servers.a]\ncommand = \"a\"\n";
    let b = "[servers.b]\ncommand = \"b\"\nenv = { X = \"${env:PGHOST}\" }\n";
    let off = "[servers.a]\ncommand = \"a\"\ndisabled = true\n";
    for strategy in AGENTS {
        let entries: Vec<String> = [format!("{a}{b}"), format!("{b}{a}"), format!("{off}{b}"), b.into()]
            .iter()
            .map(|text| {
                let case = Case::of_user(text);
                let plan = case.plan(*strategy).unwrap();
                format!("{:?}", received(&plan, &environment(&case))["b"])
            })
            .collect();
        assert!(entries.iter().all(|entry| *entry == entries[0]), "{}: {entries:#?}", strategy.name());
    }
}

/// Claude Code and OpenCode run on JavaScript, whose timers hold 31 bits of milliseconds: a longer one fires at once,
/// so that the longest wait would become the shortest.
#[test]
fn a_long_wait_fits_the_timers_of_the_agent() {
    let case =
        Case::of_user("[servers.a]\ncommand = \"a\"\ntimeout = \"24days\"\nstartup_timeout = \"24days\"\n");
    for agent in ["claude", "opencode"] {
        let plan = case.plan(squire_strategies::find(agent).unwrap()).unwrap();
        let text = report::text(&plan, "x");
        let numbers =
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u128>().ok());
        let longest = numbers.max().unwrap();
        assert!(longest <= i32::MAX.unsigned_abs().into(), "{agent} is told to wait for {longest} ms");
    }
}

/// The order is the same on every run (B07).
#[test]
fn b07_the_same_input_gives_the_same_plan() {
    let case = Case::read(&source("tests/golden/many"));
    for strategy in AGENTS {
        let text = || report::text(&case.plan(*strategy).unwrap(), "x");
        let first = text();
        assert!((0..20).all(|_| text() == first));
    }
}

/// OpenCode's variable has a limit, and a launch above it is refused with the size instead of cut.
#[test]
fn too_many_servers_for_opencode_are_refused_with_the_size() {
    let case = Case::of_user(&many_servers(1000));
    let refusal = case.plan(squire_strategies::find("opencode").unwrap()).err().unwrap();
    assert!(refusal.starts_with("OPENCODE_CONFIG_CONTENT would hold ") && refusal.contains("122880"));
    for strategy in AGENTS.iter().filter(|strategy| strategy.name() != "opencode") {
        check_received(&case, *strategy);
    }
}

/// A basic string of TOML.
fn toml_string(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        control if control.is_control() => format!("\\u{:04X}", u32::from(control)),
        plain => plain.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn toml_pairs(pairs: &BTreeMap<String, String>) -> String {
    let written = pairs.iter().map(|(name, value)| {
        format!("{} = {}", toml_string(name), toml_string(&Text::plain(value).to_string()))
    });
    format!("{{ {} }}", written.collect::<Vec<_>>().join(", "))
}

/// A server as a property generates it.
#[derive(Clone, Debug)]
enum Generated {
    Stdio { command: String, args: Vec<String>, env: BTreeMap<String, String> },
    Remote { sse: bool, path: String, headers: BTreeMap<String, String> },
}

/// Text with what agents and formats make something of.
fn texts() -> impl proptest::strategy::Strategy<Value = String> {
    let telling = "(\\$\\{X\\}|\\$\\{env:X\\}|\\$\\{X:-d\\}|\\{env:X\\}|\\{file:/x\\}|\\$\\$|\\$|\\{|\\}|\"|'|\\\\|=|--|,|\\]|#|`|\n|\t|\u{1}|\u{7f}|\u{85}|\u{2028}|é|🙂| ){0,8}";
    prop_oneof![telling, "[^\u{0}]{0,12}"]
}

fn servers() -> impl proptest::strategy::Strategy<Value = BTreeMap<String, Generated>> {
    let visible = || texts().prop_map(|text| text.replace(char::is_control, ""));
    let stdio = (
        texts().prop_filter("a program", |text| {
            !text.is_empty() && (!text.contains('/') || text.starts_with(['/', '~']))
        }),
        prop::collection::vec(texts(), 0..4),
        prop::collection::btree_map("[A-Za-z_.é-][A-Za-z0-9_.]{0,5}", texts(), 0..3),
    )
        .prop_map(|(command, args, env)| Generated::Stdio { command, args, env });
    let remote = (
        any::<bool>(),
        visible().prop_map(|text| text.replace(char::is_whitespace, "")),
        // Names of headers that differ in case alone are one name, and an error.
        prop::collection::btree_map("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,6}", visible(), 0..3).prop_filter(
            "headers",
            |headers: &BTreeMap<String, String>| {
                let folded: BTreeSet<String> = headers.keys().map(|name| name.to_lowercase()).collect();
                folded.len() == headers.len()
            },
        ),
    )
        .prop_map(|(sse, path, headers)| Generated::Remote { sse, path, headers });
    let names = "[A-Za-z]([A-Za-z0-9_-]{0,12}[A-Za-z0-9])?";
    prop::collection::btree_map(names, prop_oneof![stdio, remote], 0..5).prop_map(|servers| {
        let mut kept: BTreeMap<String, Generated> = BTreeMap::new();
        for (name, server) in servers {
            let parsed = Name::parse(&name);
            let free = parsed
                .is_ok_and(|name| !kept.keys().any(|other| Name::parse(other).unwrap().collides(&name)));
            if free {
                kept.insert(name, server);
            }
        }
        kept
    })
}

fn declared(servers: &BTreeMap<String, Generated>) -> String {
    let declare = |(name, server): (&String, &Generated)| {
        let fields = match server {
            Generated::Stdio { command, args, env } => {
                let words = std::iter::once(command).chain(args);
                let words: Vec<String> =
                    words.map(|word| toml_string(&Text::plain(word).to_string())).collect();
                format!("command = [{}]\nenv = {}\n", words.join(", "), toml_pairs(env))
            }
            Generated::Remote { sse, path, headers } => format!(
                "transport = \"{}\"\nurl = {}\nheaders = {}\n",
                if *sse { "sse" } else { "http" },
                toml_string(&Text::plain(format!("https://h/{path}")).to_string()),
                toml_pairs(headers)
            ),
        };
        format!("[servers.{name}]\n{fields}")
    };
    servers.iter().map(declare).collect::<Vec<_>>().concat()
}

/// What is resolved is what was generated.
fn check_resolved(plan: &Plan, servers: &BTreeMap<String, Generated>) {
    let literal = |text: &Text| text.literal().unwrap().to_owned();
    let pairs = |pairs: &[(String, Text)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, text)| (name.clone(), literal(text))).collect()
    };
    assert_eq!(plan.servers.len(), servers.len() + 1);
    for (name, generated) in servers {
        let server = plan.servers.iter().find(|server| server.name.as_str() == name).unwrap();
        match (&server.transport, generated) {
            (Transport::Stdio(stdio), Generated::Stdio { command, args, env }) => {
                assert_eq!(&literal(&stdio.command), command);
                assert_eq!(&stdio.args.iter().map(literal).collect::<Vec<_>>(), args);
                assert_eq!(&pairs(&stdio.env), env);
            }
            (Transport::Http(remote) | Transport::Sse(remote), Generated::Remote { sse, path, headers }) => {
                assert_eq!(matches!(server.transport, Transport::Sse(_)), *sse);
                assert_eq!(literal(&remote.url), format!("https://h/{path}"));
                assert_eq!(&pairs(&remote.headers), headers);
            }
            other => panic!("{other:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// B25, B73: whatever is declared, every agent gets it as declared or a note says why not.
    #[test]
    fn b25_b73_generated_servers_are_received_as_declared_or_noted(servers in servers()) {
        let case = Case::of_user(&declared(&servers));
        for strategy in AGENTS {
            check_resolved(&case.plan(*strategy).unwrap(), &servers);
            check_received(&case, *strategy);
        }
    }
}
