//! Which files an import reads, and what each holds. None of them is ever written.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cli;
use crate::commands::WrongWords;
use crate::config::import::{FORMATS, Format, Found, Home, Scope, Unread, format, recognise};
use crate::config::{Place, Problem, nearest};
use crate::environment::Environment;
use crate::files;

use super::super::place::Stand;

/// A file that was looked at.
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// What it is, where that is known.
    pub(super) format: Option<&'static Format>,
    /// Whose the servers in it are.
    pub(super) scope: Scope,
    /// Whether the agent reads the file itself.
    pub(super) is_own: bool,
    /// The project that it is of.
    pub(super) workspace: Option<String>,
    pub(super) state: State,
}

/// What became of a file.
pub(super) enum State {
    Absent,
    /// It can't be read, or is not what it should be.
    Broken(Problem),
    Read(Found),
}

/// The files of all sources, in their order.
pub(super) fn find(options: &cli::Import, stand: &Stand, environment: &Environment) -> Result<Vec<Source>> {
    let wanted = options.format.as_deref().map(known_format).transpose()?;
    let mut sources: Vec<Source> = Vec::new();
    for word in &options.sources {
        let found = match format(word).filter(|format| !format.own.is_empty()) {
            Some(_) if wanted.is_some() => {
                return Err(WrongWords(format!("--as is for files, and {word} is an agent")).into());
            }
            Some(format) => own(format, stand, environment),
            None => with_companions(named(word, wanted, stand, environment)?, stand, environment)?,
        };
        for source in found {
            let is_known =
                |known: &Source| known.path == source.path || files::same_file(&known.path, &source.path);
            if !sources.iter().any(is_known) {
                sources.push(source);
            }
        }
    }
    Ok(sources)
}

fn known_format(name: &str) -> Result<&'static Format> {
    format(name).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let near = nearest(name, names.iter().copied()).map(|near| format!("; did you mean {near}?"));
        let known = near.unwrap_or_else(|| format!(": {}", names.join(", ")));
        WrongWords(format!("--as: squire knows no format {name:?}{known}")).into()
    })
}

/// An agent's own files.
fn own(format: &'static Format, stand: &Stand, environment: &Environment) -> Vec<Source> {
    let project = stand.project.as_ref().map(|project| project.root.clone());
    let mut sources = Vec::new();
    for file in format.own {
        let (path, bytes) = match file.home {
            Home::Project(relative) => {
                let Some(root) = &project else { continue };
                (root.join(relative), files::read_of_project(root, Path::new(relative)))
            }
            home => {
                let Some(path) = path_of(home, environment) else { continue };
                let bytes = files::read_of_agent(&path);
                (path, bytes)
            }
        };
        let workspace = matches!(file.home, Home::Project(_)).then(|| text(project.as_deref())).flatten();
        let root = text(project.as_deref());
        let state = state(format, &path, bytes, root.as_deref());
        sources.push(Source {
            path,
            format: Some(format),
            scope: file.scope,
            is_own: true,
            workspace,
            state,
        });
    }
    sources
}

fn path_of(home: Home, environment: &Environment) -> Option<PathBuf> {
    match home {
        Home::User(file) => environment.home().map(|home| home.join(file)),
        Home::Config(file) => {
            let below = environment.xdg("XDG_CONFIG_HOME");
            below.or_else(|| environment.home().map(|home| home.join(".config"))).map(|base| base.join(file))
        }
        Home::Variable(variable, below_home, file) => {
            let named = environment.get(variable).map(PathBuf::from);
            named.or_else(|| environment.home().map(|home| home.join(below_home))).map(|base| base.join(file))
        }
        Home::Project(_) => None,
    }
}

/// A file with those beside it that its tool reads together with it.
fn with_companions(source: Source, stand: &Stand, environment: &Environment) -> Result<Vec<Source>> {
    let names = source.format.map_or(&[][..], |format| format.companions);
    let is_whole = source.path.file_stem().is_some_and(|stem| stem == "project");
    let beside: Vec<PathBuf> = names.iter().map(|name| source.path.with_file_name(name)).collect();
    let mut sources = vec![source];
    for path in beside.into_iter().filter(|path| is_whole && files::exists(path)) {
        sources.push(named(&path.display().to_string(), None, stand, environment)?);
    }
    Ok(sources)
}

