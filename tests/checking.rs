//! `squire check`: everything that is wrong or will be left out, before a launch.

use serde_json::{Value, json};

use crate::support::{Test, many_servers};

const EVERY: &str = "(claude, codex, cursor, opencode, inspect)";
const USER: &str = "<T>/home/.config/squire/squire.toml";
const HELP: &str = "  help: set it, or give it a default as in ${env:NAME:-default}\n";

/// The programs `a` and `b` are there.
fn check(config: &str) -> Test {
    let test = Test::new().config(config).script("bin/a", "").script("bin/b", "");
    test.args(["check"]).unchanged()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_clean_configuration_has_nothing_to_report() {
    let config = "[servers.a]\ncommand = \"a\"\nenv = { A = \"${env:HOME}\", B = \"${env:NO:-b}\" }\n";
    check(config).stdout("nothing to report\n").success();
    Test::new().args(["check"]).stdout("nothing to report\n").unchanged().success();
    let nothing = parsed(&check(config).args(["--json"]).any_stdout().success().stdout);
    assert_eq!(nothing, json!({ "findings": [], "errors": 0, "warnings": 0 }));
}

#[test]
fn a_note_alone_is_no_failure() {
    check("[servers.a]\ncommand = \"a\"\ntimeout = \"9s\"\n")
        .stdout(format!(
            "{USER}:1:10: note: a: Cursor has no place for its timeouts [unenforced] (cursor)\n1 note\n"
        ))
        .success();
}

#[test]
fn every_severity_in_the_order_of_lines_and_agents_merged() {
    let config = "[servers.key]\nurl = \"https://h.example/\"\nheaders = { Authorization = \"Bearer x\" }\n\
                  [servers.slow]\ncommand = \"a\"\ntimeout = \"9s\"\nenv = { A = \"${env:NOPE}\" }\n\
                  [servers.wiki]\nurl = \"https://h.example/\"\nauth = { type = \"bearer\", secret = \"w\" }\n";
    let expected = format!(
        "{USER}:1:10: warning: key: the header Authorization would stand in an argument, which every user of the machine can read [exposed] (codex)\n  help: launch it with claude, whose file is private\n\
         {USER}:1:10: warning: key: the header Authorization would stand in a file of the project, which may be committed [exposed] (cursor)\n  help: launch it with claude, whose file is private\n\
         {USER}:1:10: warning: key: the header Authorization would stand in a variable that OpenCode hands to every server it starts [exposed] (opencode)\n  help: launch it with claude, whose file is private\n\
         {USER}:3:1: warning: key: headers.Authorization holds what looks like a credential in clear [literal-credential]\n  help: squire secret set NAME, then write ${{secret:NAME}} in its place\n\
         {USER}:4:10: note: slow: Cursor has no place for its timeouts [unenforced] (cursor)\n\
         {USER}:7:1: error: slow: env.A needs ${{env:NOPE}}, which is not set or empty [unset-variable] {EVERY}\n{HELP}\
         {USER}:10:1: error: wiki: auth needs the secret `w`, which <T>/home/.config/squire/secrets.toml does not have [unknown-secret] {EVERY}\n  help: squire secret set w\n\
         2 errors, 4 warnings, 1 note\n"
    );
    check(config).stdout(expected).code(1);
}

#[test]
fn a_malformed_file_of_the_user_is_told_whole() {
    let config = "[servers.a]\ncomand = \"a\"\n[servers.b]\ncommand = 1\n";
    check(config)
        .stdout(format!(
            "{USER}:2:1: error: unknown key `comand` in [servers.a] [invalid]\n  help: did you mean `command`?\n\
             {USER}:4:11: error: `command` wants a program, or an array of a program and its arguments, and this is of type integer [invalid]\n\
             2 errors\n"
        ))
        .code(1);
    let found = parsed(&check(config).args(["--json"]).any_stdout().code(1).stdout);
    let places: Vec<&Value> =
        found["findings"].as_array().unwrap().iter().map(|finding| &finding["line"]).collect();
    assert_eq!(places, [2, 4]);
    assert_eq!(found["findings"][0]["agents"], json!([]));
    assert_eq!((&found["errors"], &found["warnings"]), (&json!(2), &json!(0)));
}

#[test]
fn what_only_the_resolution_finds_is_told_too() {
    check("[servers.a]\ncommand = \"a\"\nurl = \"https://h/\"\n")
        .stdout(format!(
            "{USER}:3:1: error: [servers.a]: both `command` and `url`: one server has one of them [invalid]\n1 error\n"
        ))
        .code(1);
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding() {
    let run = check("").mode("home/.config/squire/squire.toml", 0o666).any_stdout().code(1);
    assert!(run.stdout.starts_with(&format!("{USER}: error: ")), "{}", run.stdout);
    assert!(run.stdout.ends_with(" [refused]\n1 error\n"), "{}", run.stdout);
}

#[test]
fn a_malformed_project_file_is_an_error_here() {
    let file = "<T>/project/squire.toml";
    // What its syntax says, what its references say, what its resolution says.
    for (written, place, told) in [
        ("[servers.x\n", "1:11", ""),
        ("[profiles.p]\nservers = [\"x\"]\n", "2:12", "there is no server \"x\" in this layer"),
        (
            "[servers.x]\ncommand = \"${env:X}\"\n",
            "2:1",
            "[servers.x]: a project's `command` can't hold a reference",
        ),
    ] {
        let run = Test::new()
            .write("project/squire.toml", written)
            .args(["check"])
            .unchanged()
            .any_stdout()
            .code(1);
        let expected = format!("{file}:{place}: error: the project's file is not used: {told}");
        assert!(run.stdout.starts_with(&expected), "{expected}\n{}", run.stdout);
        let [first, .., counts] = run.stdout.lines().collect::<Vec<_>>()[..] else {
            panic!("{}", run.stdout)
        };
        assert!(first.ends_with(" [project-file]"), "{first}");
        assert_eq!(counts, "1 error");
    }
    Test::new()
        .write("project/squire.toml", many_servers(17))
        .args(["check"])
        .unchanged()
        .stdout(format!(
            "{file}:33:10: error: the project's file is not used: it declares 17 servers, and a project may have 16 [project-file]\n  \
             help: raise `max_project_servers` of your [policy]\n1 error\n"
        ))
        .code(1);
}

#[test]
fn a_local_file_in_the_project_is_told() {
    let run =
        Test::new().write("project/squire.local.toml", "").args(["check"]).any_stdout().unchanged().code(1);
    let expected = "<T>/project/squire.local.toml: error: it is not read: your own changes lie in <T>/home/.config/squire/projects/project-";
    assert!(run.stdout.starts_with(expected), "{}", run.stdout);
}

#[test]
fn b33_b35_a_projects_servers_are_left_out_at_their_place() {
    check("[servers.mine]\ncommand = \"a\"\n")
        .write("project/squire.toml", "[servers.x]\ncommand = \"x\"\n[servers.mine]\ncommand = \"x\"\n")
        .stdout(format!(
            "<T>/project/squire.toml:1:10: warning: x: declared by the project, and not approved [not-approved] {EVERY}\n  help: squire approve x\n\
             <T>/project/squire.toml:3:10: warning: mine: a server of yours has this name, and a project can't take it [name-taken] {EVERY}\n  help: rename it in the project's file\n\
             2 warnings\n"
        ))
        .code(1);
}

/// A profile `default` hides no server from the check, and what it requires is looked at.
#[test]
fn servers_outside_of_the_usual_launch_are_checked() {
    check(
        "[servers.a]\ncommand = \"a\"\ndisabled = true\n[servers.b]\ncommand = \"b\"\nargs = [\"${env:NOPE}\"]\n\
         [servers.off]\ncommand = \"off\"\ndisabled = true\n\
         [profiles.default]\nservers = [\"a\"]\nrequire = [\"a\"]\n",
    )
    .stdout(format!(
        "{USER}:1:10: warning: a: disabled in squire.toml [disabled] {EVERY}\n  help: take out what disables it, or its name out of the profile\n\
         {USER}:6:1: error: b: args needs ${{env:NOPE}}, which is not set or empty [unset-variable] {EVERY}\n{HELP}\
         {USER}:12:12: error: a: it is required, and would not be there: disabled in squire.toml [required] {EVERY}\n  \
         help: let it be there, or take it out of `require` of the profile\n\
         2 errors, 1 warning\n"
    ))
    .code(1);
}

#[test]
fn the_users_own_agents_are_checked() {
    let config = "[servers.a]\ncommand = \"a\"\ntimeout = \"9s\"\n\
                  [agents.mine]\nstrategy = \"cursor\"\nprogram = [\"mine\"]\n";
    let told = |agents: &str| {
        format!("{USER}:1:10: note: a: Cursor has no place for its timeouts [unenforced] ({agents})\n")
    };
    check(config).stdout(told("cursor, mine") + "1 note\n").success();
    check(config)
        .args(["--agent", "mine"])
        .stdout(told("mine") + &format!("{USER}:6:1: note: mine was not found on PATH [not-installed] (mine)\n  help: install it, or name its program in [agents.NAME]\n2 notes\n"))
        .success();
    check(config).args(["--agent", "mine"]).agent("mine", "").stdout(told("mine") + "1 note\n").success();
}

#[test]
fn a_refusal_of_an_agent_is_an_error_of_that_agent() {
    check("[servers.a]\ncommand = \"a\"\n")
        .env("OPENCODE_CONFIG_CONTENT", "{ \"mcp\": 1 }")
        .stdout(
            "error: OPENCODE_CONFIG_CONTENT is set, and its `mcp` is no object [unmergeable] (opencode)\n  help: mend its value, or unset it\n1 error\n",
        )
        .code(1);
}

#[test]
fn directories_that_a_launch_refuses_are_an_error() {
    let test = Test::new();
    let inside = test.path("project/config");
    let run = test.env("SQUIRE_CONFIG_DIR", inside).args(["check"]).unchanged().any_stdout().code(1);
    assert!(run.stdout.starts_with("error: <T>/project/config lies inside the project"), "{}", run.stdout);
}

#[test]
fn json_has_every_key() {
    let run = check("[servers.a]\ncommand = \"a\"\nenv = { A = \"${env:NOPE}\" }\n")
        .args(["--json", "--agent", "claude"])
        .agent("claude", "")
        .any_stdout()
        .code(1);
    assert_eq!(
        parsed(&run.stdout),
        json!({
            "findings": [{
                "code": "unset-variable",
                "severity": "error",
                "message": "env.A needs ${env:NOPE}, which is not set or empty",
                "help": "set it, or give it a default as in ${env:NAME:-default}",
                "server": "a",
                "agents": ["claude"],
                "path": USER,
                "line": 3,
                "column": 1,
            }],
            "errors": 1,
            "warnings": 0,
        })
    );
}

#[test]
fn sarif_has_a_rule_a_code_and_an_address() {
    let config = "[servers.a]\ncommand = \"a\"\nenv = { A = \"${env:NOPE}\" }\n";
    let test = Test::new();
    let directory = test.path("home/a b é");
    let run = test
        .write("home/a b é/squire.toml", config)
        .script("bin/a", "")
        .env("SQUIRE_CONFIG_DIR", directory)
        .env("OPENCODE_CONFIG_CONTENT", "{ \"mcp\": 1 }")
        .args(["check", "--sarif"])
        .unchanged()
        .any_stdout()
        .code(1);
    let sarif = parsed(&run.stdout);
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(sarif["runs"].as_array().unwrap().len(), 1);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let driver = &run["tool"]["driver"];
    assert_eq!((&driver["name"], &driver["version"]), (&json!("squire"), &json!(env!("CARGO_PKG_VERSION"))));
    let rules: Vec<&Value> = driver["rules"].as_array().unwrap().iter().map(|rule| &rule["id"]).collect();
    assert_eq!(rules, ["unset-variable", "unmergeable"]);
    assert_eq!(
        run["results"][0],
        json!({
            "ruleId": "unset-variable",
            "ruleIndex": 0,
            "level": "error",
            "message": { "text": "a: env.A needs ${env:NOPE}, which is not set or empty; set it, or give it a default as in ${env:NAME:-default} (claude, codex, cursor, opencode, inspect)" },
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": { "uri": "file://<T>/home/a%20b%20%C3%A9/squire.toml" },
                    "region": { "startLine": 3, "startColumn": 1 },
                },
            }],
        })
    );
    assert_eq!(run["results"][1]["locations"], json!([]));
}

