//! What an agent has set up in its session, for a server that has forgotten it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use crate::message::Key;

/// A request that changes what the server says by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    what: What,
    request: Request,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// `logging/setLevel`.
    Level,
    /// `resources/subscribe` to this address.
    Subscribe(String),
    /// `resources/unsubscribe`.
    Unsubscribe(String),
}

/// A request as the agent wrote it. It is answered, so that its id is free again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) id: String,
    pub(crate) key: Key,
    pub(crate) line: Vec<u8>,
}

impl Setting {
    /// The setting that a request of this method makes, if any.
    pub(crate) fn of(
        method: &str,
        uri: Option<&RawValue>,
        request: impl FnOnce() -> Request,
    ) -> Option<Self> {
        let uri = || uri.and_then(|uri| serde_json::from_str::<String>(uri.get()).ok());
        let what = match method {
            "logging/setLevel" => What::Level,
            "resources/subscribe" => What::Subscribe(uri()?),
            "resources/unsubscribe" => What::Unsubscribe(uri()?),
            _ => return None,
        };
        Some(Self { what, request: request() })
    }
}

/// All that is set.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    level: Option<Request>,
    subscriptions: BTreeMap<String, Request>,
}

impl Settings {
    /// The server has taken it.
    pub(crate) fn keep(&mut self, setting: Setting) {
        match setting.what {
            What::Level => self.level = Some(setting.request),
            What::Subscribe(uri) => {
                self.subscriptions.insert(uri, setting.request);
            }
            What::Unsubscribe(uri) => {
                self.subscriptions.remove(&uri);
            }
        }
    }

    /// The requests that bring it all back.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &Request> {
        self.level.iter().chain(self.subscriptions.values())
    }

    /// A new session begins.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
