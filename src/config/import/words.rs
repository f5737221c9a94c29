//! A command line, or an address, as an entry; and the name that goes with it.

use serde_json::{Map, Value as Json, json};

/// Parts of a package's or an image's name that say what every one of them is.
const NOISE: &[&str] = &["mcp", "server", "servers", "mcp-server", "modelcontextprotocol"];

/// The entry of a command line, and a name for it: after the package, the image or the program. Assignments before the
/// program are its variables.
pub fn of_words(words: &[String]) -> Option<(Map<String, Json>, String)> {
    let is_assignment = |word: &&String| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(squire_strategies::Text::is_variable)
    };
    let assigned = words.iter().take_while(is_assignment).count();
    let (assignments, words) = words.split_at(assigned);
    let (program, arguments) = words.split_first()?;
    let mut entry = Map::new();
    entry.insert("command".into(), json!(program));
    if !arguments.is_empty() {
        entry.insert("args".into(), json!(arguments));
    }
    let env: Map<String, Json> = assignments
        .iter()
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    if !env.is_empty() {
        entry.insert("env".into(), Json::Object(env));
    }
    Some((entry, name_of(program, arguments)))
}

fn name_of(program: &str, arguments: &[String]) -> String {
    let program = program.rsplit('/').next().unwrap_or(program);
    let package = match program {
        "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "pipx" | "bun" | "deno" | "node" | "python"
        | "python3" | "uv" => package_of(arguments),
        "docker" | "podman" | "nerdctl" => image_of(arguments),
        _ => None,
    };
    short(package.unwrap_or(program))
}

/// The first word that is neither an option nor a word of the runner itself.
fn package_of(arguments: &[String]) -> Option<&str> {
    let is_of_runner =
        |word: &str| word.starts_with('-') || matches!(word, "dlx" | "run" | "exec" | "x" | "tool");
    arguments.iter().map(String::as_str).find(|word| !is_of_runner(word))
}

/// The image of `docker run`: the first word behind its options.
fn image_of(arguments: &[String]) -> Option<&str> {
    const FLAGS: &[&str] = &[
        "-i",
        "-t",
        "-it",
        "-ti",
        "-d",
        "--rm",
        "--init",
        "--interactive",
        "--tty",
        "--privileged",
        "--read-only",
    ];
    let mut words = arguments.iter().map(String::as_str).skip_while(|word| *word != "run").skip(1);
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return Some(word);
        }
        if !FLAGS.contains(&word) && !word.contains('=') {
            words.next();
        }
    }
    None
}

/// A package, an image or a file without scope, version and what every server's name has.
fn short(package: &str) -> String {
    let package = package.split_once("://").map_or(package, |(_, rest)| rest);
    let (scope, base) = match package.trim_end_matches('/').rsplit_once('/') {
        Some((scope, base)) => (scope.rsplit('/').next().unwrap_or_default().trim_start_matches('@'), base),
        None => ("", package),
    };
    let base = base.split(['@', ':', '[']).find(|part| !part.is_empty()).unwrap_or(base);
    let endings = [".js", ".mjs", ".cjs", ".ts", ".py", ".git"];
    let base = endings.iter().find_map(|ending| base.strip_suffix(ending)).unwrap_or(base);
    let words: Vec<&str> = base.split(['-', '_', '.']).filter(|word| !NOISE.contains(word)).collect();
    let name = words.join("-");
    if !name.is_empty() {
        name
    } else if !scope.is_empty() && !NOISE.contains(&scope) {
        scope.to_owned()
    } else {
        base.to_owned()
    }
}

/// A name for a remote server: the part of its host that says whose it is.
pub fn named_after_address(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let labels: Vec<&str> = host.split('.').collect();
    let is_number = labels.iter().all(|label| label.chars().all(|c| c.is_ascii_digit()));
    match labels.as_slice() {
        _ if is_number => "local".into(),
        [.., name, _] => (*name).to_owned(),
        _ => host.to_owned(),
    }
}
