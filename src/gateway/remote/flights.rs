//! The requests that are not answered yet.

use std::cell::RefCell;
use std::collections::HashMap;

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::outgoing::{Key, Outgoing};

/// The request that stays open for as long as the agent wants to hear of changes.
pub(super) const LISTEN: &str = "subscriptions/listen";

/// The requests that are not answered yet.
#[derive(Default)]
pub(super) struct Flights {
    held: RefCell<HashMap<Key, Flight>>,
    landed: Notify,
}

struct Flight {
    task: AbortHandle,
    is_modern: bool,
    listens: bool,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    /// It waits for its turn.
    Held,
    Sent,
    /// Nobody waits for its answer any more.
    Cancelled,
}

impl Flights {
    pub(super) fn begin(&self, key: Key, outgoing: &Outgoing, task: AbortHandle) {
        let listens = outgoing.method == LISTEN;
        let is_modern = outgoing.is_modern();
        let flight = Flight { task, is_modern, listens, state: State::Held };
        self.held.borrow_mut().insert(key, flight);
    }

    /// The request is on its way.
    pub(super) fn sent(&self, key: &Key) {
        if let Some(flight) = self.held.borrow_mut().get_mut(key) {
            flight.state = State::Sent;
        }
    }

    /// The request is over; true where nobody waits for its answer, or has had it.
    pub(super) fn land(&self, key: &Key) -> bool {
        let flight = self.held.borrow_mut().remove(key);
        self.landed.notify_waiters();
        flight.is_none_or(|flight| flight.state == State::Cancelled)
    }

    /// Nobody waits for the answer any more; true where the server still has to be told. Closing the reply tells it
    /// since revision 2026-07-28 (streamable HTTP, cancellation).
    pub(super) fn cancel(&self, key: &Key) -> bool {
        let mut held = self.held.borrow_mut();
        let Some(flight) = held.get_mut(key) else { return true };
        if flight.state != State::Held && !flight.is_modern {
            flight.state = State::Cancelled;
            return true;
        }
        flight.task.abort();
        held.remove(key);
        self.landed.notify_waiters();
        false
    }

    /// Gives a cancelled request up, unless its id means another one by now.
    pub(super) fn forget(&self, key: &Key) {
        let mut held = self.held.borrow_mut();
        if held.get(key).is_some_and(|flight| flight.state == State::Cancelled)
            && let Some(flight) = held.remove(key)
        {
            flight.task.abort();
            self.landed.notify_waiters();
        }
    }

    /// Ends what only waits for news, or for an answer that nobody wants.
    pub(super) fn end_idle(&self) {
        self.held.borrow_mut().retain(|_, flight| {
            let is_idle = flight.listens || flight.state == State::Cancelled;
            if is_idle {
                flight.task.abort();
            }
            !is_idle
        });
    }

    /// Waits until every request is answered.
    pub(super) async fn emptied(&self) {
        while !self.held.borrow().is_empty() {
            self.landed.notified().await;
        }
    }
}
