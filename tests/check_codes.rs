//! Every code: that `check` reports it with severity, place and mend, and that docs/codes.md lists it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use squire::findings::{OwnCode, of_effect};
use squire_strategies::Code;

use crate::support::{Test, local_path, many_servers};

const USER: &str = "home/.config/squire/squire.toml";
/// What a launch tells and no check: `--allow-missing` and the agent's own questions.
const OF_LAUNCHES: &[Code] = &[Code::Unresolved, Code::AgentApproval];

/// A finding: its code and severity, its server, its place below the test's directory.
struct Case {
    code: &'static str,
    severity: &'static str,
    server: Option<&'static str>,
    place: Option<(&'static str, Option<(u64, u64)>)>,
    test: Test,
}

fn user(text: &str) -> Test {
    Test::new().config(text).script("bin/a", "")
}

const A: &str = "[servers.a]\ncommand = \"a\"\n";

fn of_servers() -> Vec<Case> {
    let case = |code, severity, place: (u64, u64), text: &str| Case {
        code,
        severity,
        server: Some("x"),
        place: Some((USER, Some(place))),
        test: user(text),
    };
    let web = "[servers.x]\nurl = \"https://h.example.com/\"\n";
    let program = "[servers.x]\ncommand = \"a\"\n";
    vec![
        case("unset-variable", "error", (3, 1), &format!("{program}env = {{ A = \"${{env:NOPE}}\" }}\n")),
        case("unknown-transport", "error", (3, 1), &format!("{program}transport = \"${{env:HOME}}\"\n")),
        case(
            "required",
            "error",
            (6, 12),
            &format!("{program}disabled = true\n[profiles.default]\nservers = [\"x\"]\nrequire = [\"x\"]\n"),
        ),
        case("unknown-secret", "error", (3, 1), &format!("{program}env = {{ A = \"${{secret:nope}}\" }}\n")),
        Case {
            test: user(&format!("{program}env = {{ A = \"${{secret:k}}\" }}\n"))
                .secrets("[secrets.k]\nenv = \"NOPE\"\n"),
            ..case("unusable-secret", "error", (3, 1), "")
        },
        Case {
            test: user(&format!("{program}args = [\"${{secret:k}}\"]\n"))
                .secrets("[secrets]\nk = \"S3CR3T\"\n"),
            ..case("secret-in-argv", "warning", (3, 1), "")
        },
        case(
            "literal-credential",
            "warning",
            (3, 1),
            &format!("{program}env = {{ A = \"ghp_16C7e42F292c6912E7\" }}\n"),
        ),
        case("no-program", "warning", (2, 1), "[servers.x]\ncommand = \"nowhere\"\n"),
        case("no-directory", "warning", (3, 1), &format!("{program}cwd = \"nowhere\"\n")),
        case("not-approved", "warning", (1, 10), &format!("{program}trust = \"community\"\n")),
        case(
            "disabled",
            "warning",
            (1, 10),
            &format!("{program}disabled = true\n[profiles.default]\nservers = [\"x\"]\n"),
        ),
        case("policy", "warning", (1, 10), &format!("{program}[policy]\ndeny_servers = [\"x\"]\n")),
        case(
            "needs-gateway",
            "warning",
            (1, 10),
            &format!("{web}route = \"direct\"\n[agents.codex]\ntools.x = {{ deny = [\"a\"] }}\n"),
        ),
        case("transport", "warning", (1, 10), &format!("{web}transport = \"sse\"\nroute = \"direct\"\n")),
        case("inexpressible", "warning", (1, 10), "[servers.x]\nurl = \"https://h.example.com/$${x}\"\n"),
        case("exposed", "warning", (1, 10), &format!("{web}headers = {{ X-Key = \"v\" }}\n")),
        case("agent-requires", "note", (1, 10), web),
        case("unenforced", "note", (1, 10), &format!("{program}timeout = \"9s\"\n")),
        Case {
            test: user(web).write("home/.codex/config.toml", "[mcp_servers.x]\ncommand = \"own\"\n"),
            ..case("agent-has-it", "warning", (1, 10), "")
        },
        {
            let test = user(program);
            let directory = test.path("project").display().to_string();
            let state = json!({ "projects": { directory: { "disabledMcpServers": ["x"] } } });
            Case {
                test: test.write("home/.claude.json", state.to_string()),
                ..case("agent-disabled", "warning", (1, 10), "")
            }
        },
        Case {
            place: Some(("project/squire.toml", Some((1, 10)))),
            test: user(program).project("[servers.x]\ncommand = \"theirs\"\n"),
            ..case("name-taken", "warning", (1, 10), "")
        },
    ]
}

fn of_no_server() -> Vec<Case> {
    let case = |code, severity, place, test| Case { code, severity, server: None, place, test };
    let at = |path, line, column| Some((path, Some((line, column))));
    let strict = format!("{A}[profiles.default]\nservers = [\"a\"]\nstrict = true\n");
    let large =
        |name: usize| format!("[servers.s{name}]\nurl = \"https://h.example.com/{}\"\n", "x".repeat(1024));
    let nobody = user(A).local("[servers.nobody]\ntimeout = \"1m\"\n");
    let local: &str = Box::leak(local_path(&nobody, "project").into_boxed_str());
    vec![
        case("invalid", "error", at(USER, 1, 1), user("zzz = 1\n")),
        case("refused", "error", Some((USER, None)), user("").mode(USER, 0o666)),
        case("project-file", "error", at("project/squire.toml", 33, 10), user("").project(&many_servers(17))),
        case(
            "unmergeable",
            "error",
            at("project/.cursor/mcp.json", 1, 1),
            user(A).write("project/.cursor/mcp.json", "[]"),
        ),
        case("no-strict", "error", at(USER, 5, 1), user(&strict)),
        case("too-large", "error", None, user(&(0..200).map(large).collect::<String>())),
        case("unused", "warning", at(local, 1, 10), nobody),
        case(
            "no-session",
            "note",
            at(USER, 3, 1),
            user("[agents.mine]\nstrategy = \"codex\"\nprogram = [\"codex\", \"login\"]\n"),
        ),
        case(
            "hidden",
            "note",
            at(USER, 5, 1),
            user(&strict).write("home/.claude.json", "{ \"mcpServers\": { \"own\": {} } }"),
        ),
        case(
            "unreadable",
            "note",
            Some(("home/.codex/config.toml", None)),
            user("").write("home/.codex/config.toml", "["),
        ),
        case(
            "repository-server",
            "note",
            Some(("project/.mcp.json", None)),
            user("").write("project/.mcp.json", "{ \"mcpServers\": { \"own\": {} } }"),
        ),
        case(
            "approval-unreadable",
            "warning",
            Some(("home/.local/state/squire/approvals/x.json", None)),
            user("").project(A).write("home/.local/state/squire/approvals/x.json", "{"),
        ),
        case("not-installed", "note", None, user("").args(["--agent", "claude"])),
    ]
}

#[test]
fn every_code_is_reported_with_severity_place_and_mend() {
    let mut reported = BTreeSet::new();
    for Case { code, severity, server, place, test } in of_servers().into_iter().chain(of_no_server()) {
        let root = test.root();
        let mut words = test.clone();
        words = words.without_arguments().args(["check", "--json"]);
        if code == "not-installed" {
            words = words.args(["--agent", "claude"]);
        }
        let run = words.any_stdout().unchanged().ends().0;
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let findings = found["findings"].as_array().unwrap();
        let is_it = |finding: &&Value| finding["code"] == code && finding["server"] == json!(server);
        let finding = findings.iter().find(is_it).unwrap_or_else(|| panic!("{code}: {}", run.stdout));
        assert_eq!(finding["severity"], severity, "{code}");
        let path = place.map(|(path, _)| format!("<T>/{path}"));
        let position = place.and_then(|(_, position)| position);
        assert_eq!(finding["path"], json!(path), "{code} {}", root.display());
        assert_eq!(finding["line"], json!(position.map(|(line, _)| line)), "{code}");
        assert_eq!(finding["column"], json!(position.map(|(_, column)| column)), "{code}");
        assert!(!finding["message"].as_str().unwrap().is_empty(), "{code}");
        // A setting that the agent has no place for needs no mend, and the sentence of a refusal holds it.
        let without = ["unenforced", "refused"];
        assert_eq!(finding["help"].is_string(), !without.contains(&code), "{code}: {}", finding["help"]);
        reported.insert(code);
    }
    let of_plans = Code::ALL.iter().filter(|code| !OF_LAUNCHES.contains(code)).map(|code| code.as_str());
    let all: BTreeSet<&str> = of_plans.chain(OwnCode::ALL.iter().map(|code| code.as_str())).collect();
    assert_eq!(reported, all);
}

/// The table is complete, names nothing that does not exist, and agrees on the severity.
#[test]
fn the_documentation_lists_every_code() {
    let rows = include_str!("../docs/codes.md").lines().filter_map(|line| line.strip_prefix("| `"));
    let written: Vec<(&str, &str)> = rows
        .map(|row| {
            let (code, rest) = row.split_once("` | ").unwrap();
            (code, rest.split_once(" | ").unwrap().0)
        })
        .collect();
    let severity = |code: &Code| {
        if OF_LAUNCHES.contains(code) { "launch" } else { of_effect(*code).as_str() }
    };
    let mut expected: Vec<(&str, &str)> =
        Code::ALL.iter().map(|code| (code.as_str(), severity(code))).collect();
    expected.extend(OwnCode::ALL.iter().map(|code| (code.as_str(), code.severity().as_str())));
    let sorted = |mut rows: Vec<(&'static str, &'static str)>| {
        rows.sort_unstable();
        rows
    };
    assert_eq!(sorted(written), sorted(expected));
}
