//! One run: the servers, the ways to them, round by round.

mod agent_http;
mod bridge;
mod copier;
mod goals;
mod leg;
mod link;
mod peers;
mod pipes;
mod plain_http;
mod spread;
mod table;

#[path = "../shared/gateway.rs"]
mod gateway;
#[path = "../shared/memory.rs"]
#[expect(dead_code, reason = "what grows is for the stress")]
mod memory;
#[path = "../../tests/support/programs.rs"]
#[expect(dead_code, reason = "the agents are for the tests")]
mod programs;
#[path = "../shared/remote_server.rs"]
mod remote_server;

use std::env;
use std::path::Path;
use std::process::Command;

use agent_http::AgentHttp;
use gateway::gateway;
use leg::{Leg, Summary, Way};
use peers::Peer;
use pipes::Pipes;
use plain_http::PlainHttp;
use programs::fake_server;
use remote_server::RemoteServer;

/// Enough for about a minute beside the peers, whose starts take most of it.
const ROUNDS: usize = 6;

pub(super) fn run() {
    if let Some(server) = env::var_os(copier::SERVER) {
        copier::copy(server.as_ref());
        return;
    }
    if let Some(port) = env::var(bridge::PORT).ok().and_then(|port| port.parse().ok()) {
        bridge::pass_on(port);
        return;
    }
    let rounds = env::args().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS).max(1);
    // In memory where that can be had, so that the audit waits for no disk.
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let root = place.path().canonicalize().unwrap();
    let peers = peers::all();
    let [quick, slow] = [("quick", "ok"), ("slow", "slow-call:20")]
        .map(|(name, mode)| RemoteServer::start(&root, name, mode));
    let everything = peers::everything().map(|program| RemoteServer::everything(&program));
    let mut legs = vec![
        to_program(&root),
        to_address("a server over HTTP", &root.join("remote"), &quick, &peers),
        to_address("a server over HTTP that takes 20 ms", &root.join("far"), &slow, &peers).slow(),
    ];
    if let Some(server) = &everything {
        // It may give its answers in any order, which the peers do not all bear.
        legs.push(to_address("server-everything over HTTP", &root.join("everything"), server, &[]).slow());
    }
    // The first round warms what lies on disk and counts for nothing.
    for round in 0..=rounds {
        for leg in &mut legs {
            leg.round(round > 0);
        }
    }
    // Of all before any is left: what they share counts as shared.
    let summaries: Vec<Summary> = legs.iter().map(Leg::summary).collect();
    println!("{rounds} rounds");
    for leg in &summaries {
        table::print(leg, &peers);
    }
    goals::print(&summaries);
}

fn to_program(root: &Path) -> Leg {
    let server = fake_server();
    let direct = {
        let server = server.clone();
        Way::new("direct", move || {
            let mut command = Command::new(&server);
            command.arg("stdio");
            Box::new(Pipes::begin(command))
        })
    };
    let copier = {
        let server = server.clone();
        Way::new("copier", move || {
            let mut command = Command::new(env::current_exe().unwrap());
            command.env(copier::SERVER, &server);
            Box::new(Pipes::begin(command))
        })
    };
    let place = root.join("program");
    let squire = Way::new("squire", move || {
        let words = [server.display().to_string(), "stdio".into()];
        Box::new(Pipes::begin(gateway(&place, &format!("command = {words:?}"))))
    });
    Leg::new("a program", vec![direct, copier, squire], 200, 2000, 5)
}

fn to_address(title: &'static str, place: &Path, server: &RemoteServer, peers: &[Peer]) -> Leg {
    let port = server.port;
    let mut ways = vec![
        Way::new("sockets", move || Box::new(PlainHttp::begin(port))),
        Way::new("direct", move || Box::new(AgentHttp::begin(port))),
    ];
    ways.push(Way::new("bridge", move || {
        let mut command = Command::new(env::current_exe().unwrap());
        command.env(bridge::PORT, port.to_string());
        Box::new(Pipes::begin(command))
    }));
    let (url, files) = (server.url(), place.to_path_buf());
    ways.push(Way::new("squire", move || Box::new(Pipes::begin(gateway(&files, &format!("url = {url:?}"))))));
    for peer in peers.iter().filter(|peer| peer.is_installed()) {
        let (peer, url, home) = (peer.clone(), server.url(), place.join("home"));
        ways.push(Way::new(peer.name, move || Box::new(Pipes::begin(peer.command(&url, &home)))));
    }
    Leg::new(title, ways, 100, 320, 1)
}
