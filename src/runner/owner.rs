//! Whether the process that something belongs to still lives: pid, start time and boot, as a pid alone is used again.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::files;

/// One process of one boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    pub(super) pid: i32,
    /// When it began, in clock ticks since the boot; `None` where the system does not tell.
    started: Option<u64>,
    boot: Option<String>,
}

impl Owner {
    /// This process.
    pub(super) fn this() -> Self {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        Self { pid, started: started(pid), boot: boot() }
    }

    /// Whether it lives as far as `now` tells. Where the system does not tell which processes live (no proc), all do.
    pub(super) fn is_alive(&self, now: &Now) -> bool {
        let Some(boot) = &now.boot else { return true };
        self.boot.as_ref() == Some(boot) && self.started.is_some() && started(self.pid) == self.started
    }

    /// A name that no other living process makes for its own files.
    pub(super) fn temporary(&self, name: &str) -> String {
        format!(".{name}.{}-{}.new", self.pid, self.started.unwrap_or_default())
    }

    /// Whether a name was made by [`Self::temporary`] of a process that is gone.
    pub(super) fn is_left_behind(temporary: &str) -> bool {
        let maker = temporary.strip_prefix('.').and_then(|name| name.strip_suffix(".new"));
        let maker = maker.and_then(|name| name.rsplit_once('.')).and_then(|(_, maker)| maker.split_once('-'));
        let parsed = maker.and_then(|(pid, began)| Some((pid.parse().ok()?, began.parse::<u64>().ok()?)));
        parsed.is_some_and(|(pid, began)| boot().is_some() && started(pid) != Some(began))
    }
}

/// What is asked once for many owners.
pub(super) struct Now {
    boot: Option<String>,
}

impl Now {
    pub(super) fn look() -> Self {
        Self { boot: boot() }
    }
}

/// When a process began; field 22 of proc(5)'s stat, behind the name in parentheses. A zombie has ended.
fn started(pid: i32) -> Option<u64> {
    let stat = files::read_of_user(format!("/proc/{pid}/stat").as_ref()).ok().flatten()?;
    let stat = String::from_utf8_lossy(&stat).into_owned();
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    (state != "Z").then(|| fields.nth(18)?.parse().ok()).flatten()
}

fn boot() -> Option<String> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    BOOT.get_or_init(read_boot).clone()
}

fn read_boot() -> Option<String> {
    let id = files::read_of_user("/proc/sys/kernel/random/boot_id".as_ref()).ok().flatten()?;
    Some(String::from_utf8_lossy(&id).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b29_a_pid_that_is_used_again_is_another_process() {
        let this = Owner::this();
        let now = Now::look();
        assert!(this.is_alive(&now));
        let earlier = Owner { started: this.started.map(|began| began - 1), ..this.clone() };
        assert!(!earlier.is_alive(&now));
        assert!(!Owner { boot: Some("another".into()), ..this.clone() }.is_alive(&now));
        assert!(!Owner { pid: i32::MAX, ..this }.is_alive(&now));
    }

    #[test]
    fn without_proc_everything_lives() {
        let gone = Owner { pid: i32::MAX, started: Some(1), boot: None };
        assert!(gone.is_alive(&Now { boot: None }));
    }

    #[test]
    fn b29_a_temporary_name_tells_its_maker() {
        let this = Owner::this();
        assert!(!Owner::is_left_behind(&this.temporary("abc.json")));
        let gone = Owner { pid: i32::MAX, started: Some(1), boot: None };
        assert!(Owner::is_left_behind(&gone.temporary("abc.json")));
        assert!(!Owner::is_left_behind("abc.json"));
        assert!(!Owner::is_left_behind(".abc.new"));
    }
}
