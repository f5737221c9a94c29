//! What a file of another tool holds, whatever its language: values that know where they stand.

mod json;
mod toml;
mod yaml;

use serde_json::{Map, Number, Value as Json};

pub(super) use json::read as read_json;
pub(super) use toml::read as read_toml;
pub(super) use yaml::read as read_yaml;

use crate::config::Place;

/// What nests deeper is no file of settings.
const DEEPEST: usize = 128;

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The value.
    pub node: Node,
    /// Where it begins.
    pub place: Place,
}

/// A value, as JSON has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number, as it is written.
    Number(String),
    /// A string.
    Text(String),
    /// Values in a row.
    List(Vec<Tree>),
    /// Names with values, in the order of the file. A name may come twice until somebody looks.
    Table(Vec<Member>),
}

/// A name with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The name.
    pub key: String,
    /// Where the name begins.
    pub place: Place,
    /// The value.
    pub value: Tree,
}

/// Why a file, or one entry of it, can't be taken. No value of the file is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Where it is wrong.
    pub place: Place,
    /// What is wrong, and what was expected.
    pub reason: String,
}

impl Unread {
    pub(super) fn at(place: Place, reason: impl Into<String>) -> Self {
        Self { place, reason: reason.into() }
    }
}

impl Tree {
    /// The members of a table; none of anything else.
    pub fn members(&self) -> &[Member] {
        match &self.node {
            Node::Table(members) => members,
            Node::Null | Node::Flag(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => &[],
        }
    }

    /// The values of a list; none of anything else.
    pub fn items(&self) -> &[Tree] {
        match &self.node {
            Node::List(items) => items,
            Node::Null | Node::Flag(_) | Node::Number(_) | Node::Text(_) | Node::Table(_) => &[],
        }
    }

    /// The string, where it is one.
    pub fn text(&self) -> Option<&str> {
        if let Node::Text(text) = &self.node { Some(text) } else { None }
    }

    /// The switch, where it is one.
    pub fn flag(&self) -> Option<bool> {
        if let Node::Flag(flag) = self.node { Some(flag) } else { None }
    }

    /// The member of a name; of several the last, as most readers take it.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        self.members().iter().rfind(|member| member.key == key).map(|member| &member.value)
    }

    /// The strings of a list.
    pub fn texts(&self) -> Vec<&str> {
        self.items().iter().filter_map(Tree::text).collect()
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.node, Node::Table(_))
    }

    /// Refuses a name that comes twice, here or below: which of the two counts differs from reader to reader.
    pub(super) fn refuse_twice(&self) -> Result<(), Unread> {
        for (index, member) in self.members().iter().enumerate() {
            let earlier = self.members()[..index].iter().find(|earlier| earlier.key == member.key);
            if let Some(earlier) = earlier {
                let line = earlier.place.line;
                let reason = format!("{:?} is in line {line} already: take one of the two out", member.key);
                return Err(Unread::at(member.place, reason));
            }
            member.value.refuse_twice()?;
        }
        self.items().iter().try_for_each(Tree::refuse_twice)
    }

    /// The value without its places.
    pub fn json(&self) -> Json {
        match &self.node {
            Node::Null => Json::Null,
            Node::Flag(flag) => Json::Bool(*flag),
            Node::Number(written) => {
                written.parse::<Number>().map_or_else(|_| written.as_str().into(), Json::Number)
            }
            Node::Text(text) => Json::String(text.clone()),
            Node::List(items) => items.iter().map(Tree::json).collect(),
            Node::Table(members) => {
                Json::Object(members.iter().map(|member| (member.key.clone(), member.value.json())).collect())
            }
        }
    }

    /// A value that stands nowhere.
    pub(super) fn of_json(json: &Json) -> Self {
        let node = match json {
            Json::Null => Node::Null,
            Json::Bool(flag) => Node::Flag(*flag),
            Json::Number(number) => Node::Number(number.to_string()),
            Json::String(text) => Node::Text(text.clone()),
            Json::Array(items) => Node::List(items.iter().map(Self::of_json).collect()),
            Json::Object(members) => Node::Table(members_of(members)),
        };
        Self { node, place: NOWHERE }
    }
}

/// The place of what stands in no file.
pub(super) const NOWHERE: Place = Place { line: 0, column: 0 };

/// The members of an object, which stand nowhere.
pub(super) fn members_of(object: &Map<String, Json>) -> Vec<Member> {
    let member = |(key, value): (&String, &Json)| Member {
        key: key.clone(),
        place: NOWHERE,
        value: Tree::of_json(value),
    };
    object.iter().map(member).collect()
}

/// The text of a file: UTF-8, without the mark that some editors put before it (case B16).
pub(super) fn text_of(bytes: &[u8]) -> Result<&str, Unread> {
    crate::config::decode(bytes).map_err(|(place, reason)| Unread { place, reason })
}
