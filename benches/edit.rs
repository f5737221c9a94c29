//! What an edit costs and what survives it, beside two npm packages that edit the agents' own files: `cargo bench --bench
//! edit`, with `-- ROUNDS` behind it for another number of rounds. `SQUIRE_EDIT_RIVALS` names the directory of
//! `npm install --prefix DIR add-mcp @intellectronica/ruler`; without it squire runs alone.
//!
//! Every command runs once a round, on the same bytes each time. The survival table is made of one edit by each tool of
//! files with the same words: squire's own `squire.toml` and, as a launch edits and restores it, Cursor's file of a project.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark writes its files, prints its table and fails by a panic"
)]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const SQUIRE: &str = env!("CARGO_BIN_EXE_squire");
/// Tells this program to be an agent that copies its file of servers there and ends.
const HELLO: &str = "SQUIRE_BENCHMARK_HELLO";
const ROUNDS: usize = 50;
const SECRET: &str = "ghp_S3CR3T16C7e42F292c69";

const JSON: &str = "{\n  // mine\n  \"mcpServers\": {\n    \"old\": { \"command\": \"x\", }, // of old\n  },\n  \"x-team\": { \"z\": 1.0, \"a\": 2 },\n}\n";
const BROKEN: &str = "{ \"mcpServers\": {\n";

fn toml(section: &str) -> String {
    format!("# mine\n[{section}.old]\ncommand = 'x' # of old\n\n[x-team]\nz = 1.0\na = 2\n")
}

fn main() {
    if let Some(seen) = std::env::var_os(HELLO) {
        // What the launch gave the agent.
        let _ = fs::copy(".cursor/mcp.json", seen);
        return;
    }
    let rounds = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS).max(1);
    let rivals = std::env::var_os("SQUIRE_EDIT_RIVALS")
        .map(|directory| PathBuf::from(directory).join("node_modules/.bin"));
    let mut tools = vec![Tool::Squire];
    match &rivals {
        Some(bin) => tools.extend([Tool::AddMcp(bin.join("add-mcp")), Tool::Ruler(bin.join("ruler"))]),
        None => println!(
            "add-mcp and ruler are not compared: SQUIRE_EDIT_RIVALS names no directory that has them"
        ),
    }
    time(&tools, rounds);
    println!("\nwhat is left of a file with the same words after one edit\n");
    println!("{:8}  {:28}  {:38}  {:16}  half of an edit", "tool", "TOML", "JSON with comments", "secret");
    for tool in &tools {
        println!("{:8}  {}", tool.name(), tool.survival());
    }
}

enum Tool {
    Squire,
    AddMcp(PathBuf),
    Ruler(PathBuf),
}

/// A home and a project with the files that a tool edits.
struct Place {
    directory: tempfile::TempDir,
    toml: PathBuf,
    json: PathBuf,
    section: &'static str,
}

