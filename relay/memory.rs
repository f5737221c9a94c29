//! What a server has told before: its greeting and its lists, to answer an agent with before it runs.
//!
//! It is kept by who asked, as a server may answer agents of other abilities otherwise: the asker is a hash of all that
//! an agent says of itself.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::canonical::{canonical, digest, hash};
use crate::edit::Members;
use crate::message::Text;
use crate::pins::Hashes;

/// A list with more bytes than this is not kept.
const LARGEST: usize = 4 * 1024 * 1024;

/// A list that a server can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
}

impl List {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The method that asks for it.
    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    /// The list that a method asks for.
    pub fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.method() == method)
    }

    /// The member of a page that holds its items.
    pub(crate) fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// What `notifications/…/list_changed` calls it.
    pub(crate) fn changing(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
        }
    }
}

/// A page of a list: the cursor that asks for it, and the result that it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// `None` for the first.
    pub cursor: Option<String>,
    /// The `result`, as the server wrote it.
    pub result: String,
}

/// What one asker was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The result of `initialize` or `server/discover`.
    pub greeting: Option<String>,
    /// Whole lists.
    pub lists: BTreeMap<List, Vec<Page>>,
    /// Lists that had shrunk by half, each as the hash of what it was then: believed where they come again.
    pub doubted: BTreeMap<List, String>,
}

/// What askers were told, by their hashes.
pub type Memory = BTreeMap<String, Told>;

/// Something that a server has told, and that is not what it told before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Learned {
    /// A greeting.
    Greeting {
        /// Whom it told it.
        asker: String,
        /// The `result`.
        result: String,
    },
    /// A whole list.
    List {
        /// Whom it told it.
        asker: String,
        /// Which.
        list: List,
        /// Its pages in their order.
        pages: Vec<Page>,
    },
    /// A list that is not believed yet, as it has shrunk by half.
    Doubted {
        /// Whom it told it.
        asker: String,
        /// Which.
        list: List,
        /// The hash of what it is.
        hash: String,
    },
}

impl Learned {
    /// What the server wrote.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Greeting { result, .. } => Vec::from([result.as_str()]),
            Self::List { pages, .. } => pages.iter().map(|page| page.result.as_str()).collect(),
            Self::Doubted { .. } => Vec::new(),
        }
    }
}

/// What becomes of a list that was told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Same,
    New,
    Doubted,
}

impl Told {
    /// The page of a list that is known whole.
    pub(crate) fn page(&self, list: List, cursor: Option<&str>) -> Option<&str> {
        let pages = self.lists.get(&list)?;
        pages.iter().find(|page| page.cursor.as_deref() == cursor).map(|page| page.result.as_str())
    }

    /// Takes a whole list in, unless it has shrunk too much to be believed at once.
    pub(crate) fn learn(&mut self, list: List, pages: &[Page]) -> (Verdict, String) {
        let (now, now_count) = fingerprint(list, pages);
        if pages.iter().map(|page| page.result.len()).sum::<usize>() > LARGEST {
            return (Verdict::Same, now);
        }
        if let Some(known) = self.lists.get(&list) {
            let (before, count) = fingerprint(list, known);
            if before == now {
                self.doubted.remove(&list);
                return (Verdict::Same, now);
            }
            if now_count * 2 < count && self.doubted.get(&list) != Some(&now) {
                self.doubted.insert(list, now.clone());
                return (Verdict::Doubted, now);
            }
        }
        self.doubted.remove(&list);
        self.lists.insert(list, pages.to_vec());
        (Verdict::New, now)
    }
}

/// A hash of what is in a list, in whatever order and on whatever pages, and how much that is.
fn fingerprint(list: List, pages: &[Page]) -> (String, usize) {
    let mut hashes: Vec<String> = pages.iter().flat_map(|page| items(list, &page.result)).map(hash).collect();
    hashes.sort();
    (digest(&hashes.join("\n")), hashes.len())
}

/// The items on a page.
pub(crate) fn items(list: List, result: &str) -> Vec<&RawValue> {
    let members = Members::read(result);
    let items = members.and_then(|members| members.get(list.member()));
    items.and_then(|items| serde_json::from_str(items.get()).ok()).unwrap_or_default()
}

/// A definition of a tool or prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its hash.
    pub hash: String,
    /// The definition, as the server wrote it.
    pub text: String,
}

