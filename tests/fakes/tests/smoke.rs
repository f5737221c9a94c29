//! Runs both programs as squire's tests do.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

const SERVER: &str = env!("CARGO_BIN_EXE_fake-server");

/// An empty directory of that test alone.
fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

/// A child that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Sends one message and reads one line.
    fn ask(&mut self, message: &Value) -> Value {
        writeln!(self.0.stdin.as_mut().unwrap(), "{message}").unwrap();
        serde_json::from_str(&self.line()).unwrap()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        // One byte at a time: what follows the line is for the next reader.
        let mut stdout = BufReader::with_capacity(1, self.0.stdout.as_mut().unwrap());
        stdout.read_line(&mut line).unwrap();
        line
    }
}

fn eventually<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if let Some(value) = attempt() {
            return value;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("it did not happen");
}

fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn agent(directory: &Path, script: &str) -> Command {
    let program = directory.join("claude");
    symlink(env!("CARGO_BIN_EXE_fake-agent"), &program).unwrap();
    let mut command = Command::new(program);
    command.current_dir(directory).env("FAKE_AGENT", script).env("FAKE_AGENT_LOG", directory.join("log"));
    command
}

#[test]
fn the_agent_logs_its_start_and_follows_the_script() {
    let directory = directory("agent-start");
    fs::write(directory.join("given"), "content").unwrap();
    fs::set_permissions(directory.join("given"), fs::Permissions::from_mode(0o600)).unwrap();
    let script = "stdin; write a x1x; replace a x y; rename-save b two\\nlines; touch c; remove c; wait-file b; \
                  print done; exit 7";
    let mut agent = Running::start(agent(&directory, script).args(["--config=given", "-p"]));
    agent.0.stdin.take().unwrap().write_all(b"typed").unwrap();
    assert_eq!(agent.line(), "done");
    assert_eq!(agent.0.wait().unwrap().code(), Some(7));

    let log = read_json(&directory.join("log")).unwrap();
    assert_eq!(log["name"], "claude");
    assert_eq!(log["argv"], json!(["--config=given", "-p"]));
    assert_eq!(log["pid"], agent.0.id());
    assert_eq!(log["env"]["FAKE_AGENT"], script);
    assert_eq!(log["stdin"], "typed");
    assert_eq!(log["files"].as_array().unwrap().len(), 1);
    let file = &log["files"][0];
    assert_eq!(
        (&file["path"], &file["mode"], &file["content"]),
        (&json!("given"), &json!("0600"), &json!("content"))
    );
    assert_eq!(fs::read_to_string(directory.join("a")).unwrap(), "y1y");
    assert_eq!(fs::read_to_string(directory.join("b")).unwrap(), "two\nlines");
    assert!(!directory.join("c").exists());
}

#[test]
fn the_agent_counts_signals_and_dies_of_one() {
    let directory = directory("agent-signals");
    let mut agent = Running::start(&mut agent(&directory, "trap 2; signal TERM"));
    let signals = || read_json(&directory.join("log"))?.get("signals").cloned();
    eventually(|| signals().filter(|signals| *signals == json!([])));
    agent.signal(Signal::INT);
    eventually(|| signals().filter(|signals| *signals == json!(["INT"])));
    agent.signal(Signal::TERM);
    assert_eq!(agent.0.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    assert_eq!(signals(), Some(json!(["INT", "TERM"])));
}

#[test]
fn every_death_is_by_its_signal_and_without_a_core() {
    for signal in [Signal::SEGV, Signal::KILL, Signal::INT, Signal::HUP, Signal::ABORT, Signal::PIPE] {
        let name = signal_hook::low_level::signal_name(signal.as_raw()).unwrap();
        let script = format!("signal {name}");
        let status = agent(&directory(&format!("agent-{name}")), &script).status().unwrap();
        assert_eq!((status.signal(), status.core_dumped()), (Some(signal.as_raw()), false));
    }
}

#[test]
fn a_wrong_script_exits_with_99() {
    let output = agent(&directory("agent-wrong"), "dance").output().unwrap();
    assert_eq!(output.status.code(), Some(99));
    assert_eq!(output.stderr, b"fake-agent: not a step: dance\n");
}

#[test]
fn the_stdio_server_answers_until_stdin_ends() {
    let log = directory("stdio").join("log");
    let mut server =
        Running::start(Command::new(SERVER).args(["stdio", "--mode", "garbage", "--log"]).arg(&log));
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let garbage: Vec<_> = (0..4).map(|_| server.line()).collect();
    assert_eq!(garbage[2..], ["\n", "[1,2]\n"]);
    assert_eq!(server.ask(&ping)["result"], json!({}));
    drop(server.0.stdin.take());
    assert_eq!(server.0.wait().unwrap().code(), Some(0));

    let log = fs::read_to_string(log).unwrap();
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["event"], &events[0]["kind"]), (&json!("start"), &json!("stdio")));
    assert_eq!(events[1], json!({ "event": "receive", "message": ping }));
    assert_eq!(events[2], json!({ "event": "stdin-closed" }));
}

#[test]
fn a_deaf_server_outlives_stdin_and_terminate() {
    let log = directory("deaf").join("log");
    let mut server =
        Running::start(Command::new(SERVER).args(["stdio", "--mode", "deaf", "--log"]).arg(&log));
    drop(server.0.stdin.take());
    eventually(|| fs::read_to_string(&log).ok().filter(|log| log.contains("stdin-closed")));
    server.signal(Signal::TERM);
    thread::sleep(Duration::from_millis(100));
    assert!(server.0.try_wait().unwrap().is_none());
}