/// What files say acts on no terminal.
#[test]
fn what_is_shown_is_printable() {
    let run = check("[servers.a]\ncommand = \"a\"\n\"x\\u001b[2J\" = 1\n").any_stdout().code(1);
    assert!(!run.stdout.contains('\u{1b}'), "{:?}", run.stdout);
}

#[test]
fn a_wrong_command_line() {
    check("")
        .args(["--agent", "claud"])
        .stderr("squire: there is no agent \"claud\"; did you mean `claude`?\n")
        .code(2);
    check("").args(["--json", "--sarif"]).any_stderr().code(2);
}

#[test]
fn a_chosen_transport_that_is_none_has_a_help_of_its_own() {
    let told = |value: &str, sentence: &str, help: &str| {
        check("[servers.d]\ntransport = \"${env:T}\"\ncommand = \"a\"\n")
            .env("T", value)
            .stdout(format!(
                "{USER}:2:1: error: d: transport: ${{env:T}} {sentence} {EVERY}\n  help: {help}\n1 error\n"
            ))
            .code(1);
    };
    told(
        "websocket",
        "comes out as none of `stdio`, `http` and `sse` [unknown-transport]",
        "let it come out as `stdio`, `http` or `sse`",
    );
    told(
        "sse",
        "comes out as `sse`, and the declaration has no such server [unknown-transport]",
        "add `url` to it, or choose `stdio`",
    );
    told("", "is not set [unset-variable]", "set it, or give it a default as in ${env:NAME:-default}");
    check("[servers.d]\ntransport = \"${env:T:-stdio}\"\nurl = \"https://h.example.com/\"\n")
        .any_stdout()
        .code(1);
}

