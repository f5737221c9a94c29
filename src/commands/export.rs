//! `squire export`: the list in the persistent format of an agent or an editor that squire does not launch.

use std::rc::Rc;

use anyhow::{Result, anyhow};
use serde_json::json;
use squire_strategies::export::{Bearing, Document, Exported, FORMATS, Format, Gateways, Tools, format};
use squire_strategies::{Gateway, Name, Note, ResolvedServer, Route, Transport};

use super::Surroundings;
use crate::cli;
use crate::config::{Declaration, Filter, LayerKind};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::files;
use crate::output::Output;
use crate::report;
use crate::resolve::{Resolution, Resolved, Selection, UnknownSelection, resolve, strategy, unknown_name};
use crate::secrets::Source;

/// What the gateway of a server keeps, and an agent that reaches it by itself does not.
const OF_GATEWAY: [&str; 6] = ["result_limit", "max_restarts", "sampling", "audit", "spill", "pin"];
/// The version of what `--json` prints.
const VERSION: u32 = 1;

/// Runs the command: 1 where a server that is named was left out.
pub fn run(options: &cli::Export, environment: &Environment) -> Result<Exit> {
    let surroundings = Surroundings::find(environment)?;
    surroundings.refuse_foreign()?;
    let format = find(&surroundings, &options.agent)?;
    let resolution = resolved(&surroundings, options, format)?;
    let document = document(&surroundings, options, format, &resolution, environment)?;
    let mut notes = resolution.all_notes();
    notes.extend(document.notes.iter().cloned());
    let output = Output::default();
    // As with other programs `-` is stdout.
    let file = options.output.as_ref().filter(|path| path.as_os_str() != "-");
    if let Some(path) = file {
        let path = environment.directory()?.join(path);
        files::write_new_file(&path, document.text.as_bytes())
            .map_err(|error| anyhow!("{} can't be written: {error}", path.display()))?;
    }
    if options.json {
        let told = json!({
            "version": VERSION,
            "agent": options.agent,
            "format": format.name,
            "file": format.file,
            "servers": document.servers,
            "text": document.text,
            "notes": notes.iter().map(report::note).collect::<Vec<_>>(),
        });
        output.data(&format!("{told:#}\n"))?;
    } else {
        tell(&notes, output);
        match file {
            None => output.data(&document.text)?,
            Some(path) => output.notice(&format!(
                "{} has {} of {} servers; it belongs into {}",
                path.display(),
                document.servers.len(),
                resolution.entries.len(),
                format.file
            )),
        }
    }
    let is_there = |name: &String| document.servers.contains(name);
    Ok(if options.servers.iter().all(is_there) { Exit::DONE } else { Exit::FINDINGS })
}

/// The format of a name, or that of the agent whose language an agent of the user's own speaks.
fn find(surroundings: &Surroundings, name: &str) -> Result<&'static Format> {
    let of_own = || format(strategy(&surroundings.layers, name)?.name());
    format(name).or_else(of_own).ok_or_else(|| {
        let known = FORMATS.iter().map(|format| format.name);
        UnknownSelection(vec![unknown_name("format", name, known)]).into()
    })
}

/// The selected servers. The built-in one serves a launch, and is not meant where nobody names it.
fn resolved(surroundings: &Surroundings, options: &cli::Export, format: &Format) -> Result<Resolution> {
    let selection = Selection {
        profiles: options.profiles.clone(),
        servers: options.servers.clone(),
        agent: Some(options.agent.clone()),
        ..Selection::default()
    };
    let speaks = |transport: &Transport| format.speaks(transport);
    let mut resolution = resolve(&surroundings.layers, &surroundings.standings, &selection, &speaks)?;
    resolution.notes.extend(surroundings.approval_notes.iter().cloned());
    if resolution.profiles.is_empty() && options.servers.is_empty() {
        let is_meant = |name: &Name| name.as_str() != Name::SQUIRE;
        resolution.entries.retain(|entry| is_meant(&entry.server.name));
        // A launch says nothing of what is switched off, and comes again; a file that lacks it stays.
        let switched_off = std::mem::take(&mut resolution.switched_off);
        resolution
            .notes
            .extend(switched_off.into_iter().filter(|note| note.server.as_ref().is_some_and(is_meant)));
    }
    for entry in resolution.entries.iter_mut().filter(|entry| entry.left_out.is_none()) {
        Rc::make_mut(&mut entry.server).secret_variables =
            surroundings.secret_variables(&entry.server.transport, entry.declaration.as_deref());
    }
    Ok(resolution)
}

