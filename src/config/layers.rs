//! Finds and reads the layers.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use sha2::{Digest, Sha256};
use squire_strategies::{Code, Name, Note, Whereabouts};

use super::consistency;
use super::directories::Project;
use super::live::{self, Live};
use super::problem::{Problem, Problems};
use super::read::{read, read_drop_in};
use super::schema::{Declarations, LayerKind, Policy};
use crate::files;
use crate::runner::as_the_user_has_it;

/// The machine's policy, which wins over everything.
pub const MANAGED_POLICY: &str = "/etc/squire/policy.toml";
/// A file that people expect to be read, and that a repository could bring.
const NOT_LOCAL: &str = "squire.local.toml";

/// Where the layers of one command are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The config directory.
    pub config: &'a Path,
    /// The state directory, which knows what of a project's files is squire's own for the moment.
    pub state: &'a Path,
    /// The project, if there is one.
    pub project: Option<&'a Project>,
    /// The managed policy's file.
    pub managed: &'a Path,
}

/// All layers that a command sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// The user's own: squire.toml, and behind it the drop-ins in the order of their names.
    pub user: Declarations,
    /// The user's changes for this project.
    pub local: Declarations,
    /// The repository's, where there is a file that can be read.
    pub project: Option<Declarations>,
    /// The limits: the managed policy over the user's.
    pub policy: Policy,
    /// Why files of the repository are not used.
    pub project_refused: Vec<Note>,
}

/// Reads the layers. A malformed file of the user or the machine is an error that names every problem; a malformed
/// project file is set aside with its reason, as a repository must not be able to stop a launch.
pub fn load(sources: Sources<'_>) -> Result<Layers> {
    load_with(sources, None)
}

/// A file, and bytes that it is to hold.
type Instead<'a> = Option<(&'a Path, &'a [u8])>;

/// As [`load`], with other bytes in the place of those of one file: what an edit would come to.
pub fn load_with(sources: Sources<'_>, instead: Instead<'_>) -> Result<Layers> {
    let mut problems = Vec::new();
    let read_file =
        |path: &Path, layer, problems: &mut Vec<Problem>| read_file(path, instead, layer, problems);
    let mut user = read_file(&sources.config.join("squire.toml"), LayerKind::User, &mut problems)?;
    for path in drop_ins(sources.config)? {
        let bytes = read_bytes(&path)?;
        let (drop_in, found) = read_drop_in(&bytes, &path);
        problems.extend(found);
        user.servers.extend(drop_in.servers);
    }
    let local = match sources.project {
        Some(project) => read_file(&local_file(sources.config, project), LayerKind::Local, &mut problems)?,
        None => Declarations::default(),
    };
    let managed = read_file(sources.managed, LayerKind::Managed, &mut problems)?;
    if problems.is_empty() {
        problems.extend(consistency::check(&user, &[]));
    }
    if problems.is_empty() {
        problems.extend(consistency::check_local(&local, &user));
    }
    if !problems.is_empty() {
        return Err(Problems(problems).into());
    }
    let mut policy = user.policy.clone();
    policy.amend(&managed.policy);
    let mut layers = Layers { user, local, policy, ..Layers::default() };
    if let Some(project) = sources.project {
        load_project(sources, project, instead, &mut layers);
    }
    Ok(layers)
}

/// Where the user's own changes for a project lie: never in the project.
pub fn local_file(config: &Path, project: &Project) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let digest = Sha256::digest(project.root.as_os_str().as_bytes());
    let hex = files::hexadecimal(digest.get(..6).unwrap_or_default());
    let name = project.root.file_name().unwrap_or_default().to_string_lossy();
    config.join("projects").join(format!("{name}-{hex}.toml"))
}

/// The files of `servers.d`, by name; hidden ones and those of other endings are somebody else's.
fn drop_ins(config: &Path) -> Result<Vec<PathBuf>> {
    let directory = config.join("servers.d");
    let mut names =
        files::names_in(&directory).map_err(|error| anyhow!("{}: {error}", directory.display()))?;
    names.retain(|name| {
        let hidden = name.as_encoded_bytes().starts_with(b".");
        !hidden && Path::new(name).extension().is_some_and(|ending| ending == "toml")
    });
    names.sort_unstable();
    Ok(names.into_iter().map(|name| directory.join(name)).collect())
}

/// A file of the user that is not believed, or can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for Unusable {}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let bytes = files::read_of_user(path)
        .map_err(|error| Unusable { path: path.to_path_buf(), reason: error.to_string() })?;
    Ok(bytes.unwrap_or_default())
}

fn read_file(
    path: &Path,
    instead: Instead<'_>,
    layer: LayerKind,
    problems: &mut Vec<Problem>,
) -> Result<Declarations> {
    let bytes = match instead {
        Some((other, bytes)) if other == path => bytes.to_vec(),
        _ => read_bytes(path)?,
    };
    let (declarations, found) = read(&bytes, path, layer);
    problems.extend(found);
    Ok(declarations)
}

