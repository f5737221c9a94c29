//! The key of the audit's digests: made once for a state directory, and never shown.

use std::io;
use std::path::Path;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::DIRECTORY;
use crate::files::{self, Lock};

/// Its name in the state directory.
pub(crate) const FILE: &str = "audit.key";
const LENGTH: usize = 32;
/// How long another gateway may take to make it.
const PATIENCE: Duration = Duration::from_secs(1);
/// What a digest begins with: no JSON text does.
pub(super) const PREFIX: &str = "hmac-sha256:";

/// Arguments are short and guessable: a digest without a key would tell them to whoever tries a few.
pub(super) struct Key(Zeroizing<Vec<u8>>);

impl Key {
    /// The key of a state directory, made where there is none.
    pub(super) fn of(state: &Path) -> io::Result<Self> {
        if let Some(key) = Self::read(state)? {
            return Ok(key);
        }
        let lock = Lock::take(&state.join(DIRECTORY), "key.lock", PATIENCE)?;
        if lock.is_none() {
            return Err(io::Error::other("another process holds its lock"));
        }
        // Another gateway may have made it meanwhile.
        if let Some(key) = Self::read(state)? {
            return Ok(key);
        }
        let bytes = files::random::<LENGTH>()?;
        files::write_lasting(state, FILE, &format!(".{FILE}.new"), &*bytes)?;
        Ok(Self(Zeroizing::new(bytes.to_vec())))
    }

    fn read(state: &Path) -> io::Result<Option<Self>> {
        match files::read_secret(&state.join(FILE), files::LIMIT)? {
            Some(bytes) if bytes.len() == LENGTH => Ok(Some(Self(bytes))),
            Some(_) => Err(io::Error::other("it is no key of 32 bytes")),
            None => Ok(None),
        }
    }

    /// Names a text so that the same is known again, and nobody without the key learns more.
    pub(super) fn digest(&self, text: &str) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            return String::new(); // It takes a key of any length.
        };
        mac.update(text.as_bytes());
        format!("{PREFIX}{}", files::hexadecimal(&mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn it_is_the_hmac_of_the_standard() {
        let key = Key(Zeroizing::new(b"Jefe".to_vec()));
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(key.digest("what do ya want for nothing?"), format!("{PREFIX}{expected}"));
    }
}