impl Tool {
    fn name(&self) -> &'static str {
        match self {
            Self::Squire => "squire",
            Self::AddMcp(_) => "add-mcp",
            Self::Ruler(_) => "ruler",
        }
    }

    fn place(&self) -> Place {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let (toml, json, section) = match self {
            Self::Squire => ("home/.config/squire/squire.toml", "project/.cursor/mcp.json", "servers"),
            Self::AddMcp(_) => ("home/.codex/config.toml", "home/.cursor/mcp.json", "mcp_servers"),
            Self::Ruler(_) => ("project/.codex/config.toml", "project/.cursor/mcp.json", "mcp_servers"),
        };
        for made in ["home", "project/.git", "project/.ruler", "bin"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        symlink(std::env::current_exe().unwrap(), root.join("bin/cursor-agent")).unwrap();
        fs::write(root.join("project/.ruler/AGENTS.md"), "# rules\n").unwrap();
        let wiki = format!(
            "[mcp_servers.wiki]\ncommand = \"npx\"\nargs = [\"-y\", \"wiki-mcp\"]\nenv = {{ TOKEN = \"{SECRET}\" }}\n"
        );
        fs::write(root.join("project/.ruler/ruler.toml"), wiki).unwrap();
        let place = Place { toml: root.join(toml), json: root.join(json), section, directory };
        place.reset(JSON);
        place
    }

    /// The words that add a server.
    fn add(&self) -> Vec<String> {
        let env = format!("TOKEN={SECRET}");
        let words: &[&str] = match self {
            Self::Squire => &["add", "wiki", "--env", &env, "--", "npx", "-y", "wiki-mcp"],
            Self::AddMcp(_) => {
                &["npx -y wiki-mcp", "-n", "wiki", "-g", "-a", "codex", "-a", "cursor", "-y", "--env", &env]
            }
            Self::Ruler(_) => &["apply", "--agents", "codex,cursor"],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn run(&self, place: &Place, words: &[String]) -> bool {
        let root = place.directory.path().canonicalize().unwrap();
        let program = match self {
            Self::Squire => Path::new(SQUIRE),
            Self::AddMcp(program) | Self::Ruler(program) => program,
        };
        let mut path = root.join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin")));
        let mut command = Command::new(program);
        command
            .args(words)
            .env_clear()
            .env("HOME", root.join("home"))
            .env("PATH", path)
            .env(HELLO, root.join("seen.json"));
        command
            .current_dir(root.join("project"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().unwrap().success()
    }

    fn survival(&self) -> String {
        let place = self.place();
        self.run(&place, &self.add());
        let in_toml = kept(&toml(place.section), &read(&place.toml), &["# mine", "# of old"]);
        let is_clear = [&place.toml, &place.json].iter().any(|file| read(file).contains(SECRET));
        if let Self::Squire = self {
            fs::write(&place.toml, "[servers.mine]\ncommand = \"/bin/true\"\n").unwrap();
            assert!(
                self.run(&place, &["launch", "cursor", "--quiet"].map(String::from)),
                "the launch failed"
            );
            let seen = place.directory.path().join("seen.json");
            assert!(read(&seen).contains("\"mine\""), "the launch edited nothing: {}", read(&seen));
        }
        let in_json = kept(JSON, &read(&place.json), &["// mine", "// of old"]);
        let secret = if is_clear { "in clear" } else { "not in the file" };
        // One of the two files that an edit is about can't be read.
        place.reset(BROKEN);
        if let Self::Squire = self {
            fs::write(&place.toml, BROKEN).unwrap();
        }
        let before = [&place.toml, &place.json].map(|file| read(file));
        let is_done = self.run(&place, &self.add());
        let changed = [&place.toml, &place.json]
            .iter()
            .zip(&before)
            .filter(|(file, before)| read(file) != **before)
            .count();
        let half = match (changed, is_done) {
            (0, false) => "nothing changed, and said so",
            (0, true) => "nothing changed, and said done",
            (1, false) => "one file changed, and failed",
            (1, true) => "one file changed, and said done",
            (_, _) => "the file that can't be read was written anew",
        };
        format!("{in_toml:28}  {in_json:38}  {secret:16}  {half}")
    }
}

impl Place {
    fn reset(&self, json: &str) {
        for (file, text) in [(&self.toml, toml(self.section)), (&self.json, json.to_owned())] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// How many comments are left, and whether every byte is that was there.
fn kept(before: &str, after: &str, comments: &[&str]) -> String {
    if before == after {
        return "every byte: put back, or never edited".into();
    }
    let same = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count();
    let behind =
        before.bytes().rev().zip(after.bytes().rev()).take_while(|(one, other)| one == other).count();
    let bytes = if same + behind >= before.len() { "every byte" } else { "other bytes" };
    let left = comments.iter().filter(|comment| after.contains(*comment)).count();
    format!("{left} of {} comments, {bytes}", comments.len())
}

/// A command and what each of its runs took, in milliseconds.
struct Measured<'a> {
    name: String,
    tool: &'a Tool,
    place: Place,
    words: Vec<String>,
    times: Vec<f64>,
}

impl<'a> Measured<'a> {
    fn new(tool: &'a Tool, what: &str, words: Vec<String>) -> Self {
        let name = format!("{} {what}", tool.name());
        Self { name, tool, place: tool.place(), words, times: Vec::new() }
    }
}

fn time(tools: &[Tool], rounds: usize) {
    let mut all: Vec<Measured<'_>> = Vec::new();
    for tool in tools {
        all.push(Measured::new(tool, "add", tool.add()));
        let list: &[&str] = match tool {
            Tool::Squire => &["list"],
            Tool::AddMcp(_) => &["list", "-g", "-a", "codex"],
            // It lists nothing.
            Tool::Ruler(_) => continue,
        };
        all.push(Measured::new(tool, "list", list.iter().map(|word| (*word).to_owned()).collect()));
    }
    // The first round warms what lies on disk and counts for nothing.
    for round in 0..=rounds {
        for Measured { name, tool, place, words, times } in &mut all {
            place.reset("{}\n");
            // squire's own list holds no key that it does not know.
            fs::write(&place.toml, toml(place.section).split("\n[x-team]").next().unwrap()).unwrap();
            let start = Instant::now();
            assert!(tool.run(place, words), "{name} failed");
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1000.0);
            }
        }
    }
    println!("milliseconds, {rounds} rounds     min  median");
    for Measured { name, times, .. } in &mut all {
        times.sort_unstable_by(f64::total_cmp);
        println!("{name:22}  {:6.1}  {:6.1}", times[0], times[times.len() / 2]);
    }
}