/// What a profile says is told at its word, also where another profile brings it.
#[test]
fn a_profiles_require_and_strict_are_told_at_their_place() {
    let servers = "[servers.a]\ncommand = \"a\"\ndisabled = true\n[servers.b]\ncommand = \"b\"\n";
    check(&format!(
        "{servers}[profiles.base]\nservers = [\"a\", \"b\"]\nrequire = [\"b\",\n  \"a\"]\n\
         [profiles.default]\nextends = [\"base\"]\nstrict = true\n"
    ))
    .args(["--agent", "cursor"])
    .agent("cursor-agent", "")
    .stdout(format!(
        "{USER}:1:10: warning: a: disabled in squire.toml [disabled] (cursor)\n  help: take out what disables it, or its name out of the profile\n\
         {USER}:9:3: error: a: it is required, and would not be there: disabled in squire.toml [required] (cursor)\n  \
         help: let it be there, or take it out of `require` of the profile\n\
         {USER}:12:1: error: Cursor has no way to switch its own servers off for one launch [no-strict] (cursor)\n  \
         help: leave --strict away, or `strict` of the profile\n2 errors, 1 warning\n"
    ))
    .code(1);
    check(&format!("{servers}[profiles.default]\nservers = [\"a\", \"b\"]\nrequire = [\"b\",\n  \"a\"]\n"))
        .args(["--agent", "claude"])
        .agent("claude", "")
        .stdout(format!(
            "{USER}:1:10: warning: a: disabled in squire.toml [disabled] (claude)\n  help: take out what disables it, or its name out of the profile\n\
             {USER}:9:3: error: a: it is required, and would not be there: disabled in squire.toml [required] (claude)\n  \
             help: let it be there, or take it out of `require` of the profile\n1 error, 1 warning\n"
        ))
        .code(1);
    check(&format!("{servers}[profiles.default]\nservers = [\"b\"]\nstrict = true\n"))
        .write("home/.claude.json", "{ \"mcpServers\": { \"own\": {} } }")
        .args(["--agent", "claude"])
        .agent("claude", "")
        .stdout(format!(
            "{USER}:8:1: note: switched off for this launch, as --strict says: own [hidden] (claude)\n  help: take `strict` out of the profile to keep them\n1 note\n"
        ))
        .success();
}