fn document(
    surroundings: &Surroundings,
    options: &cli::Export,
    format: &Format,
    resolution: &Resolution,
    environment: &Environment,
) -> Result<Document> {
    let entries: Vec<&Resolved> = resolution.entries.iter().filter(|it| it.left_out.is_none()).collect();
    let exported: Vec<Exported<'_>> = entries.iter().map(|entry| exported(entry)).collect();
    let variable_of = |secret: &str| {
        let secret = surroundings.secrets().ok()?.find(secret)?;
        match &secret.source {
            Source::Environment(name) => Some(name.clone()),
            Source::File(_) | Source::Value | Source::Command { .. } => None,
        }
    };
    let shared = surroundings.gateway(resolution, environment)?;
    let gateway = |server: &ResolvedServer| {
        let entry = entries.iter().find(|entry| entry.server.name == server.name);
        let is_of_project = entry.is_some_and(|entry| is_of_project(surroundings, entry));
        // A server of the user's own is the same in every project.
        Gateway { project: shared.project.clone().filter(|_| is_of_project), ..shared.clone() }
    };
    let gateways: Option<Gateways<'_>> = options.gateway.then_some((options.agent.as_str(), &gateway));
    Ok(format.document(&exported, &variable_of, gateways))
}

/// Whether what a server is depends on the project.
fn is_of_project(surroundings: &Surroundings, entry: &Resolved) -> bool {
    let is_local = |declaration: &Declaration| declaration.origin.layer == LayerKind::Local;
    let is_changed = surroundings.layers.local.servers.iter().any(|local| local.name == entry.server.name);
    entry.is_project() || is_changed || entry.declaration.as_deref().is_some_and(is_local)
}

fn exported(entry: &Resolved) -> Exported<'_> {
    let declaration = entry.declaration.as_deref();
    let auth = declaration.and_then(|declaration| declaration.auth.as_ref()).map(|auth| Bearing {
        header: &auth.value.header,
        bearer: auth.value.bearer,
        secret: &auth.value.secret,
    });
    let tools = match entry.limits.filters.as_slice() {
        [] => Tools::All,
        [Filter { allow, deny }] => Tools::Filtered(allow.as_deref(), deny),
        _ => Tools::Several,
    };
    let of_gateway = declaration.and_then(|declaration| {
        let Declaration { client_cert, client_key, ca, .. } = declaration;
        let fields = [("client_cert", client_cert), ("client_key", client_key), ("ca", ca)];
        fields.into_iter().find(|(_, field)| field.is_some()).map(|(key, _)| key)
    });
    let written = declaration.into_iter().flat_map(Declaration::origins).map(|(key, _)| key);
    let is_directed = entry.server.transport.remote().is_some() && entry.server.route == Route::Gateway;
    let is_of_gateway = |key: &&str| OF_GATEWAY.contains(key) || *key == "route" && is_directed;
    let unkept = written.filter(is_of_gateway).collect();
    Exported { server: &entry.server, auth, tools, of_gateway, unkept }
}

fn tell(notes: &[Note], output: Output) {
    for note in notes {
        let server = note.server.as_ref().map_or(String::new(), |server| format!("{server}: "));
        let help = note.mend.as_ref().map(|mend| format!("\n  help: {mend}")).unwrap_or_default();
        output.message(&format!("{server}{}{help}", note.located()));
    }
}
