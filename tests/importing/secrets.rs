//! Values in clear go into the user's store, and nowhere else; the builder of tests looks for them everywhere.

use std::os::unix::fs::PermissionsExt;

use super::{CLAUDE, FILE, SECRETS, claude, written};
use crate::support::Test;

const TOKEN: &str =
    "{ \"mcpServers\": { \"a\": { \"command\": \"a\", \"env\": { \"TOKEN\": \"S3CR3T-one\" } } } }";

/// B31: only the user can read the store, under any umask.
#[test]
fn b31_the_store_is_the_users_alone() {
    let run = claude(TOKEN).behind("umask 000").any_stderr().success();
    let mode = std::fs::metadata(run.path(SECRETS)).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    assert_eq!(
        written(&run, FILE).as_deref(),
        Some(
            "[servers.a]\ncommand = \"a\"\nenv = { TOKEN = \"${secret:a.TOKEN}\" }\ntrust = \"community\"\n"
        )
    );
}

/// A secret of the name that has another value, or is another server's alone, stays; this one gets another name.
#[test]
fn another_secret_of_the_name_stays() {
    for there in [
        "# mine\n[secrets.a.TOKEN]\nvalue = \"S3CR3T-other\"\n",
        "# mine\n[secrets.a.TOKEN]\nenv = \"TOKEN\"\n",
        "# mine\n[secrets.a.TOKEN]\nvalue = \"S3CR3T-one\"\nservers = [\"b\"]\n",
    ] {
        let run = claude(TOKEN).secrets(there).any_stderr().success();
        let new = "\n[secrets.a.TOKEN-2]\nvalue = \"S3CR3T-one\"\nservers = [\"a\"]\n";
        assert_eq!(written(&run, SECRETS), Some(format!("{there}{new}")));
        assert!(written(&run, FILE).unwrap().contains("${secret:a.TOKEN-2}"));
    }
    let same = "[secrets.a]\nTOKEN = \"S3CR3T-one\"\n";
    let run = claude(TOKEN).secrets(same).any_stderr().success();
    assert_eq!(written(&run, SECRETS).as_deref(), Some(same));
    // A secret holds no others: this one's name must not be below it.
    let above = "[secrets.a]\nvalue = \"S3CR3T-above\"\n";
    let run = claude(TOKEN).secrets(above).any_stderr().success();
    assert!(written(&run, FILE).unwrap().contains("${secret:a-TOKEN}"));
}

/// What has no value yet is listed as a command, once, and not where the store has it.
#[test]
fn b23_an_input_remains_to_be_set() {
    let text = "{ \"inputs\": [{ \"id\": \"key\", \"type\": \"promptString\", \"password\": true }],\n\
                \"servers\": { \"a\": { \"command\": \"a\", \"env\": { \"K\": \"${input:key}\" } }, \"b\": { \"command\": \"b\", \"env\": { \"K\": \"${input:key}\", \"L\": \"${input:lost}\" } } } }";
    let test = Test::new().write("project/.vscode/mcp.json", text).args(["import", ".vscode/mcp.json"]);
    let run = test.clone().any_stderr().success();
    let remains =
        "squire: what remains:\n  squire secret set key\n  squire secret set lost\n  squire approve a b\n";
    assert!(run.stderr.contains(remains), "{}", run.stderr);
    assert!(
        run.stderr.contains("b: env.L: the file has no input `lost`; it became a secret\n"),
        "{}",
        run.stderr
    );
    let test = Test::new()
        .secrets("[secrets]\nkey = \"S3CR3T\"\nlost = \"S3CR3T\"\n")
        .write("project/.vscode/mcp.json", text)
        .args(["import", ".vscode/mcp.json"]);
    let run = test.any_stderr().success();
    assert!(run.stderr.contains("squire: what remains:\n  squire approve a b\n"), "{}", run.stderr);
}

/// Where the store can't be written, no declaration is.
#[test]
fn secrets_come_first() {
    let test = claude(TOKEN).secrets("").mode(SECRETS, 0o644);
    let run = test.any_stderr().unchanged().code(1);
    assert!(run.stderr.contains("others can read or write it; chmod 600"), "{}", run.stderr);
}

/// A default that is a secret is one.
#[test]
fn b21_a_secret_default_is_taken_out() {
    let text = "{ \"mcpServers\": { \"a\": { \"command\": \"a\", \"env\": { \"X\": \"${X:-ghp_S3CR3T0default1}\", \"Y\": \"${Y:-plain}\" } } } }";
    let run = Test::new().write(CLAUDE, text).args(["import", "claude"]).any_stderr().success();
    assert_eq!(
        written(&run, FILE).as_deref(),
        Some(
            "[servers.a]\ncommand = \"a\"\nenv = { X = \"${secret:a.X}\", Y = \"${env:Y:-plain}\" }\ntrust = \"community\"\n"
        )
    );
}
