//! What a server's definitions were when they were believed, and what is held back because it is different.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};

use crate::edit::string;
use crate::memory::List;

/// What happens when a server changes or adds a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Pin {
    /// Nothing: what it says is believed.
    #[default]
    Off,
    /// It passes, and is noted.
    Warn,
    /// It is held back until the user has seen the difference.
    Block,
}

/// Definitions by their names, each as its hash ([`crate::hash`]).
pub type Hashes = BTreeMap<String, String>;

/// What was believed of a server; `None` where it has not been told yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Believed {
    /// Its tools.
    pub tools: Option<Hashes>,
    /// Its prompts.
    pub prompts: Option<Hashes>,
    /// The hash of its instructions; the inner is `None` where it gave none.
    pub instructions: Option<Option<String>>,
}

/// The kinds of definitions that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
}

impl Kind {
    /// What the definitions in a list are, where they are pinned.
    pub(crate) fn of(list: List) -> Option<Self> {
        match list {
            List::Tools => Some(Self::Tool),
            List::Prompts => Some(Self::Prompt),
            List::Resources | List::Templates => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
        }
    }
}

/// How a definition differs from what was believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    Added,
    Changed,
}

/// The pins of one server.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    pin: Pin,
    believed: Believed,
    /// What differs, as it was seen last.
    different: BTreeMap<(&'static str, String), Difference>,
}

impl Pins {
    pub(crate) fn new(pin: Pin, believed: Believed) -> Self {
        Self { pin, believed, different: BTreeMap::new() }
    }

    /// The user has believed more meanwhile.
    pub(crate) fn believe(&mut self, believed: Believed) {
        self.believed = believed;
        self.different.clear();
    }

    /// Whether a call has to wait until the tools were looked at.
    pub(crate) fn blocks_unseen(&self) -> bool {
        self.pin == Pin::Block
    }

    fn hashes(&self, kind: Kind) -> Option<&Hashes> {
        match kind {
            Kind::Tool => self.believed.tools.as_ref(),
            Kind::Prompt => self.believed.prompts.as_ref(),
        }
    }

    /// Looks at a definition: how it differs, the first time that it is seen so, and whether it is held back.
    pub(crate) fn look(&mut self, kind: Kind, name: &str, hash: &str) -> (Option<Difference>, bool) {
        let Some(believed) = self.hashes(kind).filter(|_| self.pin != Pin::Off) else { return (None, false) };
        let difference = match believed.get(name) {
            Some(known) if known == hash => None,
            Some(_) => Some(Difference::Changed),
            None => Some(Difference::Added),
        };
        let key = (kind.as_str(), name.to_string());
        let Some(difference) = difference else {
            self.different.remove(&key);
            return (None, false);
        };
        let is_new = self.different.insert(key, difference) != Some(difference);
        (is_new.then_some(difference), self.pin == Pin::Block)
    }

    /// Looks at instructions: whether they differ, and whether they are held back.
    pub(crate) fn look_at_instructions(&mut self, hash: Option<&str>) -> (Option<Difference>, bool) {
        let Some(believed) = self.believed.instructions.as_ref().filter(|_| self.pin != Pin::Off) else {
            return (None, false);
        };
        let difference = match (believed, hash) {
            // Nothing is no instruction.
            (_, None) => None,
            (Some(known), Some(hash)) if known == hash => None,
            (Some(_), Some(_)) => Some(Difference::Changed),
            (None, Some(_)) => Some(Difference::Added),
        };
        (difference, difference.is_some() && self.pin == Pin::Block)
    }

    /// A whole list was seen: what nobody has told of before is believed now, and without pins whatever is told.
    pub(crate) fn learn(&mut self, kind: Kind, seen: &Hashes) {
        let believed = match kind {
            Kind::Tool => &mut self.believed.tools,
            Kind::Prompt => &mut self.believed.prompts,
        };
        match believed {
            None => *believed = Some(seen.clone()),
            Some(believed) if self.pin == Pin::Off => {
                believed.extend(seen.iter().map(|(name, hash)| (name.clone(), hash.clone())));
            }
            Some(_) => {}
        }
    }

    /// The first instructions are believed.
    pub(crate) fn learn_instructions(&mut self, hash: Option<String>) {
        if self.believed.instructions.is_none() || self.pin == Pin::Off {
            self.believed.instructions = Some(hash);
        }
    }

