//! Servers over streamable HTTP: the fake one, and one that nobody here wrote.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::programs::fake_server;

pub(crate) struct RemoteServer {
    process: Child,
    pub(crate) port: u16,
}

impl RemoteServer {
    /// Starts it in one of its modes and waits for its port.
    pub(crate) fn start(root: &Path, name: &str, mode: &str) -> Self {
        let file = root.join(format!("{name}-port"));
        let mut command = Command::new(fake_server());
        command.args(["http", "--mode", mode, "--port-file"]).arg(&file);
        let mut server = Self { process: command.stdin(Stdio::null()).spawn().unwrap(), port: 0 };
        let start = Instant::now();
        loop {
            if let Some(port) = fs::read_to_string(&file).ok().and_then(|port| port.parse().ok()) {
                server.port = port;
                return server;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "the server named no port");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts server-everything of the protocol's makers, which is a program of Node's.
    pub(crate) fn everything(program: &Path) -> Self {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        command.arg("streamableHttp").env("PORT", port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self { process: command.spawn().unwrap(), port };
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "the server took no connection");
            thread::sleep(Duration::from_millis(20));
        }
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
