//! A launch checks that sources are there and gets no value; its entries pin the names that the sources read.

use super::{FILE, RELATIVE};
use crate::support::Test;

const AGENTS: [(&str, &str); 4] =
    [("claude", "claude"), ("codex", "codex"), ("cursor", "cursor-agent"), ("opencode", "opencode")];

fn launch(config: &str, secrets: &str) -> Test {
    let test = Test::new().config(config).secrets(secrets).agent("claude", "");
    test.args(["launch", "claude"])
}

const LACKING: &str = "[servers.a]\ncommand = \"a\"\nenv = { T = \"${secret:nope}\", U = \"${env:NOPE}\" }\n\
                       [servers.b]\ncommand = \"b\"\nargs = [\"--x=${secret:gone}\"]\n\
                       [servers.c]\ncommand = \"c\"\nenv = { T = \"${secret:bound}\" }\n\
                       [servers.d]\ncommand = \"d\"\nenv = { T = \"${secret:fine}\" }\n";
const SOURCES: &str = "[secrets]\nfine = \"S3CR3T\"\n[secrets.gone]\nfile = \"<T>/gone\"\n\
                       [secrets.bound]\nenv = \"HOME\"\nservers = [\"d\"]\n";

#[test]
fn b21_everything_that_is_missing_is_told_at_once() {
    launch(LACKING, SOURCES)
        .stderr(format!(
            "squire: nothing was started:\n  \
             a: env.T needs ${{secret:nope}}, which {FILE} does not have\n  \
             a: env.U needs ${{env:NOPE}}, which is not set or empty\n  \
             b: args needs ${{secret:gone}}: there is no file <T>/gone\n  \
             c: env.T needs ${{secret:bound}}, which is bound to d\n  \
             help: squire secret set nope; set it, give it a default as in ${{env:NAME:-default}}; \
             mend that, then: squire secret check gone; add \"c\" to `servers` of bound in secrets.toml, \
             or leave such servers out with --allow-missing\n"
        ))
        .unchanged()
        .code(125);
}

#[test]
fn b21_allow_missing_leaves_such_servers_out() {
    let run = launch(LACKING, SOURCES).args(["--allow-missing"]).any_stderr().success();
    assert!(
        run.stderr.contains("claude gets 2 of 5: squire, d; left out: a (env.T needs ${secret:nope}, which "),
        "{}",
        run.stderr
    );
    assert!(run.agent_file(".json")["content"].as_str().unwrap().contains("\"d\""));
}

#[test]
fn a_broken_file_of_secrets_stops_the_launches_that_need_it() {
    let needs = "[servers.a]\ncommand = \"a\"\nenv = { T = \"${secret:k}\" }\n";
    let told = format!(
        "squire: nothing was started:\n{FILE}:1:1: unknown key `secret` in this file\n  help: did you mean `secrets`?\n"
    );
    launch(needs, "secret = 1\n").stderr(&*told).unchanged().code(125);
    launch(needs, "secret = 1\n").args(["--allow-missing"]).stderr(&*told).unchanged().code(125);
    let open = launch(needs, "[secrets]\nk = \"S3CR3T\"\n").mode(RELATIVE, 0o644);
    open.stderr(format!(
        "squire: nothing was started:\n{FILE}: others can read or write it; chmod 600 {FILE}\n"
    ))
    .unchanged()
    .code(125);
    launch("[servers.a]\ncommand = \"a\"\n", "secret = 1\n").any_stderr().success();
    let listing = launch(needs, "secret = 1\n").args(["--", "mcp", "list"]).any_stderr().success();
    assert!(listing.agent_was_started());
    for words in [&["list"][..], &["show", "a"], &["doctor"]] {
        let test = launch(needs, "secret = 1\n").without_arguments().args(words.iter().copied());
        test.any_stdout().unchanged().success();
    }
    let described = launch(needs, "secret = 1\n").without_arguments().args(["describe", "claude"]);
    described
        .any_stdout()
        .stderr(format!(
            "squire: {FILE}:1:1: unknown key `secret` in this file\n  help: did you mean `secrets`?\n"
        ))
        .unchanged()
        .success();
}

/// B95: a launch runs no command: that is the gateway's, when the server starts.
#[test]
fn b95_a_launch_runs_no_command_of_a_secret() {
    let config = "[servers.a]\ncommand = \"a\"\nenv = { T = \"${secret:k}\" }\n";
    let secrets = "[secrets.k]\ncommand = [\"touch\", \"<T>/pwned\"]\n";
    let test = launch(config, secrets).script("bin/a", "");
    for words in [
        &["launch", "claude"][..],
        &["launch", "claude", "--dry-run"],
        &["describe", "codex"],
        &["list"],
        &["show", "a"],
        &["check"],
        &["secret", "list"],
    ] {
        let run =
            test.clone().without_arguments().args(words.iter().copied()).any_stdout().any_stderr().success();
        assert!(!run.path("pwned").exists(), "{words:?}");
    }
}

/// B44: agents filter the environment, so that an entry names every variable that a source of its server reads.
#[test]
fn b44_the_variables_of_sources_are_pinned_by_name_for_the_one_server() {
    let config = "[servers.a]\ncommand = \"a\"\nenv = { T = \"${secret:k}\", U = \"${secret:c}\" }\n\
                  [servers.b]\ncommand = \"b\"\n";
    let secrets = "[secrets.k]\nenv = \"FROM_ENV\"\n[secrets.c]\ncommand = [\"op\"]\ninherit_env = [\"OP_TOKEN\"]\n\
                   [secrets.other]\nenv = \"OF_NOBODY\"\n";
    for (agent, program) in AGENTS {
        let test = Test::new().config(config).secrets(secrets).agent(program, "");
        let test = test.env("FROM_ENV", "S3CR3T-v").env("OP_TOKEN", "S3CR3T-t").env("OF_NOBODY", "S3CR3T-n");
        let run = test.args(["launch", agent, "--dry-run", "--json"]).any_stdout().success();
        // OpenCode hands everything on by itself.
        let expected = usize::from(agent != "opencode");
        for name in ["FROM_ENV", "OP_TOKEN"] {
            let pinned = run.stdout.matches(&format!("\"{name}\\\"")).count()
                + run.stdout.matches(&format!("\"{name}\"")).count();
            assert_eq!(pinned, expected, "{agent} {name}: {}", run.stdout);
        }
        assert!(!run.stdout.contains("OF_NOBODY"), "{agent}");
    }
}
