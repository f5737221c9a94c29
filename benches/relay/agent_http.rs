//! What an agent that speaks HTTP itself has: an ordinary HTTP client, in its own process.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::link::{HELLO, INITIALIZED, Link, WINDOW, is_answer, tool_call};

const SESSION: &str = "mcp-session-id";
/// Node's servers close a connection after 5 s, and its clients leave theirs after 4.
const IDLE: Duration = Duration::from_secs(4);

pub(super) struct AgentHttp {
    runtime: Runtime,
    client: Client,
    url: String,
    session: Option<String>,
    number: usize,
}

impl AgentHttp {
    /// Connects and greets it.
    pub(super) fn begin(port: u16) -> Self {
        // It is there already where another of these was made.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = Client::builder().no_proxy().pool_idle_timeout(IDLE).build().unwrap();
        let url = format!("http://127.0.0.1:{port}/mcp");
        let mut agent = Self { runtime, client, url, session: None, number: 0 };
        let hello = agent.message(HELLO.into());
        let session =
            agent.runtime.block_on(async { hello.send().await.unwrap().headers().get(SESSION).cloned() });
        agent.session = session.map(|session| session.to_str().unwrap().to_owned());
        let initialized = agent.message(INITIALIZED.into());
        agent.runtime.block_on(initialized.send()).unwrap();
        agent
    }

    fn message(&self, message: String) -> RequestBuilder {
        let request = self.client.post(&self.url);
        let request = request.header(ACCEPT, "application/json, text/event-stream");
        let request = request.header(CONTENT_TYPE, "application/json").body(message);
        self.session.iter().fold(request, |request, session| request.header(SESSION, session))
    }
}

async fn answered(request: RequestBuilder) {
    let reply = request.send().await.unwrap().text().await.unwrap();
    assert!(is_answer(&reply), "{reply}");
}

impl Link for AgentHttp {
    fn call(&mut self) {
        self.number += 1;
        self.runtime.block_on(answered(self.message(tool_call(self.number))));
    }

    fn call_many(&mut self, calls: usize) {
        self.runtime.block_on(async {
            let mut under_way = JoinSet::new();
            for id in 1..=calls {
                if under_way.len() == WINDOW {
                    under_way.join_next().await.unwrap().unwrap();
                }
                under_way.spawn(answered(self.message(tool_call(id))));
            }
            while under_way.join_next().await.is_some() {}
        });
    }

    fn process(&self) -> Option<u32> {
        None
    }
}
