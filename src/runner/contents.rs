//! Fetches what a strategy must see: nothing else of an agent is read.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use squire_strategies::{Base, Content, Read};

use crate::environment::Environment;
use crate::files::{self, ProjectFile};

/// What exists of the things asked for, in their order; a file that can't be read has its reason.
pub fn fetch(reads: &[Read], environment: &Environment, directory: &Path) -> Vec<Content> {
    reads.iter().flat_map(|read| fetch_one(*read, environment, directory)).collect()
}

/// What a project has elsewhere of the things asked for, beyond what was found: in these directories and in every one
/// above them.
pub fn fetch_elsewhere(
    reads: &[Read],
    found: &[Content],
    environment: &Environment,
    directories: &[PathBuf],
) -> Vec<Content> {
    let is_upward = |read: &Read| matches!(read, Read::Upward(_));
    let mut more: Vec<Content> = Vec::new();
    for directory in directories {
        for read in reads.iter().copied().filter(is_upward) {
            for content in fetch_one(read, environment, directory) {
                let is_it = |known: &Content| files::same_file(known.place.as_ref(), content.place.as_ref());
                if !found.iter().chain(&more).any(is_it) {
                    more.push(content);
                }
            }
        }
    }
    more
}

/// The directories that an agent may walk up from, where words or PWD name another one than it is started in: as they are
/// written, and as they are.
pub fn elsewhere(words: &[&[u8]], environment: &Environment, directory: &Path) -> Vec<PathBuf> {
    let named = environment.get("PWD").map(PathBuf::from).filter(|named| named.is_absolute());
    let bases: Vec<&Path> = named.as_deref().into_iter().chain([directory]).collect();
    let of_words = words.iter().flat_map(|word| bases.iter().map(|base| base.join(OsStr::from_bytes(word))));
    let mut directories: Vec<PathBuf> = Vec::new();
    for path in of_words.chain(named.clone()) {
        let Ok(real) = path.canonicalize() else { continue };
        for candidate in [files::plain(&path), real] {
            if candidate.is_dir() && candidate != directory && !directories.contains(&candidate) {
                directories.push(candidate);
            }
        }
    }
    directories
}

fn fetch_one(read: Read, environment: &Environment, directory: &Path) -> Vec<Content> {
    let paths: Vec<PathBuf> = match read {
        Read::Variable(name) => {
            let value = environment.get(name).map(|value| value.as_bytes().to_vec());
            return value
                .into_iter()
                .map(|bytes| Content { read, place: name.into(), bytes: Ok(bytes) })
                .collect();
        }
        Read::UserFile(base, file) => {
            base_directory(base, environment).map(|base| base.join(file)).into_iter().collect()
        }
        Read::FileNamedBy(name) => {
            environment.get(name).map(|path| directory.join(path)).into_iter().collect()
        }
        Read::Merged(file) => {
            let place = directory.join(file).display().to_string();
            let bytes = merged(file, environment, directory).transpose();
            return bytes.into_iter().map(|bytes| Content { read, place: place.clone(), bytes }).collect();
        }
        Read::Upward(file) => {
            let paths = directory.ancestors().map(|ancestor| ancestor.join(file));
            return paths.filter_map(|path| content(read, &path, files::read_of_repository(&path))).collect();
        }
    };
    paths.iter().filter_map(|path| content(read, path, files::read_of_agent(path))).collect()
}

/// What a launch finds in the file that it merges into; `None` where it would make one.
fn merged(file: &str, environment: &Environment, directory: &Path) -> Result<Option<Vec<u8>>, String> {
    if environment.home().is_some_and(|home| files::same_file(&home, directory)) {
        return Err(format!("the working directory is the home directory, whose {file} is the agent's own"));
    }
    // Nothing is made to look, so nothing needs a name of its own.
    let held = ProjectFile::open(directory, file, "").and_then(|file| file.read());
    held.map(|held| held.map(|held| held.bytes)).map_err(|error| error.to_string())
}

fn content(read: Read, path: &Path, found: io::Result<Option<Vec<u8>>>) -> Option<Content> {
    let bytes = match found {
        Ok(found) => Ok(found?),
        Err(error) => Err(error.to_string()),
    };
    Some(Content { read, place: path.display().to_string(), bytes })
}

fn base_directory(base: Base, environment: &Environment) -> Option<PathBuf> {
    match base {
        Base::Home => environment.home(),
        Base::Named(name) => environment.get(name).map(PathBuf::from),
        Base::Variable(name, below_home) => {
            let named = environment.get(name).map(PathBuf::from);
            named.or_else(|| environment.home().map(|home| home.join(below_home)))
        }
    }
}