/// What any profile requires is looked at; but not what an agent can't have that perhaps never uses the profile.
#[test]
fn what_other_profiles_require_is_told_where_no_agent_has_it() {
    let servers = "[servers.a]\ncommand = \"a\"\ndisabled = true\n[servers.old]\nurl = \"https://h.example.com/\"\ntransport = \"sse\"\n";
    let config = format!(
        "{servers}[profiles.work]\nservers = [\"a\", \"old\"]\nrequire = [\"a\", \"old\"]\nstrict = true\n"
    );
    let run = check(&config).args(["--json"]).any_stdout().code(1);
    let found = parsed(&run.stdout)["findings"].as_array().unwrap().clone();
    let required: Vec<_> = found.iter().filter(|finding| finding["code"] == "required").collect();
    let [required] = required.as_slice() else { panic!("{required:?}") };
    assert_eq!(required["server"], "a");
    assert_eq!((&required["line"], &required["column"]), (&9.into(), &12.into()));
    assert!(!found.iter().any(|finding| finding["code"] == "no-strict"));
}

/// What a launch could not start is known before, and nothing is executed to know it.
#[test]
fn programs_and_directories_that_are_not_there() {
    let program = "install it, or write its whole path; where it is for another machine, this is no news";
    let directory = "make it, or correct `cwd`";
    let told = |server: &str, finding: Option<(&str, &str)>| {
        let test = check(&format!("[servers.x]\n{}\n", server.replace("<N>", "\n")))
            .write("home/plain", "")
            .script("home/run", "#!/bin/sh\ntouch <T>/executed\n")
            .script("project/bin/in-project", "")
            .script("other/in-other", "");
        let path = format!("{}:{}::relative", test.path("bin").display(), test.path("project/bin").display());
        let test = test.env("PATH", path);
        match finding {
            None => test.stdout("nothing to report\n").success(),
            Some((line_and_sentence, help)) => {
                test.stdout(format!("{USER}:{line_and_sentence}\n  help: {help}\n1 warning\n")).code(1)
            }
        };
    };
    told("command = \"a\"", None);
    told("command = \"~/run\"", None);
    told("command = \"<T>/home/run\"", None);
    told("command = \"./run\"<N>cwd = \"~\"", None);
    told("command = \"${env:HOME}/run\"", None);
    // The PATH of the server is looked at, and not the launch's.
    told("command = \"in-other\"<N>env = { PATH = \"<T>/other\" }", None);
    told(
        "command = \"a\"<N>env = { PATH = \"<T>/other\" }",
        Some(("2:1: warning: x: a was not found on PATH [no-program]", program)),
    );
    told(
        "command = \"nowhere\"",
        Some(("2:1: warning: x: nowhere was not found on PATH [no-program]", program)),
    );
    told(
        "command = \"in-project\"",
        Some((
            "2:1: warning: x: in-project was not found on PATH; <T>/project/bin/in-project is skipped: it lies in the project [no-program]",
            program,
        )),
    );
    told(
        "command = \"a b\"",
        Some((
            "2:1: warning: x: one string is one program; write command = [\"a\", \"b\"]: a b was not found on PATH [no-program]",
            program,
        )),
    );
    told(
        "command = \"~/nowhere\"",
        Some(("2:1: warning: x: there is no program <T>/home/nowhere [no-program]", program)),
    );
    told(
        "command = \"~/plain\"",
        Some(("2:1: warning: x: <T>/home/plain can't be executed [no-program]", program)),
    );
    told(
        "command = \"${env:HOME}/plain\"",
        Some(("2:1: warning: x: ${env:HOME}/plain can't be executed [no-program]", program)),
    );
    told(
        "command = \"./nowhere\"<N>cwd = \"~\"",
        Some(("2:1: warning: x: there is no program ./nowhere [no-program]", program)),
    );
    told(
        "command = \"a\"<N>cwd = \"~/nowhere\"",
        Some(("3:1: warning: x: cwd: <T>/home/nowhere is no directory [no-directory]", directory)),
    );
    told(
        "command = \"a\"<N>cwd = \"${env:HOME}/plain\"",
        Some(("3:1: warning: x: cwd: ${env:HOME}/plain is no directory [no-directory]", directory)),
    );
}

