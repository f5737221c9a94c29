//! Edits of the list: the bytes that an edit is about change, and no others.

mod adding;
mod changing;
mod files;
mod json;
mod profiles;

const FILE: &str = "<T>/home/.config/squire/squire.toml";
/// The same below the test's directory.
const RELATIVE: &str = "home/.config/squire/squire.toml";
const PROJECT: &str = "project/squire.toml";

/// A file as its user keeps it.
const TEXT: &str = "#:schema ./squire.schema.json\n\n# of the forge\n[servers.github]   # mine\nurl = 'https://h/mcp' # main\n\n\
                    [servers.db]\ncommand = [\"db\"]\n\n# of work\n[profiles.work]\nservers = [\"github\", \"db\"]   # both\n";

use crate::support::{Run, Test};

fn squire(words: &[&str]) -> Test {
    Test::new().config(TEXT).args(words.iter().copied())
}

#[track_caller]
fn written(run: &Run) -> String {
    std::fs::read_to_string(run.path(RELATIVE)).unwrap()
}
