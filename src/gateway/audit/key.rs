//! The key of the audit's digests: made once for a state directory, and never shown.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use squire_relay::Sealed;
use zeroize::Zeroizing;

use super::DIRECTORY;
use crate::files::{self, Lock};
use crate::output::Output;

/// Its name in the state directory.
pub(crate) const FILE: &str = "audit.key";
const LENGTH: usize = 32;
/// How long another gateway may take to make it.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is kept of arguments that are not kept themselves. Its key is looked for with the first of them: a gateway that is
/// asked nothing leaves nothing.
pub(super) struct Digests {
    state: PathBuf,
    /// Whose arguments they are.
    server: String,
    key: OnceLock<Option<Key>>,
}

impl Digests {
    pub(super) fn new(state: &Path, server: &str) -> Self {
        Self { state: state.to_path_buf(), server: server.to_owned(), key: OnceLock::new() }
    }

    /// The digest of arguments. What hinders the key is said once, and costs the digests alone.
    pub(super) fn of(&self, arguments: &str) -> Option<Sealed> {
        let key = self.key.get_or_init(|| Key::of(&self.state).map_err(|error| self.say(&error)).ok());
        key.as_ref().map(|key| Sealed::Digest(key.digest(arguments)))
    }

    fn say(&self, error: &io::Error) {
        let (server, path) = (&self.server, self.state.join(FILE));
        let path = path.display();
        Output::default()
            .message(&format!("{server}: {path} can't be used: {error}; the audit has no digests"));
    }
}

/// Arguments are short and guessable: a digest without a key would tell them to whoever tries a few. What the key alone
/// decides is computed once.
pub(super) struct Key(Hmac<Sha256>);

impl Key {
    /// The key of a state directory, made where there is none.
    pub(super) fn of(state: &Path) -> io::Result<Self> {
        // The state directory itself may be reached by a link.
        let state = &files::real_path_of_existing_part(state);
        if let Some(bytes) = Self::read(state)? {
            return Self::new(&bytes);
        }
        let lock = Lock::take(&state.join(DIRECTORY), "key.lock", PATIENCE)?;
        if lock.is_none() {
            return Err(io::Error::other("another process holds its lock"));
        }
        // Another gateway may have made it meanwhile.
        if let Some(bytes) = Self::read(state)? {
            return Self::new(&bytes);
        }
        let bytes = files::random::<LENGTH>()?;
        files::write_lasting(state, FILE, &format!(".{FILE}.new"), &*bytes)?;
        Self::new(&*bytes)
    }

    /// Whether the key of a state directory can be used, where there is one.
    pub(super) fn look(state: &Path) -> io::Result<()> {
        Self::read(state).map(drop)
    }

    fn new(bytes: &[u8]) -> io::Result<Self> {
        Hmac::new_from_slice(bytes).map(Self).map_err(io::Error::other)
    }

    fn read(state: &Path) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        match files::read_secret(&state.join(FILE), files::LIMIT)? {
            Some(bytes) if bytes.len() == LENGTH => Ok(Some(bytes)),
            Some(_) => Err(io::Error::other("it is no key of 32 bytes")),
            None => Ok(None),
        }
    }

    /// Names a text so that the same is known again, and nobody without the key learns more.
    pub(super) fn digest(&self, text: &str) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn it_is_the_hmac_of_the_standard() {
        let key = Key::new(b"Jefe").unwrap();
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(files::hexadecimal(&key.digest("what do ya want for nothing?")), expected);
    }
}
