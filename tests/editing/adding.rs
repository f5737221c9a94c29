//! `squire add`.

use super::{FILE, RELATIVE, TEXT, squire, written};
use crate::support::{CANARY, Place, Session, Test};

fn told(names: &str, notes: &str, remaining: &[&str]) -> String {
    let verb = if names.contains(',') { "are" } else { "is" };
    let remaining = remaining.iter().fold(String::new(), |text, command| text + "\n  squire " + command);
    format!(
        "{notes}squire: {names} {verb} in {FILE} now, and off until approved\nsquire: what remains:{remaining}\n"
    )
}

#[test]
fn b26_a_command_line_becomes_a_server() {
    let run = squire(&["add", "wiki", "--env", "LEVEL=info", "--", "uvx", "wiki-mcp", "two words"])
        .stderr(told("wiki", "", &["approve wiki"]))
        .success();
    let block = "\n[servers.wiki]\ncommand = \"uvx\"\nargs = [\"wiki-mcp\", \"two words\"]\nenv = { LEVEL = \"info\" }\ntrust = \"community\"\n";
    assert_eq!(written(&run), TEXT.replace("[\"db\"]\n\n", &format!("[\"db\"]\n{block}\n")));
}

/// The first file is the user's alone, and what is added waits for approval.
#[test]
fn a_first_server_makes_the_file() {
    let test = Test::new();
    let run = test
        .clone()
        .args(["add", "npx -y @scope/server-docs"])
        .stderr(told("docs", "", &["approve docs"]))
        .success();
    assert_eq!(
        written(&run),
        "[servers.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"@scope/server-docs\"]\ntrust = \"community\"\n"
    );
    let run = test.args(["list"]).any_stdout().any_stderr().success();
    assert!(run.stdout.contains("docs    community  not-approved"), "{}", run.stdout);
    assert_eq!(run.files_below("home/.config/squire"), ["squire.toml"]);
}

#[test]
fn an_address_becomes_a_server() {
    let words = [
        "add",
        "https://mcp.linear.app/sse",
        "--transport",
        "sse",
        "--header",
        "X-A=1",
        "--bearer",
        "linear",
    ];
    let run = Test::new()
        .args(words)
        .stderr(told("linear", "", &["secret set linear", "approve linear"]))
        .success();
    assert_eq!(
        written(&run),
        "[servers.linear]\ntransport = \"sse\"\nurl = \"https://mcp.linear.app/sse\"\nheaders = { X-A = \"1\" }\nauth = { type = \"bearer\", secret = \"linear\" }\ntrust = \"community\"\n"
    );
}

#[test]
fn b15_b23_what_a_readme_shows_becomes_servers() {
    let snippet = "{ \"mcpServers\": { // two\n \"Sales Force\": { \"command\": \"docker\", \"args\": [\"run\", \"-i\", \"-e\", \"SF\", \"-e\", \"ORG\", \"img\"],\n \
                   \"env\": { \"SF\": \"<YOUR_TOKEN>\" }, \"color\": 1 },\n \"b\": { \"url\": \"https://b/mcp\", \"headers\": { \"X\": \"${X}\" }, }, } }";
    let notes = "squire: Sales-Force: --json: \"color\" is no field that squire knows, and is left away\n\
                 squire: Sales-Force: \"Sales Force\" is called Sales-Force here: a name that every agent takes\n";
    let remaining = ["secret set Sales-Force.SF", "approve Sales-Force", "approve b"];
    let run = Test::new()
        .args(["add", "--json", "-"])
        .stdin(snippet)
        .stderr(told("Sales-Force, b", notes, &remaining))
        .success();
    assert_eq!(
        written(&run),
        "[servers.Sales-Force]\ncommand = \"docker\"\nargs = [\"run\", \"-i\", \"-e\", \"SF\", \"-e\", \"ORG\", \"img\"]\n\
         env = { SF = \"${secret:Sales-Force.SF}\" }\ninherit_env = [\"ORG\"]\ntrust = \"community\"\n\n\
         [servers.b]\nurl = \"https://b/mcp\"\nheaders = { X = \"${env:X}\" }\ntrust = \"community\"\n"
    );
}

