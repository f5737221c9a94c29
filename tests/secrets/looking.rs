//! `secret check`, `show`, `list` and `check`: names, sources and reasons, and no value.

use serde_json::{Value, json};

use super::FILE;
use crate::support::Test;

const USER: &str = "<T>/home/.config/squire/squire.toml";

const ALL: &str = "[secrets]\nvalue = { value = \"S3CR3T\" }\nplain = \"S3CR3T\"\n\
                   [secrets.unset]\nenv = \"NOPE\"\n\
                   [secrets.open]\nfile = \"<T>/open\"\n\
                   [secrets.op]\ncommand = [\"cat\", \"<T>/value\"]\n\
                   [secrets.fails]\ncommand = [\"sh\", \"-c\", \"cat <T>/value; echo 'not signed in' >&2; exit 6\"]\n\
                   [secrets.traced]\ncommand = [\"sh\", \"-c\", \"cat <T>/value; echo token=`cat <T>/value` >&2; exit 6\"]\n";

fn test() -> Test {
    Test::new().secrets(ALL).write("open", "S3CR3T").write("value", "S3CR3T\n")
}

#[test]
fn each_source_is_tried() {
    test()
        .args(["secret", "check"])
        .stdout(
            "value: ok (value)\n\
             plain: ok (value)\n\
             unset: error: the variable NOPE is not set or empty (env NOPE)\n\
             open: error: <T>/open: others can read or write it; chmod 600 <T>/open (file <T>/open)\n\
             op: ok (command cat <T>/value)\n\
             fails: error: sh ended with exit code 6 (command sh -c cat <T>/value; echo 'not signed in' >&2; exit 6)\n  it said: not signed in\n\
             traced: error: sh ended with exit code 6 (command sh -c cat <T>/value; echo token=`cat <T>/value` >&2; exit 6)\n",
        )
        .unchanged()
        .code(1);
    test()
        .args(["secret", "check", "op", "plain", "op"])
        .stdout("op: ok (command cat <T>/value)\nplain: ok (value)\n")
        .unchanged()
        .success();
    test()
        .args(["secret", "check", "plian"])
        .stderr("squire: there is no secret \"plian\"; did you mean `plain`?\n")
        .unchanged()
        .code(2);
    Test::new()
        .args(["secret", "check"])
        .stdout(format!("no secret is declared in {FILE}\n"))
        .unchanged()
        .success();
}

#[test]
fn json_of_both() {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let run = test().args(["secret", "check", "--json", "value", "fails"]).any_stdout().unchanged().code(1);
    assert_eq!(
        parse(&run.stdout),
        json!({
            "secrets": [
                { "name": "value", "source": "value", "ok": true, "reason": null, "said": null },
                { "name": "fails", "source": "command", "ok": false, "reason": "sh ended with exit code 6", "said": "not signed in" },
            ],
            "failures": 1,
        })
    );
    let run = Test::new()
        .config("[servers.a]\ncommand = \"a\"\nenv = { T = \"${secret:k}\" }\n")
        .secrets("[secrets.k]\ncommand = [\"op\", \"x\"]\ninherit_env = [\"OP\"]\nservers = [\"a\"]\n")
        .args(["secret", "list", "--json"])
        .any_stdout()
        .unchanged()
        .success();
    assert_eq!(
        parse(&run.stdout),
        json!({ "secrets": [{
            "name": "k", "source": "command", "detail": "op x", "variables": ["OP"], "servers": ["a"],
            "used_by": ["a"], "origin": format!("{FILE}:1"),
        }] })
    );
}

#[test]
fn show_names_secrets_with_their_sources() {
    let config = "[servers.a]\ncommand = \"a\"\nenv = { T = \"${secret:k}\", U = \"${secret:no}\" }\n";
    let show = |secrets: &str| {
        let test = Test::new().config(config).secrets(secrets).args(["show", "a"]);
        let shown = test.clone().any_stdout().unchanged().success().stdout;
        let line = shown.lines().find(|line| line.starts_with("  secrets ")).unwrap().to_owned();
        let json = test.args(["--json"]).any_stdout().success().stdout;
        (line, serde_json::from_str::<Value>(&json).unwrap())
    };
    let (line, shown) = show("[secrets.k]\nenv = \"FROM\"\n");
    assert_eq!(line, "  secrets    k (env FROM), no (not in secrets.toml)");
    assert_eq!(shown["secrets"], json!(["k", "no"]));
    assert_eq!(
        shown["secret_sources"],
        json!([
            { "name": "k", "source": "env", "told": "env FROM" },
            { "name": "no", "source": null, "told": "not in secrets.toml" },
        ])
    );
    assert_eq!(shown["environment"]["read"], json!([]), "the source's variable is not the server's");
    assert_eq!(show("[").0, "  secrets    k (secrets.toml can't be read), no (secrets.toml can't be read)");
    let listed = Test::new().config(config).args(["list", "--json"]).any_stdout().success().stdout;
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap()["servers"][1]["secrets"], json!(["k", "no"]));
}

#[test]
fn check_tells_what_is_wrong_with_secrets() {
    let config = "[servers.a]\ncommand = \"a\"\nargs = [\"--t=${secret:k}\"]\n\
                  [servers.r]\nurl = \"https://h/\"\nheaders = { X = \"${secret:gone}\" }\n\
                  [servers.s]\nurl = \"https://h/\"\nauth = { type = \"bearer\", secret = \"k\" }\n";
    let secrets = "[secrets.k]\nvalue = \"S3CR3T\"\nservers = [\"a\", \"zz\"]\n";
    let agents = "(claude, codex, cursor, opencode, inspect)";
    Test::new()
        .config(config)
        .secrets(secrets)
        .script("bin/a", "")
        .args(["check"])
        .stdout(format!(
            "{FILE}:3:17: warning: the secret k is bound to \"zz\", which is no server of yours [unused]\n  help: correct the name, or take it out\n\
             {USER}:3:1: warning: a: an argument holds ${{secret:k}}: every user of this machine can read the arguments of a program [secret-in-argv]\n  \
             help: let the program read it from a variable: env = {{ NAME = \"${{secret:…}}\" }}\n\
             {USER}:6:1: error: r: headers.X needs ${{secret:gone}}, which {FILE} does not have [unknown-secret] {agents}\n  help: squire secret set gone\n\
             {USER}:9:1: error: s: auth needs the secret `k`, which is bound to a, zz [unusable-secret] {agents}\n  help: add \"s\" to `servers` of k in secrets.toml\n\
             2 errors, 2 warnings\n"
        ))
        .unchanged()
        .code(1);
    let open = Test::new().secrets("").mode(super::RELATIVE, 0o666).args(["check"]);
    open.stdout(format!("{FILE}: error: others can read or write it; chmod 600 {FILE} [refused]\n1 error\n"))
        .unchanged()
        .code(1);
    let broken = Test::new().secrets("x = 1\n").args(["check"]);
    broken.stdout(format!("{FILE}:1:1: error: unknown key `x` in this file [invalid]\n  help: known keys: secrets\n1 error\n")).unchanged().code(1);
}