fn load_project(sources: Sources<'_>, project: &Project, instead: Instead<'_>, layers: &mut Layers) {
    let config = sources.config;
    let mut notes = Vec::new();
    let live = if layers.policy.has_live_sources() {
        live_files(sources.state, project, &mut notes)
    } else {
        Vec::new()
    };
    let names: Vec<&Name> = live.iter().flat_map(|live| &live.servers).map(|server| &server.name).collect();
    match read_project(config, project, instead, &names) {
        Ok(Some(declarations)) => layers.project = Some(declarations),
        Ok(None) => {}
        Err(refused) => layers.project_refused = refused,
    }
    let limit = layers.policy.project_servers();
    for live in live {
        add_live(live, limit, &mut layers.project, &mut notes);
    }
    layers.project_refused.extend(notes);
    let directory = project.declares_in.as_deref().unwrap_or(&project.root);
    let not_local = directory.join(NOT_LOCAL);
    if files::exists(&not_local) {
        let real = local_file(config, project);
        let place = Whereabouts { path: not_local.display().to_string().into(), position: None };
        layers.project_refused.push(Note {
            code: Code::ProjectFile,
            server: None,
            sentence: format!("it is not read: your own changes lie in {}", real.display()),
            mend: Some("move it there, where no repository can write it".into()),
            place: Some(place),
        });
    }
}

/// The files of agents that declare servers of the project. They are read as its squire.toml is; entries that launches of
/// squire have in one for the moment are none of the project's.
fn live_files(state: &Path, project: &Project, notes: &mut Vec<Note>) -> Vec<Live> {
    let mut found = Vec::new();
    for file in live::FILES {
        let path = project.root.join(file.path);
        // Where there is none, nothing is to be said of its directory.
        if !files::exists(&path) {
            continue;
        }
        let bytes = files::read_of_project(&project.root, file.path.as_ref())
            .map_err(|error| error.to_string())
            .and_then(|bytes| match bytes {
                Some(bytes) => as_the_user_has_it(state, &project.root, file.path, bytes),
                None => Ok(None),
            });
        let live = match bytes {
            Ok(None) => continue,
            Ok(Some(bytes)) => live::read_live(*file, &bytes, &path),
            Err(reason) => {
                let place = Whereabouts { path: path.display().to_string().into(), position: None };
                Err(not_used(&reason, None, place))
            }
        };
        match live {
            Ok(live) => found.push(live),
            Err(note) => notes.push(note),
        }
    }
    found
}

/// Adds the servers of one file, all or, where they would be more than a project may have, none.
fn add_live(live: Live, limit: u64, project: &mut Option<Declarations>, notes: &mut Vec<Note>) {
    if live.servers.is_empty() && live.notes.is_empty() {
        return;
    }
    let mut with = project.clone().unwrap_or_default();
    let (before, first) = (with.servers.len(), live.servers.first().map(|first| first.origin.whereabouts()));
    let mut told = Vec::new();
    live::merge(&mut with, live, &mut told);
    let declared = with.servers.len();
    if let Some(place) = first.filter(|_| declared > before && declared as u64 > limit) {
        let reason =
            format!("with it the project declares {declared} servers, and a project may have {limit}");
        notes.push(not_used(&reason, Some("raise `max_project_servers` of your [policy]".into()), place));
    } else {
        notes.extend(told);
        *project = Some(with);
    }
}

/// The note of a project's file that is set aside.
fn not_used(reason: &str, mend: Option<String>, place: Whereabouts) -> Note {
    let sentence = format!("the project's file is not used: {reason}");
    Note { code: Code::ProjectFile, server: None, sentence, mend, place: Some(place) }
}

/// One note for each problem of a project's file, up to as many as are told of any file.
pub fn not_used_for(problems: &[Problem]) -> Vec<Note> {
    let mut notes: Vec<Note> = problems
        .iter()
        .take(Problems::SHOWN)
        .map(|problem| not_used(&problem.message, problem.help.clone(), problem.whereabouts()))
        .collect();
    if let Some(next) = problems.get(Problems::SHOWN) {
        let reason = format!("and {} problems more", problems.len() - Problems::SHOWN);
        notes.push(not_used(&reason, None, next.whereabouts()));
    }
    notes
}

fn read_project(
    config: &Path,
    project: &Project,
    instead: Instead<'_>,
    live: &[&Name],
) -> Result<Option<Declarations>, Vec<Note>> {
    let Some(directory) = &project.declares_in else { return Ok(None) };
    let path = directory.join(Project::FILE);
    // Where squire's own files are worked in, the user's file is no project's.
    if files::same_file(&path, &config.join(Project::FILE)) {
        return Ok(None);
    }
    let unreadable = |error: &dyn fmt::Display| {
        let place = Whereabouts { path: path.display().to_string().into(), position: None };
        vec![not_used(&error.to_string(), None, place)]
    };
    let relative = path.strip_prefix(&project.root).map_err(|error| unreadable(&error))?;
    let bytes = match instead {
        Some((other, bytes)) if other == path => Some(bytes.to_vec()),
        _ => files::read_of_project(&project.root, relative).map_err(|error| unreadable(&error))?,
    };
    let (declarations, mut problems) = read(&bytes.unwrap_or_default(), &path, LayerKind::Project);
    if problems.is_empty() {
        problems = consistency::check(&declarations, live);
    }
    if problems.is_empty() { Ok(Some(declarations)) } else { Err(not_used_for(&problems)) }
}
