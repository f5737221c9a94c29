//! What secrets.toml may say, and how it is told what it may not.

use super::FILE;
use crate::support::Test;

const SERVER: &str = "[servers.a]\ncommand = \"a\"\nenv = { T = \"${secret:k}\" }\n";

/// `squire secret list` is refused with this; no value is in it.
#[track_caller]
fn refused(secrets: &str, told: &str) {
    let run = Test::new()
        .config(SERVER)
        .secrets(secrets)
        .args(["secret", "list"])
        .stderr(format!("squire: {}\n", told.replace("<F>", FILE)))
        .unchanged()
        .code(1);
    assert!(!run.stderr.contains("S3CR3T"), "{}", run.stderr);
}

#[test]
fn what_can_not_be_is_told_with_its_place() {
    for (secrets, told) in [
        ("zzz = 1\n", "<F>:1:1: unknown key `zzz` in this file\n  help: known keys: secrets"),
        (
            "[secrets]\n\"a b\" = \"S3CR3T\"\n",
            "<F>:2:1: \"a b\" can't be the name of a secret\n  help: a name has letters, digits, `-` and `_`, and a `.` between two parts",
        ),
        (
            "[secrets]\nk = 5\n",
            "<F>:2:5: `k` wants a value, or a source such as { env = \"NAME\" }, or a table of further names, and this is of type integer",
        ),
        ("[secrets]\nk = \"\"\n", "<F>:2:1: the value of `k`: it is empty"),
        (
            "[secrets.k]\n",
            "<F>:1:10: [secrets.k] wants one of `env`, `file`, `value` and `command`\n  help: squire secret set --replace k writes one",
        ),
        (
            "[secrets.k]\nservers = [\"a\"]\n",
            "<F>:1:10: [secrets.k] wants one of `env`, `file`, `value` and `command`\n  help: squire secret set --replace k writes one",
        ),
        (
            "[secrets.k]\nenv = \"A\"\nfile = \"/f\"\n",
            "<F>:3:1: both `env` and `file`: a secret has one source",
        ),
        (
            "[secrets.k]\nenv = \"S3CR3T-x\"\n",
            "<F>:2:1: `env` wants the name of an environment variable: letters, digits and `_`",
        ),
        ("[secrets.k]\nenv = [\"S3CR3T\"]\n", "<F>:2:7: `env` wants a string, and this is of type array"),
        ("[secrets.k]\nfile = \"S3CR3T\"\n", "<F>:2:1: `file` wants a whole path, or one below `~/`"),
        ("[secrets.k]\nvalue = \"\"\n", "<F>:2:1: `value`: it is empty"),
        ("[secrets.k]\nvalue = 123\n", "<F>:2:9: `value` wants a string, and this is of type integer"),
        (
            "[secrets.k]\ncommand = \"S3CR3T\"\n",
            "<F>:2:11: `command` wants an array of a program and its arguments, which no shell reads, and this is of type string",
        ),
        (
            "[secrets.k]\ncommand = []\n",
            "<F>:2:1: `command` wants an array of a program and its arguments, which no shell reads, and this is empty",
        ),
        (
            "[secrets.k]\ncommand = [\"./S3CR3T\"]\n",
            "<F>:2:1: `command`: a relative program would be another one in every directory\n  help: write a name that is looked up on PATH, a whole path, or one below `~/`",
        ),
        (
            "[secrets.k]\nvalue = \"S3CR3T\"\ninherit_env = [\"A\"]\n",
            "<F>:3:1: `inherit_env` goes with `command`: what is there has no environment",
        ),
        (
            "[secrets.k]\ncommand = [\"x\"]\ninherit_env = [\"S3CR3T-\"]\n",
            "<F>:3:1: `inherit_env` wants names of environment variables: letters, digits and `_`",
        ),
        (
            "[secrets.k]\nenv = \"A\"\nserver = [\"a\"]\n",
            "<F>:3:1: unknown key `server` in [secrets.k]\n  help: did you mean `servers`?",
        ),
        (
            "[secrets.k]\nenf = \"S3CR3T\"\n",
            "<F>:2:1: unknown key `enf` in [secrets.k]\n  help: did you mean `env`?",
        ),
        (
            "[secrets.k]\nfiles = [\"S3CR3T\"]\n",
            "<F>:2:1: unknown key `files` in [secrets.k]\n  help: did you mean `file`?",
        ),
        (
            "[secrets]\na.b = \"S3CR3T\"\n[secrets.c]\nenv = { x = 1 }\n",
            "<F>:4:7: `env` wants a string, and this is of type table",
        ),
    ] {
        refused(secrets, told);
    }
}

/// The words of a parser must not show the line that they are about.
#[test]
fn what_is_no_toml_shows_no_value() {
    for secrets in [
        "[secrets]\nk = S3CR3T\n",
        "[secrets]\nk = \"S3CR3T\n",
        "[secrets]\nk = \"S3CR3T\\q\"\n",
        "[secrets]\nS3CR3T\n",
        "[secrets]\nk = 'S3CR3T' S3CR3T\n",
        "[secrets]\nk = \"S3CR3T\"\nk = \"S3CR3T\"\n",
        "\u{feff}S3CR3T",
    ] {
        let test = Test::new().config(SERVER).secrets(secrets);
        for words in
            [&["secret", "list"][..], &["secret", "check"], &["check"], &["secret", "set", "x", "--env", "X"]]
        {
            let run = test.clone().args(words.iter().copied()).any_stdout().any_stderr().unchanged().code(1);
            for text in [&run.stdout, &run.stderr] {
                assert!(!text.contains("S3CR3T"), "{secrets:?}: {text}");
            }
        }
    }
}

#[test]
fn all_that_it_may_say() {
    let secrets = "[secrets]\nplain = \"S3CR3T\"\nwith-dash_1 = { env = \"A\", servers = [] }\n\
                   [secrets.api_keys]\ngithub = { file = \"~/t\" }\ndeep.er = \"S3CR3T\"\n\
                   [secrets.op]\ncommand = [\"op\", \"read\", \"op://a b\"]\ninherit_env = [\"OP\"]\nservers = [\"a\"]\n\
                   [secrets.api_keys.other]\nvalue = \"S3CR3T\"\n";
    Test::new()
        .config(
            "[servers.a]\ncommand = \"a\"\nenv = { T = \"${secret:op}\", U = \"${secret:plain}\" }\n\
                 [servers.b]\nurl = \"https://h/\"\nauth = { type = \"bearer\", secret = \"plain\" }\n",
        )
        .project("[servers.p]\ncommand = \"p\"\nenv = { T = \"${secret:plain}\" }\n")
        .secrets(secrets)
        .args(["secret", "list"])
        .stdout(
            "NAME              SOURCE                    BOUND TO   USED BY\n\
             plain             value                     -          a, b\n\
             with-dash_1       env A                     no server  -\n\
             api_keys.github   file ~/t                  -          -\n\
             api_keys.deep.er  value                     -          -\n\
             api_keys.other    value                     -          -\n\
             op                command op read op://a b  a          a\n",
        )
        .unchanged()
        .success();
    Test::new()
        .args(["secret", "list"])
        .stdout(format!("no secret is declared in {FILE}\n"))
        .unchanged()
        .success();
}