/// A secret in clear is in no file and in no message; the builder looks for it.
#[test]
fn b32_b70_no_secret_goes_into_the_file() {
    let token = format!("ghp_{CANARY}abc123def");
    let test = Test::new().args([
        "add",
        "a",
        "--env",
        &format!("TOKEN={token}"),
        "--",
        "srv",
        &format!("--key={token}"),
    ]);
    let run = test.stderr(told("a", "", &["secret set a.key", "secret set a.TOKEN", "approve a"])).success();
    assert_eq!(
        written(&run),
        "[servers.a]\ncommand = \"srv\"\nargs = [\"--key=${secret:a.key}\"]\nenv = { TOKEN = \"${secret:a.TOKEN}\" }\ntrust = \"community\"\n"
    );
    let told = "squire: github: env.TOKEN holds a secret in clear, which has no place in a squire.toml:\n  squire secret set github.TOKEN\n  squire set github env.TOKEN '${secret:github.TOKEN}'\n";
    squire(&["set", "github", "env.TOKEN", &token]).stderr(told).unchanged().code(1);
}

/// What is in the store already is not asked for again.
#[test]
fn a_known_secret_is_used() {
    let test = Test::new().secrets("[secrets.a]\nTOKEN = \"S3CR3T\"\n").args([
        "add",
        "a",
        "-e",
        "TOKEN=<TOKEN>",
        "--",
        "srv",
    ]);
    test.stderr(told("a", "", &["approve a"])).success();
}

#[test]
fn a_server_that_is_there_stays_unless_it_is_to_be_replaced() {
    squire(&["add", "github", "https://x/mcp"])
        .stderr(format!("squire: github is in {FILE} already; --replace gives it the new definition, and NAME another name\n"))
        .unchanged()
        .code(1);
    let run = squire(&["add", "github", "--replace", "--", "gh", "mcp"])
        .stderr(told("github", "", &["approve github"]))
        .success();
    let new = "[servers.github]   # mine\ncommand = \"gh\"\nargs = [\"mcp\"]\ntrust = \"community\"\n";
    assert_eq!(written(&run), TEXT.replace("[servers.github]   # mine\nurl = 'https://h/mcp' # main\n", new));
    let test = squire(&["add", "d", "https://x/mcp"])
        .write("home/.config/squire/servers.d/d.toml", "url = \"https://d\"\n");
    let path = "<T>/home/.config/squire/servers.d/d.toml";
    test.stderr(format!(
        "squire: d is declared in {path}, which squire only reads; NAME gives this one another name\n"
    ))
    .unchanged()
    .code(1);
}

#[test]
fn words_that_can_not_be_meant() {
    for (words, told) in [
        (
            &["add"][..],
            "what is to be added? `squire add NAME -- COMMAND`, `squire add NAME URL` or `squire add --json JSON`",
        ),
        (
            &["add", "docs"],
            "\"docs\" is neither an address nor a command line; `squire add docs -- COMMAND` or `squire add docs URL` adds a server of that name",
        ),
        (
            &["add", "a b", "https://h"],
            "the server name \"a b\" holds ' '; letters, digits, `-` and `_` are legal in every agent",
        ),
        (&["add", "--json", "{"], "--json: this is no JSON: EOF while parsing an object at line 1 column 1"),
        (
            &["add", "x", "--json", "{\"a\":{\"command\":\"x\"},\"b\":{\"command\":\"y\"}}"],
            "there are 2 servers in it, and NAME is for one",
        ),
        (&["add", "a", "--env", "X", "--", "x"], "--env wants NAME=VALUE"),
        (
            &["add", "a", "--transport", "sse", "--", "x"],
            "--transport sse does not go with what the server is",
        ),
        (
            &["add", "a", "https://h", "--bearer", "a b"],
            "--bearer wants the name of a secret, as in `github`; its value is asked for by `squire secret set`",
        ),
    ] {
        squire(words).stderr(format!("squire: {told}\n")).unchanged().code(2);
    }
    squire(&["add", "a", "--json", "{\"a\":{\"args\":[]}}"])
        .stderr(
            "squire: --json: \"a\": it has neither `command` nor `url`, and says not what the server is\n",
        )
        .unchanged()
        .code(1);
    squire(&["add", "a", "--json", "{\"command\":\"a\",\"headers\":{\"X\":\"1\"}}"])
        .any_stderr()
        .unchanged()
        .code(1);
}