/// Nothing is looked up for a server that would not run, a repository's first of all.
#[test]
fn what_does_not_run_is_not_looked_up() {
    for server in ["disabled = true", "trust = \"community\"", "env = { A = \"${env:NOPE}\" }"] {
        let run = check(&format!("[servers.x]\ncommand = \"nowhere\"\ncwd = \"~/nowhere\"\n{server}\n"))
            .any_stdout()
            .ends()
            .0;
        assert!(!run.stdout.contains("[no-"), "{server}: {}", run.stdout);
    }
    check("")
        .project("[servers.x]\ncommand = \"nowhere\"\ncwd = \"nowhere\"\n")
        .stdout(format!(
            "<T>/project/squire.toml:1:10: warning: x: declared by the project, and not approved [not-approved] {EVERY}\n  help: squire approve x\n1 warning\n"
        ))
        .code(1);
}

/// The mend of a project's file is a help everywhere, and no part of a sentence.
#[test]
fn the_mend_of_a_projects_file_is_a_help() {
    let test = || Test::new().project("[servers.x]\nremove = true\n[policy]\n").unchanged();
    let file = "<T>/project/squire.toml";
    let [removes, policy] = [
        "`remove` takes out a lower layer's server, and there is none below this file",
        "a project declares servers and profiles, and no [policy]",
    ];
    let help = "delete the declaration, or write `disabled = true`";
    test()
        .args(["check"])
        .stdout(format!(
            "{file}:2:1: error: the project's file is not used: {removes} [project-file]\n  help: {help}\n\
             {file}:3:2: error: the project's file is not used: {policy} [project-file]\n2 errors\n"
        ))
        .code(1);
    let run = test().args(["describe", "claude"]).any_stdout().success();
    let notes = format!(
        "\nnotes\n  {file}:2:1: the project's file is not used: {removes}; {help} [project-file]\n  \
         {file}:3:2: the project's file is not used: {policy} [project-file]\n"
    );
    assert!(run.stdout.contains(&notes), "{}", run.stdout);
    let run = test().args(["list", "--json"]).any_stdout().success();
    assert_eq!(
        parsed(&run.stdout)["notes"][0],
        json!({
            "code": "project-file",
            "server": null,
            "sentence": format!("{file}:2:1: the project's file is not used: {removes}"),
            "mend": help,
        })
    );
}

/// A reference that the policy adds to a server is told where the policy writes it.
#[test]
fn a_variable_of_the_policy_is_told_in_the_policy() {
    check(
        "[servers.a]\ncommand = \"a\"\nenv = { OWN = \"x\" }\n[policy]\nenv = { OWN = \"${env:NOPE}\", T = \"${env:NOPE}\" }\n",
    )
    .stdout(format!(
        "{USER}:5:1: error: a: env.T needs ${{env:NOPE}}, which is not set or empty [unset-variable] {EVERY}\n{HELP}1 error\n"
    ))
    .code(1);
}

/// What is wrong with one server is told at once.
#[test]
fn a_program_and_its_directory_are_both_told() {
    let run = check("[servers.x]\ncommand = \"nowhere\"\ncwd = \"~/nowhere\"\n").any_stdout().code(1);
    let codes: Vec<&str> =
        run.stdout.matches("[no-program]").chain(run.stdout.matches("[no-directory]")).collect();
    assert_eq!(codes, ["[no-program]", "[no-directory]"]);
    let run = check("[servers.x]\ncommand = \"./nowhere\"\ncwd = \"~/nowhere\"\n").any_stdout().code(1);
    assert!(!run.stdout.contains("[no-program]"), "{}", run.stdout);
}