#[test]
fn a_grandchild_is_left_behind() {
    let pid_file = directory("grandchild").join("pid");
    let mode = format!("grandchild:{}", pid_file.display());
    let mut server = Running::start(Command::new(SERVER).args(["stdio", "--mode", &mode]));
    server.ask(&json!({ "id": 1, "method": "ping" }));
    drop(server.0.stdin.take());
    assert!(server.0.wait().unwrap().success());
    let grandchild = Pid::from_raw(fs::read_to_string(pid_file).unwrap().parse().unwrap()).unwrap();
    kill_process(grandchild, Signal::TERM).unwrap();
    thread::sleep(Duration::from_millis(100));
    assert!(test_kill_process(grandchild).is_ok());
    kill_process(grandchild, Signal::KILL).unwrap();
}

#[test]
fn a_server_dies_as_asked() {
    let status = Command::new(SERVER).args(["stdio", "--mode", "die"]).status().unwrap();
    assert_eq!(status.code(), Some(3));
    let mut server = Running::start(Command::new(SERVER).args(["stdio", "--mode", "die-after-initialize"]));
    assert_eq!(server.ask(&json!({ "id": 1, "method": "initialize" }))["id"], 1);
    assert_eq!(server.0.wait().unwrap().code(), Some(3));
}

struct Http {
    port: u16,
    server: Running,
}

impl Http {
    fn start(mode: &str) -> Self {
        Self::of_kind("http", mode)
    }

    fn of_kind(kind: &str, mode: &str) -> Self {
        let port_file = directory(&format!("{kind}-{mode}")).join("port");
        let server =
            Running::start(Command::new(SERVER).args([kind, "--mode", mode, "--port-file"]).arg(&port_file));
        let port = eventually(|| fs::read_to_string(&port_file).ok()).parse().unwrap();
        Self { port, server }
    }

    /// The whole response to one request on a connection of its own.
    fn request(&self, method: &str, headers: &str, body: &str) -> String {
        self.request_at("/mcp", method, headers, body)
    }

    fn request_at(&self, path: &str, method: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}");
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn the_http_server_keeps_sessions() {
    let server = Http::start("ok");
    let session = "Mcp-Session-Id: session-1\r\n";
    let status = |response: String| response.split(' ').nth(1).unwrap().to_owned();
    assert_eq!(status(server.request("POST", "", PING)), "404");
    assert!(server.request("POST", "", INITIALIZE).contains(session));
    assert_eq!(status(server.request("POST", session, INITIALIZED)), "202");
    let pong = server.request("POST", session, PING);
    assert!(pong.ends_with("\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"), "{pong}");
    assert_eq!(status(server.request("GET", session, "")), "405");
    assert_eq!(status(server.request("DELETE", session, "")), "200");
    assert_eq!(status(server.request("POST", session, PING)), "404");
}

#[test]
fn the_http_server_has_other_replies() {
    let reply = Http::start("sse-reply").request("POST", "", INITIALIZE);
    assert!(reply.contains("text/event-stream") && reply.contains("event: message\ndata: {"), "{reply}");
    let reply = Http::start("http-401").request("POST", "", INITIALIZE);
    assert!(reply.contains("\r\nWWW-Authenticate: Bearer resource_metadata="), "{reply}");
    let reply = Http::start("html").request("POST", "", INITIALIZE);
    assert!(reply.contains("\r\nContent-Type: text/html\r\n"), "{reply}");
}

/// The stream of an SSE server, after the names of its events.
fn events(port: u16) -> impl FnMut() -> (String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET /sse HTTP/1.1\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "HTTP/1.1 200 OK");
    move || {
        let mut after = |name: &str| lines.find_map(|line| line.strip_prefix(name).map(str::to_owned));
        (after("event: ").unwrap(), after("data: ").unwrap())
    }
}

#[test]
fn the_sse_server_answers_on_the_stream_of_the_session() {
    let mut server = Http::of_kind("sse", "die-after-initialize");
    let status = |server: &Http, method, path, body| {
        server.request_at(path, method, "", body).split(' ').nth(1).unwrap().to_owned()
    };
    // Nobody has opened a session yet.
    assert_eq!(status(&server, "POST", "/messages?session=1", PING), "404");
    assert_eq!(status(&server, "POST", "/sse", PING), "405");
    assert_eq!(status(&server, "GET", "/mcp", ""), "404");
    let (mut first, mut second) = (events(server.port), events(server.port));
    assert_eq!(first(), ("endpoint".into(), "/messages?session=1".into()));
    assert_eq!(second(), ("endpoint".into(), "/messages?session=2".into()));
    assert_eq!(status(&server, "POST", "/messages?session=2", PING), "202");
    assert_eq!(second(), ("message".into(), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#.into()));
    assert_eq!(status(&server, "POST", "/messages?session=1", INITIALIZED), "202");
    assert_eq!(status(&server, "POST", "/messages?session=1", INITIALIZE), "202");
    let (name, reply) = first();
    assert_eq!(
        (name.as_str(), &serde_json::from_str::<Value>(&reply).unwrap()["id"]),
        ("message", &json!(1))
    );
    assert_eq!(server.server.0.wait().unwrap().code(), Some(3));
}

#[test]
fn the_sse_server_forgets_who_hangs_up() {
    let server = Http::of_kind("sse", "ok");
    let mut opened = events(server.port);
    opened();
    drop(opened);
    eventually(|| server.request_at("/messages?session=1", "POST", "", PING).contains(" 404 ").then_some(()));
}