#[test]
fn a_difference_is_shown_and_nothing_written() {
    squire(&["add", "--dry-run", "wiki", "--", "uvx", "wiki-mcp", "${K}"])
        .stdout(format!(
            "--- {FILE}\n+++ {FILE}\n@@ -7,6 +7,11 @@\n [servers.db]\n command = [\"db\"]\n \n+[servers.wiki]\n+command = \"uvx\"\n+args = [\"wiki-mcp\", \"${{env:K}}\"]\n+trust = \"community\"\n+\n # of work\n [profiles.work]\n servers = [\"github\", \"db\"]   # both\n"
        ))
        .unchanged()
        .success();
}

/// All of it on a terminal: the secret without echo, then the question.
#[test]
fn b94_on_a_terminal_it_asks_for_secrets_and_approval() {
    for (keys, is_on) in [(b"y\n", "on"), (b"n\n", "not-approved")] {
        let test = Test::new().script("bin/srv", "#!/bin/sh\n");
        let command = test.clone().args(["add", "a", "-e", "TOKEN=<YOUR_TOKEN>", "--", "srv"]).command();
        let mut session = Session::start(test.clone(), command, Place::Terminal);
        session.until_shown("value of a.TOKEN (not shown): ");
        session.press(b"S3CR3T_typed\n");
        session.until_shown("start a once, to see the tools before you approve? [y/N]");
        session.press(b"n\n");
        session.until_shown("approve a? [y/N]");
        session.press(keys);
        let facts = session.finish().join("\n");
        assert!(facts.contains("{\"exited\":0,\"foreground\":true} cooked"), "{facts}");
        assert!(!facts.contains("S3CR3T"), "{facts}");
        assert!(facts.find("[servers.a]") < facts.find("value of a.TOKEN"), "{facts}");
        let secrets = std::fs::read_to_string(test.path("home/.config/squire/secrets.toml")).unwrap();
        assert_eq!(secrets, "[secrets.a.TOKEN]\nvalue = \"S3CR3T_typed\"\nservers = [\"a\"]\n");
        let run = test.args(["list", "--json"]).any_stdout().success();
        assert!(run.stdout.contains(&format!("\"state\": \"{is_on}\"")), "{}", run.stdout);
        assert!(run.path(RELATIVE).exists());
    }
}

/// An empty line leaves it for later, and says how.
#[test]
fn on_a_terminal_a_secret_can_wait() {
    let test = Test::new().script("bin/srv", "#!/bin/sh\n");
    let command = test.clone().args(["add", "a", "-e", "TOKEN=<YOUR_TOKEN>", "--", "srv"]).command();
    let mut session = Session::start(test.clone(), command, Place::Terminal);
    session.until_shown("value of a.TOKEN (not shown): ");
    session.press(b"\n");
    session.until_shown("start a once");
    session.press(b"n\n");
    session.until_shown("approve a? [y/N]");
    session.press(b"y\n");
    let facts = session.finish().join("\n");
    assert!(facts.contains("squire secret set a.TOKEN"), "{facts}");
    assert!(!test.path("home/.config/squire/secrets.toml").exists());
}

/// What its user agrees to is one start of this declaration: it has its secret, its tools are shown, and it is off still.
#[test]
fn on_a_terminal_the_tools_are_shown_before_anything_is_trusted() {
    for (server, shown) in [
        ("exec <server> stdio --log <T>/log", "a: 3 tools"),
        ("echo broken >&2; exit 7", "a: it ended with status 7: broken"),
    ] {
        let test = Test::new().script("bin/srv", &format!("#!/bin/sh\n{server}\n"));
        let command = test.clone().args(["add", "a", "-e", "TOKEN=<YOUR_TOKEN>", "--", "srv"]).command();
        let mut session = Session::start(test.clone(), command, Place::Terminal);
        session.until_shown("value of a.TOKEN (not shown): ");
        session.press(b"S3CR3T_typed\n");
        session.until_shown("start a once");
        session.press(b"y\n");
        session.until_shown("approve a? [y/N]");
        session.press(b"n\n");
        let facts = session.finish().join("\n");
        assert!(facts.find(shown) < facts.find("approve a?") && facts.contains(shown), "{facts}");
        let run = test.args(["list", "--json"]).any_stdout().success();
        assert!(run.stdout.contains("\"state\": \"not-approved\""), "{}", run.stdout);
        if let Ok(log) = std::fs::read_to_string(run.path("log")) {
            assert!(log.contains("\"TOKEN\":\"S3CR3T_typed\""), "{log}");
        }
    }
}