/// A file that was named.
fn named(
    word: &str,
    wanted: Option<&'static Format>,
    stand: &Stand,
    environment: &Environment,
) -> Result<Source> {
    let path = files::plain(&environment.directory()?.join(word));
    let bytes = files::read_of_agent(&path);
    let project = stand.project.as_ref().and_then(|project| text(Some(&project.root)));
    let mut source = Source {
        path,
        format: wanted,
        scope: Scope::User,
        is_own: false,
        workspace: None,
        state: State::Absent,
    };
    let bytes = match bytes {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            let agents: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            let near = nearest(word, agents).filter(|_| !word.contains(['/', '.']));
            let help = near.map(|near| format!("did you mean the agent {near}?"));
            let top = Place { line: 1, column: 1 };
            let message = "there is no such file".to_owned();
            source.state = State::Broken(Problem { path: source.path.clone(), place: top, message, help });
            return Ok(source);
        }
        Err(error) => {
            source.state = State::Broken(unreadable(&source.path, &error.to_string()));
            return Ok(source);
        }
    };
    if source.format.is_none() {
        match recognise(&source.path, &bytes) {
            Ok(format) => source.format = Some(format),
            Err(unread) => {
                source.state = State::Broken(problem(&source.path, unread));
                return Ok(source);
            }
        }
    }
    if let Some(format) = source.format {
        (source.scope, source.workspace) = whose(format, &source.path, environment);
        source.is_own = match &source.workspace {
            Some(_) => source.workspace == project && !format.own.is_empty(),
            None => is_users(format, &source.path, environment),
        };
        source.state = state(format, &source.path, Ok(Some(bytes)), project.as_deref());
    }
    Ok(source)
}

/// Whether an agent keeps it there for its user.
fn is_users(format: &Format, path: &Path, environment: &Environment) -> bool {
    let is_it = |home: Home| {
        path_of(home, environment).is_some_and(|own| own == path || files::same_file(&own, path))
    };
    format.own.iter().any(|file| is_it(file.home))
}

/// Whose a named file is: the user's where an agent keeps it there, else that of the project that it lies in.
fn whose(format: &Format, path: &Path, environment: &Environment) -> (Scope, Option<String>) {
    if is_users(format, path, environment) {
        return (Scope::User, None);
    }
    let of_project = format.own.iter().find_map(|file| match file.home {
        Home::Project(relative) if path.ends_with(relative) => {
            path.ancestors().nth(Path::new(relative).components().count())
        }
        Home::Project(_) | Home::User(_) | Home::Config(_) | Home::Variable(..) => None,
    });
    let of_kaged = path.parent().filter(|parent| parent.ends_with(".kaged")).and_then(Path::parent);
    match of_project.or(of_kaged) {
        Some(workspace) => (Scope::Project, text(Some(workspace))),
        None => (Scope::User, None),
    }
}

fn state(
    format: &Format,
    path: &Path,
    bytes: std::io::Result<Option<Vec<u8>>>,
    project: Option<&str>,
) -> State {
    match bytes {
        Ok(None) => State::Absent,
        Err(error) => State::Broken(unreadable(path, &error.to_string())),
        Ok(Some(bytes)) => match format.read(path, &bytes, project) {
            Ok(found) => State::Read(found),
            Err(unread) => State::Broken(problem(path, unread)),
        },
    }
}

fn unreadable(path: &Path, reason: &str) -> Problem {
    let top = Place { line: 1, column: 1 };
    let message = format!("it can't be read: {reason}");
    Problem { path: path.to_path_buf(), place: top, message, help: None }
}

pub(super) fn problem(path: &Path, unread: Unread) -> Problem {
    Problem { path: path.to_path_buf(), place: unread.place, message: unread.reason, help: None }
}

fn text(path: Option<&Path>) -> Option<String> {
    path.and_then(Path::to_str).map(str::to_owned)
}
