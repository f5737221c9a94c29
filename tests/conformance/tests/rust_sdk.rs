//! The client of the official Rust SDK gets the same from a server through a gateway as directly, in both eras.

use std::error::Error;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, GetPromptRequestParams, Implementation,
    InitializeRequestParams, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestContext,
};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::json;
use squire_conformance::gateway::Gateway;
use squire_conformance::installed;

type Outcome<Value> = Result<Value, Box<dyn Error>>;

#[derive(Clone, Default)]
struct Agent {
    progress: Arc<Mutex<Vec<String>>>,
}

impl Agent {
    fn progress(&self) -> MutexGuard<'_, Vec<String>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for Agent {
    fn get_info(&self) -> InitializeRequestParams {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        InitializeRequestParams::new(capabilities, Implementation::new("squire-conformance", "1"))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress().push(format!("{} of {:?}", params.progress, params.total));
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ada" })))
    }
}

/// All that the client got, as the SDK understands it.
async fn conversation(
    command: Command,
    mode: ClientLifecycleMode,
    elicits: &'static str,
) -> Outcome<Vec<String>> {
    let mut told = Vec::new();
    let agent = Agent::default();
    let transport = TokioChildProcess::new(tokio::process::Command::from(command))?;
    let client = agent.clone().serve_with_lifecycle(transport, mode).await?;
    told.push(serde_json::to_string(&client.list_all_tools().await?)?);
    for tool in ["test_simple_text", "test_multiple_content_types", "test_error_handling", elicits] {
        told.push(serde_json::to_string(&client.call_tool(CallToolRequestParams::new(tool)).await?)?);
    }

    let ask = |tool| {
        let request = CallToolRequest::new(CallToolRequestParams::new(tool));
        client.send_cancellable_request(
            ClientRequest::CallToolRequest(request),
            PeerRequestOptions::no_options(),
        )
    };
    told.push(serde_json::to_string(&ask("test_tool_with_progress").await?.await_response().await?)?);
    told.push(agent.progress().join(", "));

    let waiting = ask("test_silence").await?;
    let id = serde_json::to_string(&waiting.id)?;
    waiting.cancel(Some("enough".into())).await?;
    let cancelled = client.call_tool(CallToolRequestParams::new("test_cancelled")).await?;
    let cancelled = serde_json::to_string(&cancelled)?;
    assert!(cancelled.contains(&format!("[{id}]")), "{id} is not in {cancelled}");

    told.push(serde_json::to_string(&client.list_all_resources().await?)?);
    let resource = ReadResourceRequestParams::new("test://static-text");
    told.push(serde_json::to_string(&client.read_resource(resource).await?)?);
    told.push(serde_json::to_string(&client.list_all_prompts().await?)?);
    let prompt = GetPromptRequestParams::new("test_simple_prompt");
    told.push(serde_json::to_string(&client.get_prompt(prompt).await?)?);
    let unknown = client.call_tool(CallToolRequestParams::new("none")).await;
    told.push(unknown.err().map(|error| error.to_string()).unwrap_or_default());
    client.cancel().await?;
    Ok(told)
}

fn compare(mode: &ClientLifecycleMode, elicits: &'static str) -> Outcome<()> {
    if installed::folder()?.is_none() {
        return Ok(());
    }
    let fixture = env!("CARGO_BIN_EXE_conformance-fixture");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = |command| {
        let conversation = conversation(command, mode.clone(), elicits);
        runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), conversation).await })
    };
    let direct = run(Command::new(fixture))??;
    let gateway = Gateway::to_program(&[fixture])?;
    assert_eq!(direct, run(gateway.command())??);
    assert!(direct.iter().any(|told| told.contains("Ada")), "{direct:#?}");
    assert!(direct.iter().any(|told| told.contains("100 of Some(100.0)")), "{direct:#?}");
    Ok(())
}

#[test]
fn with_initialize() -> Outcome<()> {
    compare(&ClientLifecycleMode::Initialize, "test_elicitation")
}

#[test]
fn with_discover() -> Outcome<()> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    compare(&ClientLifecycleMode::Discover { preferred_versions }, "test_input_required_result_elicitation")
}

#[test]
fn with_whatever_the_server_speaks() -> Outcome<()> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let mode = ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
    compare(&mode, "test_input_required_result_elicitation")
}
