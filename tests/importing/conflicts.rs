//! What is there already, and what stands in the way.

use super::{CLAUDE, DOCS, FILE, ONE, claude, looked_at, written};
use crate::support::Test;

/// A file as its user keeps it.
const THERE: &str = "# mine\n[servers.docs]   # the old one\nurl = 'https://old.example.com/mcp'\nresult_limit = \"1MiB\"\n\n# of work\n[profiles.work]\nservers = [\"docs\"]\n";

#[test]
fn b26_another_definition_is_a_conflict_and_nothing_is_written() {
    let two = ONE.replace("\"docs\":", "\"new\": { \"command\": \"new\" },\n  \"docs\":");
    let conflict = format!(
        "{}squire: new (<T>/{CLAUDE}:2): new\n\
         squire: docs (<T>/{CLAUDE}:3): conflict: another one is in <T>/{FILE} already: --replace gives it this definition, --server NAME takes others alone\n\
         squire: nothing was written\n",
        looked_at("not there")
    );
    claude(&two).config(THERE).stderr(conflict).unchanged().code(1);
    let run = claude(&two).config(THERE).args(["--server", "new"]).any_stderr().success();
    let new = "\n[servers.new]\ncommand = \"new\"\ntrust = \"community\"\n";
    assert_eq!(written(&run, FILE), Some(THERE.replace("\n\n# of work", &format!("\n{new}\n# of work"))));
    let run = claude(ONE).config(THERE).args(["--replace"]).any_stderr().success();
    let replaced = "url = \"https://docs.example.com/mcp\"\nresult_limit = \"1MiB\"\ntrust = \"community\"\n";
    let expected = THERE.replace("url = 'https://old.example.com/mcp'\nresult_limit = \"1MiB\"\n", replaced);
    assert_eq!(written(&run, FILE), Some(expected));
}

#[test]
fn the_same_definition_is_left_as_it_is() {
    let there = "[servers]\ndocs = { transport = 'http', url = 'https://docs.example.com/mcp' } # believed\n";
    // A word for the default is another definition to an approval, but not here.
    let same = "[servers]\ndocs = { url = 'https://docs.example.com/mcp' } # believed\n";
    claude(ONE).config(there).any_stderr().unchanged().code(1);
    claude(ONE)
        .config(same)
        .stderr(format!(
            "{}squire: docs (<T>/{CLAUDE}:2): is there already, the same\n\
             squire: the agents still have their own; this takes them out there:\n  claude mcp remove -s user docs\n",
            looked_at("not there")
        ))
        .unchanged()
        .success();
}

#[test]
fn a_drop_in_of_the_name_is_a_conflict() {
    let test = claude(ONE).write("home/.config/squire/servers.d/docs.toml", "url = \"https://d\"\n");
    let run = test.args(["--replace"]).any_stderr().unchanged().code(1);
    let told =
        "conflict: it is declared in <T>/home/.config/squire/servers.d/docs.toml, which squire only reads";
    assert!(run.stderr.contains(told), "{}", run.stderr);
}

#[test]
fn the_same_of_two_agents_is_imported_once() {
    let codex = "[mcp_servers.docs]\nurl = \"https://docs.example.com/mcp\"\n";
    let test = claude(ONE).write("home/.codex/config.toml", codex).args(["codex"]);
    let run = test.clone().any_stderr().success();
    assert_eq!(written(&run, FILE).as_deref(), Some(DOCS));
    let told = format!("docs (<T>/{CLAUDE}:2): new; the same in <T>/home/.codex/config.toml:1\n");
    assert!(run.stderr.contains(&told), "{}", run.stderr);
    assert!(
        run.stderr.ends_with("  claude mcp remove -s user docs\n  codex mcp remove docs\n"),
        "{}",
        run.stderr
    );
    let test = claude(ONE).write("home/.codex/config.toml", codex.replace("docs.", "other.")).args(["codex"]);
    let run = test.any_stderr().unchanged().code(1);
    assert!(run.stderr.contains("conflict: another file has it, too, and not the same"), "{}", run.stderr);
}

/// B06 B07: names that some agent would not take, or take for one, become others, the same every time, and are said.
#[test]
fn b06_b07_names_are_mapped_openly_and_the_same_every_time() {
    let text = "{ \"mcpServers\": { \"my-db\": { \"command\": \"1\" }, \"My.DB\": { \"command\": \"2\" }, \"my db\": { \"command\": \"3\" }, \"my_db\": { \"command\": \"4\" } } }";
    let names = |run: &crate::support::Run| {
        let text = written(run, FILE).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("[servers."));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let run = claude(text).any_stderr().success();
    let first = names(&run);
    assert_eq!(first.len(), 4, "{first:?}");
    assert_eq!(first[0], "[servers.my-db]");
    for foreign in ["My.DB", "my db", "my_db"] {
        assert!(run.stderr.contains(&format!(", there \"{foreign}\" (")), "{}", run.stderr);
    }
    for _ in 0..3 {
        assert_eq!(names(&claude(text).any_stderr().success()), first);
    }
    let there = "[servers.MY_db]\ncommand = \"mine\"\n";
    let run = Test::new()
        .config(there)
        .write(CLAUDE, "{ \"mcpServers\": { \"my-db\": { \"command\": \"1\" } } }")
        .args(["import", "claude"])
        .any_stderr()
        .success();
    assert!(written(&run, FILE).unwrap().contains("[servers.my-db-"), "{:?}", written(&run, FILE));
}

#[test]
fn the_local_layer_is_one_projects() {
    let run = claude(ONE).args(["--layer", "local"]).any_stderr().success();
    assert_eq!(written(&run, FILE), None);
    let local = run.files_below("home/.config/squire/projects");
    assert_eq!(written(&run, &format!("home/.config/squire/projects/{}", local[0])).as_deref(), Some(DOCS));
}