    /// Why something of this name is held back, if it is. What is in no list was not believed either.
    pub(crate) fn reason(&self, kind: Kind, name: &str, server: &str) -> Option<String> {
        let believed = self.hashes(kind).filter(|_| self.pin == Pin::Block)?;
        let difference = match self.different.get(&(kind.as_str(), name.to_string())) {
            Some(difference) => *difference,
            None if believed.contains_key(name) => return None,
            None => Difference::Added,
        };
        Some(sentence(kind.as_str(), Some(name), difference, self.pin, server))
    }

    /// Whether definitions are looked at.
    pub(crate) fn are_on(&self) -> bool {
        self.pin != Pin::Off
    }

    /// Whether something was seen that is not believed.
    pub(crate) fn has_differences(&self) -> bool {
        !self.different.is_empty()
    }

    /// The word of a difference for people.
    pub(crate) fn told(
        &self,
        kind: Option<Kind>,
        name: Option<&str>,
        difference: Difference,
        server: &str,
    ) -> String {
        sentence(kind.map_or("instructions", Kind::as_str), name, difference, self.pin, server)
    }
}

fn sentence(what: &str, name: Option<&str>, difference: Difference, pin: Pin, server: &str) -> String {
    let subject = match name {
        Some(name) => format!("the {what} {} of {server}", string(name)),
        None => format!("what {server} tells the model of itself"),
    };
    let happened = match difference {
        Difference::Added => "is new",
        Difference::Changed => "has changed since it was first seen",
    };
    match pin {
        Pin::Block => format!(
            "{subject} {happened}, and is held back until the user has approved it: squire approve {server}"
        ),
        Pin::Off | Pin::Warn => format!("{subject} {happened}; squire approve {server} shows it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(of: &[(&str, &str)]) -> Hashes {
        of.iter().map(|(name, hash)| (name.to_string(), hash.to_string())).collect()
    }

    #[test]
    fn what_differs_is_told_once_and_held_back_where_it_is_blocked() {
        for (pin, holds) in [(Pin::Block, true), (Pin::Warn, false)] {
            let mut pins = Pins::new(pin, Believed::default());
            assert_eq!(pins.look(Kind::Tool, "a", "1"), (None, false));
            pins.learn(Kind::Tool, &hashes(&[("a", "1")]));
            assert_eq!(pins.look(Kind::Tool, "a", "1"), (None, false));
            assert_eq!(pins.look(Kind::Tool, "a", "2"), (Some(Difference::Changed), holds));
            assert_eq!(pins.look(Kind::Tool, "a", "2"), (None, holds));
            assert_eq!(pins.look(Kind::Tool, "b", "1"), (Some(Difference::Added), holds));
            assert_eq!(pins.reason(Kind::Tool, "a", "s").is_some(), holds);
            assert_eq!(pins.reason(Kind::Prompt, "a", "s"), None);
            pins.learn(Kind::Tool, &hashes(&[("a", "2")]));
            assert_eq!(pins.look(Kind::Tool, "a", "2"), (None, holds), "seen is not believed");
            pins.believe(Believed { tools: Some(hashes(&[("a", "2")])), ..Believed::default() });
            assert_eq!(pins.look(Kind::Tool, "a", "2"), (None, false));
            assert_eq!(pins.reason(Kind::Tool, "a", "s"), None);
        }
    }

    #[test]
    fn without_pins_whatever_is_told_is_believed() {
        let mut pins =
            Pins::new(Pin::Off, Believed { tools: Some(hashes(&[("a", "1")])), ..Believed::default() });
        assert_eq!(pins.look(Kind::Tool, "a", "2"), (None, false));
        pins.learn(Kind::Tool, &hashes(&[("a", "2")]));
        assert_eq!(pins.believed.tools, Some(hashes(&[("a", "2")])));
        assert!(!pins.blocks_unseen());
    }

    #[test]
    fn instructions_are_looked_at_too() {
        let mut pins = Pins::new(Pin::Block, Believed::default());
        assert_eq!(pins.look_at_instructions(Some("1")), (None, false));
        pins.learn_instructions(Some("1".into()));
        assert_eq!(pins.look_at_instructions(Some("1")), (None, false));
        assert_eq!(pins.look_at_instructions(Some("2")), (Some(Difference::Changed), true));
        assert_eq!(pins.look_at_instructions(None), (None, false));
    }

    #[test]
    fn the_reason_names_the_way_out() {
        let mut pins = Pins::new(Pin::Block, Believed { tools: Some(Hashes::new()), ..Believed::default() });
        pins.look(Kind::Tool, "a\"b", "1");
        assert_eq!(
            pins.reason(Kind::Tool, "a\"b", "docs").unwrap(),
            r#"the tool "a\"b" of docs is new, and is held back until the user has approved it: squire approve docs"#
        );
    }
}
