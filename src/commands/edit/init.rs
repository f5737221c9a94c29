//! `squire init`: a file to begin with.

use anyhow::{Result, ensure};

use super::begin;
use super::change::change;
use crate::cli::{self, Layer};
use crate::config::edit::Document;
use crate::environment::Environment;
use crate::exit::Exit;

const USER: &str = "\
# Your MCP servers, for every agent: `squire add` writes them here, or you do. `squire check` tells what is wrong.
#
# [servers.docs]
# url = \"https://docs.example.com/mcp\"
#
# [servers.database]
# command = [\"npx\", \"-y\", \"@example/mcp-postgres\"]
# env = { DB_URL = \"${secret:database.url}\" }     # squire secret set database.url
#
# [profiles.work]
# servers = [\"docs\", \"database\"]
";
const PROJECT: &str = "\
# The MCP servers of this repository, for everybody who launches an agent with squire here. Each is off until its user
# approves it.
#
# [servers.database]
# command = [\"bun\", \"run\", \"tools/mcp-server.ts\"]
# env = { DB_PATH = \"./data/app.db\" }
";
const LOCAL: &str = "\
# Your own changes for one project.
#
# [servers.docs]
# disabled = true
";

/// Runs the command: 1 where the file is there.
pub fn run(options: &cli::Init, environment: &Environment) -> Result<Exit> {
    let (stand, output) = begin(options.editing, environment)?;
    let layer = options.editing.layer.unwrap_or(Layer::User);
    let target = stand.target(layer)?;
    ensure!(!crate::files::exists(&target.path), "{} is there already", target.path.display());
    let text = match layer {
        Layer::User => USER,
        Layer::Project => PROJECT,
        Layer::Local => LOCAL,
    };
    change(&stand, &target, options.editing.dry_run, |document| {
        *document = Document::parse(text)?;
        Ok(())
    })?;
    if !options.editing.dry_run {
        output.notice(&format!("{} is there now; `squire add` puts servers into it", target.path.display()));
    }
    Ok(Exit::DONE)
}
