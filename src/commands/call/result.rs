//! What a call gave: text on stdout, files for what is none.

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::cli;
use crate::exit::Exit;
use crate::files::Results;
use crate::mcp::Called;
use crate::output::Output;
use crate::printable::printable;

/// How much of a tool's name a file's name has.
const LONGEST_STEM: usize = 64;

/// Shows a result. One that says of itself that it is an error goes to stderr, and is a failure.
pub(super) fn show(
    called: &Called,
    options: &cli::Call,
    results: Option<&Results>,
    output: Output,
) -> Result<Exit> {
    let is_error = called.result["isError"] == true;
    let exit = if is_error { Exit::FINDINGS } else { Exit::DONE };
    let text = text(&called.result, options, results, output)?;
    if options.json {
        output.foreign_data(&format!("{}\n", called.text))?;
    } else if is_error {
        let reason = if text.is_empty() { "it failed, and does not say why" } else { text.trim_end() };
        output.message(&format!("{} of {}: {reason}", options.tool, options.name));
    } else {
        output.foreign_data(&text)?;
    }
    Ok(exit)
}

/// All that is text in it, each piece on lines of its own. What is none is written to a file, whose path stands in its
/// place, or named on stderr.
fn text(result: &Value, options: &cli::Call, results: Option<&Results>, output: Output) -> Result<String> {
    let mut text = String::new();
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for block in blocks {
        let piece = match Piece::of(block) {
            Piece::Text(piece) => piece,
            Piece::Bytes { kind, data } => {
                let Some(results) = results else {
                    let (kind, size) = (printable(kind), human_size(data.len() / 4 * 3));
                    let told = "is not shown: --output DIR writes it to a file";
                    output.message(&format!("{kind} of about {size} {told}"));
                    continue;
                };
                written(kind, data, options, results)?
            }
        };
        text.push_str(&piece);
        if !piece.ends_with('\n') {
            text.push('\n');
        }
    }
    let structured = &result["structuredContent"];
    if blocks.is_empty() && !structured.is_null() {
        text = format!("{structured:#}\n");
    } else if blocks.is_empty() && result.get("content").is_none() {
        // A task, a question of the server's, or whatever comes with the next revision.
        text = format!("{result:#}\n");
    }
    Ok(text)
}

/// One block of a result.
enum Piece<'a> {
    Text(String),
    /// In base64.
    Bytes {
        kind: &'a str,
        data: &'a str,
    },
}

impl<'a> Piece<'a> {
    fn of(block: &'a Value) -> Self {
        let holder = if block["type"] == "resource" { &block["resource"] } else { block };
        let data = holder["data"].as_str().or_else(|| holder["blob"].as_str());
        match (block["type"].as_str(), holder["text"].as_str(), data) {
            (Some("text" | "resource"), Some(text), _) => Self::Text(text.into()),
            (Some("image" | "audio" | "resource"), _, Some(data)) => {
                let kind = holder["mimeType"].as_str().unwrap_or("application/octet-stream");
                Self::Bytes { kind, data }
            }
            (Some("resource_link"), ..) => {
                let words = [&block["name"], &block["uri"]].map(|word| word.as_str().unwrap_or_default());
                Self::Text(words.join(": "))
            }
            _ => Self::Text(block.to_string()),
        }
    }
}

/// Writes one block to a file; gives its path, as text.
fn written(kind: &str, data: &str, options: &cli::Call, results: &Results) -> Result<String> {
    let bytes =
        STANDARD.decode(data).with_context(|| format!("{}: what it gave is no base64", options.tool))?;
    let path =
        results.write(&stem(&options.tool), extension(kind), &bytes).context("a result can't be written")?;
    Ok(path.display().to_string())
}

/// The name of a tool as that of a file.
fn stem(tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    tool.chars().take(LONGEST_STEM).map(plain).collect()
}

/// The end of the name of a file of a media type.
fn extension(kind: &str) -> &'static str {
    match kind.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        kind if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}

fn human_size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", bytes.div_ceil(1_048_576)),
    }
}