/// The definitions in a list, those without a name that can be told for sure left out; of two of one name the last.
pub fn definitions(list: List, pages: &[Page]) -> Vec<Definition> {
    let mut found: BTreeMap<String, Definition> = BTreeMap::new();
    for item in pages.iter().flat_map(|page| items(list, &page.result)) {
        if let Some(name) = name_of(item) {
            let (hash, text) = (hash(item), item.get().to_string());
            found.insert(name.clone(), Definition { name, hash, text });
        }
    }
    found.into_values().collect()
}

pub(crate) fn hashes(list: List, pages: &[Page]) -> Hashes {
    definitions(list, pages).into_iter().map(|definition| (definition.name, definition.hash)).collect()
}

/// The instructions of a greeting.
pub fn instructions(greeting: &str) -> Option<String> {
    let members = Members::read(greeting)?;
    serde_json::from_str(members.get("instructions")?.get()).ok()
}

/// The hash of instructions.
pub fn hash_of_instructions(instructions: &str) -> String {
    digest(instructions)
}

pub(crate) fn name_of(item: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: Text<'a>,
    }
    serde_json::from_str::<Named<'_>>(item.get()).ok().map(|named| named.name.0.into_owned())
}

/// The cursor that a page names for the next one.
pub(crate) fn next_cursor(result: &str) -> Option<String> {
    let members = Members::read(result)?;
    cursor(members.get("nextCursor"))
}

/// A cursor as it is compared: case B10 has servers whose last page names an empty one.
pub(crate) fn cursor(raw: Option<&RawValue>) -> Option<String> {
    let raw = raw.map(RawValue::get).filter(|raw| *raw != "null")?;
    Some(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_string()))
}

/// Who asks, from all that it says of itself.
pub(crate) fn asker<'a>(says: impl IntoIterator<Item = Option<&'a RawValue>>) -> String {
    let words: Vec<String> = says.into_iter().map(|raw| raw.map(canonical).unwrap_or_default()).collect();
    digest(&words.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn page(cursor: Option<&str>, names: &[&str], next: &str) -> Page {
        let tools: Vec<String> = names.iter().map(|name| format!("{{\"name\":\"{name}\"}}")).collect();
        let next = if next.is_empty() { String::new() } else { format!(",\"nextCursor\":\"{next}\"") };
        Page { cursor: cursor.map(Into::into), result: format!("{{\"tools\":[{}]{next}}}", tools.join(",")) }
    }

    #[test]
    fn a_list_is_the_same_on_other_pages_and_in_another_order() {
        let mut told = Told::default();
        let one = [page(None, &["a", "b"], "2"), page(Some("2"), &["c"], "")];
        assert_eq!(told.learn(List::Tools, &one).0, Verdict::New);
        assert_eq!(told.learn(List::Tools, &one).0, Verdict::Same);
        assert_eq!(told.learn(List::Tools, &[page(None, &["c", "b", "a"], "")]).0, Verdict::Same);
        assert_eq!(told.page(List::Tools, Some("2")), Some(r#"{"tools":[{"name":"c"}]}"#));
        assert_eq!(told.page(List::Tools, Some("3")), None);
        assert_eq!(told.page(List::Prompts, None), None);
    }

    #[test]
    fn a_list_that_shrinks_by_half_is_believed_when_it_comes_again() {
        let mut told = Told::default();
        told.learn(List::Tools, &[page(None, &["a", "b", "c"], "")]);
        let fewer = [page(None, &["a"], "")];
        assert_eq!(told.learn(List::Tools, &fewer).0, Verdict::Doubted);
        assert_eq!(told.learn(List::Tools, &[page(None, &["b"], "")]).0, Verdict::Doubted, "another one");
        assert_eq!(told.learn(List::Tools, &fewer).0, Verdict::Doubted);
        assert_eq!(told.learn(List::Tools, &fewer).0, Verdict::New);
        told.learn(List::Tools, &[page(None, &["a", "b"], "")]);
        assert_eq!(told.learn(List::Tools, &fewer).0, Verdict::New, "half is not less than half");
    }

    #[test]
    fn definitions_have_names() {
        let result = r#"{"tools":[{"name":"a","x":1},{"name":"a","x":2},{"x":3},{"name":"b","name":"c"},7]}"#;
        let found = definitions(List::Tools, &[Page { cursor: None, result: result.into() }]);
        let shown: Vec<_> = found.iter().map(|found| (found.name.as_str(), found.text.as_str())).collect();
        assert_eq!(shown, [("a", r#"{"name":"a","x":2}"#)]);
        assert_eq!(instructions(r#"{"instructions":"\u0061"}"#).as_deref(), Some("a"));
        assert_eq!(instructions("{}"), None);
    }
}
