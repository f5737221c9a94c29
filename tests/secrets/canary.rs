//! A value is in the environment of the one server that needs it, and nowhere else: not in what any command says, not
//! in what an agent is given, not in another server, not in any file but its source (cases B31, B32, B70, B91).

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::gateway::{environment, gateway};
use crate::support::{Run, Test};

pub(super) const AGENTS: [(&str, &str); 5] = [
    ("claude", "claude"),
    ("codex", "codex"),
    ("cursor", "cursor-agent"),
    ("opencode", "opencode"),
    ("inspect", "unused"),
];

const CONFIG: &str = "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n\
                      env = { T = \"<${secret:s}>\" }\n\
                      [servers.other]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/other\"]\n\
                      [servers.fails]\ncommand = \"/nonexistent/${secret:s}\"\nargs = [\"${secret:s}\", \"${env:NOPE:-}\"]\n\
                      cwd = \"${secret:s}\"\nenv = { A = \"${secret:s}\" }\n";

/// Each source of the marker, and the one place that holds it.
const SOURCES: &[(&str, &[&str])] = &[
    ("[secrets]\ns = \"<M>\"\n", &["home/.config/squire/secrets.toml"]),
    ("[secrets.s]\nvalue = \"<M>\"\n", &["home/.config/squire/secrets.toml"]),
    ("[secrets.s]\nfile = \"<T>/token\"\n", &["token"]),
    ("[secrets.s]\ncommand = [\"cat\", \"<T>/token\"]\n", &["token"]),
    ("[secrets.s]\nenv = \"FROM\"\n", &[]),
];

/// A marker with what JSON, TOML, shells and addresses each write in another way.
fn marker() -> String {
    let random = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    format!("S3CR3T_{random:x}${{env:HOME}}%'é/+")
}

/// The marker as anybody could have written it: its random part, and the whole in base64, percent-encoded and as JSON.
fn forms(marker: &str) -> Vec<String> {
    let percent = marker.bytes().fold(String::new(), |mut text, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            other => write!(text, "%{other:02X}").unwrap(),
        }
        text
    });
    let json = serde_json::to_string(marker).unwrap().trim_matches('"').to_owned();
    let mut forms = vec![marker.to_owned(), percent, json, marker[..20].to_owned()];
    // Wherever it begins in a longer text, one of these is in its base64.
    forms.extend((0..3).map(|skip| base64(&marker.as_bytes()[skip..skip + 18])));
    forms
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let three = |three: &[u8]| {
        let bits = three.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[bits >> shift & 63]))
    };
    bytes.chunks_exact(3).flat_map(three).collect()
}

/// Every file below the test's directory that holds a form of the marker.
fn holders(root: &Path, forms: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let kind = entry.file_type().unwrap();
            let path = entry.path();
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                let bytes = fs::read(&path).unwrap();
                let holds = |form: &String| bytes.windows(form.len()).any(|window| window == form.as_bytes());
                if forms.iter().any(holds) {
                    found.push(path.strip_prefix(root).unwrap().display().to_string());
                }
            }
        }
    }
    found.sort();
    found
}

pub(super) struct Canary {
    pub(super) marker: String,
    secrets: &'static str,
    places: &'static [&'static str],
}

impl Canary {
    pub(super) fn test(&self) -> Test {
        let escaped = serde_json::to_string(&self.marker).unwrap();
        let test =
            Test::new().config(CONFIG).secrets(&self.secrets.replace("<M>", escaped.trim_matches('"')));
        let test = test.receiver("log");
        if self.places == ["token"] {
            return test.write("token", format!("{}\n", self.marker)).mode("token", 0o600);
        }
        if self.is_of_environment() { test.env("FROM", self.marker.clone()) } else { test }
    }

    pub(super) fn is_of_environment(&self) -> bool {
        self.places.is_empty()
    }

    /// Nothing was said, and no file holds it but these.
    #[track_caller]
    fn check(&self, run: &Run, more: &[&str]) {
        let forms = forms(&self.marker);
        for text in [&run.stdout, &run.stderr] {
            assert!(!forms.iter().any(|form| text.contains(form)), "{}: {text}", self.secrets);
        }
        let mut expected: Vec<&str> = self.places.iter().chain(more).copied().collect();
        expected.sort_unstable();
        assert_eq!(holders(&run.path(""), &forms), expected, "{}", self.secrets);
    }
}

pub(super) fn canaries() -> impl Iterator<Item = Canary> {
    SOURCES.iter().map(|(secrets, places)| Canary { marker: marker(), secrets, places })
}

#[test]
fn b91_the_value_is_in_the_one_server() {
    for canary in canaries() {
        let run = gateway(canary.test(), "a").success();
        assert_eq!(environment(&run)["T"], format!("<{}>", canary.marker));
        canary.check(&run, &["log"]);
        let run = gateway(canary.test(), "other").success();
        canary.check(&run, &[]);
        // Whatever fails on the way, the reason is read by a model and holds no value.
        let run = gateway(canary.test(), "fails").any_stderr().code(1);
        canary.check(&run, &[]);
    }
}

#[test]
fn b31_b32_b70_b91_no_launch_shows_it() {
    for canary in canaries() {
        for (agent, program) in AGENTS {
            let test = canary.test().agent(program, "").script("bin/x", "");
            let test = test.args(["launch", agent, "--server", "a", "--server", "other"]);
            let dry = test.clone().args(["--dry-run", "--json"]).any_stdout().any_stderr().success();
            canary.check(&dry, &[]);
            let run = test.any_stdout().any_stderr().success();
            // The built-in agent starts the servers, as every agent does.
            let of_server: &[&str] = if agent == "inspect" { &["log"] } else { &[] };
            if canary.is_of_environment() && agent != "inspect" {
                // The user's own variable is the agent's as well, and is in nothing else that it is given.
                let mut given = run.agent();
                assert_eq!(
                    given["env"].as_object_mut().unwrap().remove("FROM").unwrap(),
                    canary.marker.as_str()
                );
                fs::write(run.path("agent.json"), given.to_string()).unwrap();
            }
            canary.check(&run, of_server);
        }
    }
}

#[test]
fn no_command_shows_it() {
    for canary in canaries() {
        for words in [
            &["list"][..],
            &["list", "--json"],
            &["show", "a"],
            &["show", "fails", "--json"],
            &["check"],
            &["check", "--sarif"],
            &["describe", "claude"],
            &["describe", "codex", "--json"],
            &["doctor"],
            &["secret", "list"],
            &["secret", "list", "--json"],
            &["secret", "check"],
            &["secret", "check", "--json"],
            &["secret", "set", "s", "--env", "X"],
            &["secret", "set", "other", "--env", "X"],
        ] {
            let test = canary.test().args(words.iter().copied()).any_stdout().any_stderr();
            canary.check(&test.ends().0, &[]);
        }
    }
}