/// The agreement is of one declaration of the user's own, and none of an agent.
#[test]
fn a_trial_is_of_no_other_declaration_and_in_no_launch() {
    let digest = |test: &Test| {
        let shown = test.clone().args(["show", "a", "--json"]).any_stdout().success().stdout;
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()["digest"].as_str().unwrap().to_owned()
    };
    let declared = "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n";
    let started = |test: Test, trial: &str| {
        let words = crate::support::gateway_words(&test, "a", "claude");
        let run = test.args(words).args(["--candid", "--trial", trial]).stdin(crate::gateway::CONVERSATION);
        run.any_stdout().any_stderr().ends().0.path("log").exists()
    };
    let own = || Test::new().config(&format!("{declared}trust = \"community\"\n"));
    let right = digest(&own());
    assert!(!started(own(), &"0".repeat(64)));
    let inside = own();
    let of_it = digest(&inside);
    assert!(!started(inside.env("SQUIRE_LAUNCH", "0".repeat(32)), &of_it));
    let test = own();
    let of_it = digest(&test);
    assert!(started(test, &of_it), "{right}");
    let project = Test::new().project(declared);
    let of_it = digest(&project);
    assert!(!started(project, &of_it));
}

/// Ctrl-C at a question ends the command, whatever was asked or started before.
#[test]
fn on_a_terminal_an_interrupt_ends_every_question() {
    for is_started in [true, false] {
        let test = Test::new().script("bin/srv", "#!/bin/sh\nexec <server> stdio\n");
        let command = test.clone().args(["add", "a", "-e", "TOKEN=<YOUR_TOKEN>", "--", "srv"]).command();
        let mut session = Session::start(test.clone(), command, Place::Terminal);
        session.until_shown("value of a.TOKEN (not shown): ");
        session.press(b"S3CR3T_typed\n");
        session.until_shown("start a once");
        if is_started {
            session.press(b"y\n");
            session.until_shown("approve a? [y/N]");
        }
        session.press(b"\x03");
        let facts = session.finish().join("\n");
        assert!(facts.contains("{\"killed\":2,"), "{facts}");
    }
}

/// What squire would take literally, and nobody means.
#[test]
fn what_is_for_a_shell_or_another_tool_is_refused() {
    for (words, told) in [
        (&["add", "claude mcp add x -- npx -y x"][..], "`claude` adds a server to a list of its own"),
        (&["add", "a", "--", "code", "--add-mcp", "{}"], "`code` adds a server to a list of its own"),
        (&["add", "a", "npx -y x > log"], "`>` is for a shell"),
        (&["add", "a", "cd x && npx y"], "`&&` is for a shell"),
    ] {
        let run = Test::new().args(words.iter().copied()).any_stderr().unchanged().code(2);
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
    let test = Test::new().args(["add", "--dry-run", "a", "$ docker run -i --rm \\\n  -e T=x \\\n  mcp/foo"]);
    let run = test.any_stdout().success();
    assert!(run.stdout.contains("[\"run\", \"-i\", \"--rm\", \"-e\", \"T"), "{}", run.stdout);
}

/// An entry of the local layer under a name of yours would be that server with other fields, and have its secrets.
#[test]
fn a_name_of_a_lower_layer_is_not_added_to_the_local_one() {
    let test = Test::new().config("[servers.k]\ncommand = \"x\"\nenv = { A = \"${secret:k}\" }\n");
    let run = test.args(["add", "k", "--layer", "local", "--", "evil"]).any_stderr().unchanged().code(1);
    assert!(run.stderr.contains("the local layer would change it field by field"), "{}", run.stderr);
}
