//! `squire launch inspect`: the built-in agent connects to every server and prints its tools.

use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Run, Test, eventually, fake_server};

const BUILTIN: &str = "squire (stdio): 2 tools in <n> ms\n  \
    list_servers    Lists the MCP servers that this session was given, how far each has come, and those that were left out with the reason.\n  \
    explain_server  Explains one MCP server of this session: how far it has come, why no further, and what the user can do.\n";
const TOOLS: &str = "  echo         Says the text again.\n  add          Adds two numbers.\n  environment  Reads a variable of the environment.\n";

/// The fake server over HTTP, until the test ends.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) url: String,
    directory: tempfile::TempDir,
}

impl HttpServer {
    pub(crate) fn start(mode: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let port_file = directory.path().join("port");
        let child = Command::new(fake_server())
            .args(["http", "--mode", mode, "--port-file"])
            .arg(&port_file)
            .arg("--log")
            .arg(directory.path().join("log"))
            .spawn()
            .unwrap();
        let began = Instant::now();
        let port = loop {
            match fs::read_to_string(&port_file) {
                Ok(port) => break port,
                Err(_) => {
                    assert!(began.elapsed() < Duration::from_secs(20), "the fake server does not start");
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        Self { child, url: format!("http://127.0.0.1:{port}/mcp"), directory }
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn nothing_is_left(run: &Run) {
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
    assert_eq!(run.files_below("project"), Vec::<String>::new());
}

#[test]
fn with_nothing_configured_the_built_in_server_answers() {
    let run = Test::new()
        .args(["launch", "inspect"])
        .stdout(BUILTIN)
        .stderr(
            "squire: inspect gets 1 of 1: squire\n\
             squire: no server of yours is declared: write [servers.NAME] into <T>/home/.config/squire/squire.toml\n",
        )
        .success();
    nothing_is_left(&run);
}

#[test]
fn stdio_and_http_servers_show_their_tools() {
    let http = HttpServer::start("ok");
    let run = Test::new()
        .config(&format!(
            "[servers.program]\ncommand = [\"<server>\", \"stdio\"]\n[servers.remote]\nurl = \"{}\"\nheaders = {{ X-Marker = \"é $HOME\" }}\n",
            http.url
        ))
        .args(["launch", "inspect"])
        .stdout(format!(
            "{BUILTIN}program (stdio): 3 tools in <n> ms\n{TOOLS}remote (http): 3 tools in <n> ms\n{TOOLS}"
        ))
        .stderr("squire: inspect gets 3 of 3: squire, program, remote\n")
        .success();
    nothing_is_left(&run);
    assert!(http.log().to_lowercase().contains("x-marker"), "{}", http.log());
}

/// One with a secret and a filter goes through the gateway: the secret is in no file, and the filter holds.
#[test]
fn b91_a_remote_server_behind_the_gateway() {
    let http = HttpServer::start("ok");
    let run = Test::new()
        .config(&format!(
            "[servers.remote]\nurl = \"{}\"\nauth = {{ type = \"header\", header = \"X-Marker\", secret = \"k\" }}\ntools = {{ deny = [\"e*\"] }}\n",
            http.url
        ))
        .secrets("[secrets]\nk = \"S3CR3T\"\n")
        .args(["launch", "inspect", "--server", "remote"])
        .stdout("remote (stdio): 1 tool in <n> ms\n  add  Adds two numbers.\n")
        .stderr("squire: inspect gets 1 of 1: remote\n")
        .success();
    nothing_is_left(&run);
    assert!(http.log().contains("S3CR3T"), "{}", http.log());
}

#[test]
fn a_failing_server_is_named_and_the_others_are_shown() {
    let run = Test::new()
        .config(
            "[servers.dies]\ncommand = [\"<server>\", \"stdio\", \"--mode\", \"die\"]\n\
             [servers.works]\ncommand = [\"<server>\", \"stdio\"]\n",
        )
        .args(["launch", "inspect"])
        .any_stdout()
        .stderr("squire: inspect gets 3 of 3: squire, dies, works\n")
        .code(1);
    assert!(run.stdout.starts_with(BUILTIN), "{}", run.stdout);
    assert!(
        run.stdout.contains(
            "dies (stdio): failed: it ended with status 3: fake-server: dying at once, as asked; \
             it is started again in 1 s\n"
        ),
        "{}",
        run.stdout
    );
    assert!(run.stdout.ends_with(&format!("works (stdio): 3 tools in <n> ms\n{TOOLS}")), "{}", run.stdout);
    nothing_is_left(&run);
}

/// A gateway whose server can't be started answers in its place; inspect shows the reason, and CI must see a failure.
#[test]
fn a_server_that_cannot_be_started_is_a_failure() {
    let run = Test::new()
        .config("[servers.gone]\ncommand = \"no-such-program\"\n")
        .args(["launch", "inspect", "--quiet"])
        .any_stdout()
        .any_stderr()
        .code(1);
    assert!(run.stdout.contains("no-such-program was not found on PATH"), "{}", run.stdout);
    nothing_is_left(&run);
}

#[test]
fn json_for_scripts() {
    let http = HttpServer::start("http-401");
    let run = Test::new()
        .config(&format!(
            "[servers.program]\ncommand = [\"<server>\", \"stdio\", \"--tools\", \"a,b\"]\n[servers.remote]\nurl = \"{}\"\n",
            http.url
        ))
        .args(["launch", "inspect", "--quiet", "--server", "program", "--server", "remote", "--", "--json"])
        .any_stdout()
        .code(1);
    let shown: Value = serde_json::from_str(&run.stdout.replace("<n>", "0")).unwrap();
    let servers = shown["servers"].as_array().unwrap();
    assert_eq!(servers.len(), 2);
    assert_eq!((&servers[0]["name"], &servers[0]["ok"]), (&"program".into(), &true.into()));
    let tools: Vec<&str> =
        servers[0]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["a", "b"]);
    assert_eq!((&servers[1]["name"], &servers[1]["ok"]), (&"remote".into(), &false.into()));
    assert!(servers[1]["error"].as_str().unwrap().starts_with("needs authorisation (401)"));
    nothing_is_left(&run);
}

/// B57: one that hangs costs its own `startup_timeout` (and squire's grace of 5 s), and delays no other.
#[test]
fn b57_a_hanging_server_ends_within_its_startup_timeout() {
    let began = Instant::now();
    let run = Test::new()
        .config(
            "[servers.hangs]\ncommand = [\"<server>\", \"stdio\", \"--mode\", \"hang\"]\nstartup_timeout = \"100ms\"\n\
             [servers.works]\ncommand = [\"<server>\", \"stdio\"]\n",
        )
        .args(["launch", "inspect", "--quiet"])
        .any_stdout()
        .code(1);
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    assert!(
        run.stdout.contains(
            "hangs (stdio): failed: it did not answer within 0.1 s; startup_timeout gives it longer"
        ),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("works (stdio): 3 tools"), "{}", run.stdout);
    nothing_is_left(&run);
}

#[test]
fn quiet_says_nothing_on_stderr() {
    let run = Test::new().args(["launch", "inspect", "--quiet"]).stdout(BUILTIN).success();
    nothing_is_left(&run);
}

/// What is left out is no server of the session, and no failure.
#[test]
fn what_is_left_out_is_in_the_summary() {
    let run = Test::new()
        .config("[servers.wiki]\nurl = \"https://example.com/mcp\"\n[policy]\ndeny_servers = [\"wiki\"]\n[servers.off]\ncommand = \"x\"\ndisabled = true\n")
        .args(["launch", "inspect"])
        .stdout(BUILTIN)
        .stderr(
            "squire: inspect gets 1 of 2: squire; left out: wiki (denied by the policy in <T>/home/.config/squire/squire.toml:4)\n",
        )
        .success();
    nothing_is_left(&run);
}

/// A terminal's Ctrl-C does not reach the servers, which are in groups of their own; inspect ends them.
#[test]
fn b40_an_interrupted_inspection_leaves_no_server() {
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM, rustix::process::Signal::HUP]
    {
        let test = Test::new()
            .config("[servers.hangs]\ncommand = [\"/bin/sh\", \"-c\", \"echo $$ > <T>/pid; sleep 300 & exec sleep 300\"]\n")
            .args(["launch", "inspect", "--quiet"])
            .any_stderr();
        let running = test.start();
        let file = running.path("pid");
        eventually("the server runs", || std::fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')));
        let group: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        running.send(signal);
        let run = running.signal(signal.as_raw());
        let group = rustix::process::Pid::from_raw(group).unwrap();
        eventually("the group is gone", || rustix::process::test_kill_process_group(group).is_err());
        nothing_is_left(&run);
    }
}
