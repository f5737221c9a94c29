//! The words of a gateway's entry, read by themselves.
//!
//! An agent starts a gateway for every server, and an entry has one form, while reading it as any command line would be
//! a seventh of all that a gateway executes. What does not stand exactly as squire writes it is left to clap, which says
//! what is wrong with it.

use std::ffi::{OsStr, OsString};

use super::Gateway;

/// The gateway of the words behind the program's own.
pub(crate) fn gateway(words: &[OsString]) -> Option<Gateway> {
    let [subcommand, name, options @ ..] = words else { return None };
    if subcommand != "gateway" {
        return None;
    }
    let [mut agent, mut project, mut declared_in, mut config, mut state] = [None; 5];
    let mut profiles = Vec::new();
    for option in options.chunks(2) {
        let [option, given] = option else { return None };
        let given = value(given)?;
        let earlier = match option.to_str()? {
            "--agent" => agent.replace(given),
            "--project" => project.replace(given),
            "--declared-in" => declared_in.replace(given),
            "--config" => config.replace(given),
            "--state" => state.replace(given),
            "--profile" => {
                profiles.push(given.to_str()?.to_owned());
                None
            }
            _ => return None,
        };
        if earlier.is_some() {
            return None;
        }
    }
    if declared_in.is_some() && project.is_none() {
        return None;
    }
    Some(Gateway {
        name: value(name)?.to_str()?.to_owned(),
        agent: agent?.to_str()?.to_owned(),
        project: project.map(Into::into),
        declared_in: declared_in.map(Into::into),
        profiles,
        config: config?.into(),
        state: state?.into(),
        candid: false,
        whole: false,
        trial: None,
    })
}

/// A word that no option's name could be meant by.
fn value(word: &OsStr) -> Option<&OsStr> {
    let first = word.as_encoded_bytes().first()?;
    (*first != b'-').then_some(word)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use clap::Parser;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::{Cli, Command};
    use super::*;

    fn word() -> impl Strategy<Value = OsString> {
        let known = ["--agent", "--project", "--declared-in", "--config", "--state", "--profile", "--candid"];
        let others = ["--", "-", "", "-h", "--help", "--config=c", "a", "/d", "gateway"];
        prop_oneof![
            8 => select(known.to_vec()).prop_map(OsString::from),
            8 => "[a-z/]{1,3}".prop_map(OsString::from),
            1 => select(others.to_vec()).prop_map(OsString::from),
            1 => Just(OsString::from_vec(vec![b'a', 0xff])),
        ]
    }

    /// An entry, some of whose words may be another's.
    fn words() -> impl Strategy<Value = Vec<OsString>> {
        let entry = ["gateway", "a", "--agent", "claude", "--project", "/p", "--declared-in", "/p/d"];
        let rest = ["--profile", "x", "--profile", "y", "--config", "/c", "--state", "/s"];
        let entry: Vec<OsString> = entry.into_iter().chain(rest).map(OsString::from).collect();
        let changes = proptest::collection::vec((any::<prop::sample::Index>(), word(), 0..3), 0..3);
        changes.prop_map(move |changes| {
            let mut words = entry.clone();
            for (place, word, change) in changes {
                let place = place.index(words.len());
                match change {
                    0 => words[place] = word,
                    1 => words.insert(place, word),
                    _ => drop(words.remove(place)),
                }
            }
            words
        })
    }

    fn by_clap(words: &[OsString]) -> Option<Gateway> {
        let program = OsString::from("squire");
        match Cli::try_parse_from([&program].into_iter().chain(words)).ok()?.command {
            Command::Gateway(gateway) => Some(gateway),
            _ => None,
        }
    }

    #[test]
    fn the_entries_of_all_strategies_are_read() {
        let of = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        for words in [
            of(&["gateway", "a", "--agent", "claude", "--config", "/c", "--state", "/s"]),
            of(&["gateway", "switched.off", "--agent", "claude", "--config", "/c", "--state", "/s"]),
            of(&["gateway", "a", "--agent", "x", "--project", "/p", "--config", "/c", "--state", "/s"]),
        ] {
            assert_eq!(format!("{:?}", gateway(&words)), format!("{:?}", by_clap(&words)));
            assert!(gateway(&words).is_some(), "{words:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_read_as_by_clap(words in words()) {
            if let Some(gateway) = gateway(&words) {
                prop_assert_eq!(format!("{gateway:?}"), format!("{:?}", by_clap(&words).expect("clap refuses it")));
            }
        }
    }
}
