//! What a file of another tool declares, before anything is translated.

use squire_strategies::Text;
use zeroize::Zeroizing;

use super::dialect::Dialect;
use super::tree::{Member, Node, Tree, Unread};
use super::{Context, Remark, Translated, entry};
use crate::config::Place;
use crate::secrets::{NewSource, Value};

/// Whose a declaration is, in the words of the tools themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The user's, everywhere.
    User,
    /// The repository's.
    Project,
    /// The user's own, for one project.
    Local,
}

impl Scope {
    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// One entry of a file.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// What it is called there.
    pub name: String,
    /// Where its name begins.
    pub place: Place,
    /// Whose it is, where the file itself says so; else the file's.
    pub scope: Option<Scope>,
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// Its fields.
    pub(super) entry: Vec<Member>,
    pub(super) dialect: &'static Dialect,
    /// Whether it only changes fields of one that another file of the tool declares.
    pub amends: bool,
    /// What is to be said of it beside its fields.
    pub remarks: Vec<Remark>,
}

impl Foreign {
    pub(super) fn new(member: &Member, path: &[&str], dialect: &'static Dialect) -> Result<Self, Unread> {
        if !member.value.is_table() {
            let reason = format!("{:?} is no entry of a server: it wants `command` or `url`", member.key);
            return Err(Unread { place: member.value.place, reason });
        }
        let path = path.iter().copied().chain([member.key.as_str()]).map(str::to_owned).collect();
        Ok(Self {
            name: member.key.clone(),
            place: member.place,
            scope: None,
            path,
            entry: member.value.members().to_vec(),
            dialect,
            amends: false,
            remarks: Vec::new(),
        })
    }

    /// Translates it for a server of this name; see [`super::of_entry`].
    pub fn translate(&self, name: &str, context: &Context<'_>) -> Result<Translated, Unread> {
        let mut translated =
            entry::translate(name, &self.entry, self.dialect, context).map_err(|unread| Unread {
                place: if unread.place.line == 0 { self.place } else { unread.place },
                ..unread
            })?;
        translated.remarks.extend(self.remarks.iter().cloned());
        Ok(translated)
    }

    /// Takes every field that another file writes over; variables and headers one by one.
    pub fn amend(&mut self, other: &Self) {
        for member in &other.entry {
            match self.entry.iter_mut().find(|own| own.key == member.key) {
                Some(own) if own.value.is_table() && member.value.is_table() => {
                    merge(&mut own.value, &member.value);
                }
                Some(own) => *own = member.clone(),
                None => self.entry.push(member.clone()),
            }
        }
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Member> {
        let at = self.entry.iter().position(|member| member.key == key)?;
        Some(self.entry.remove(at))
    }

    pub(super) fn push(&mut self, key: &str, place: Place, node: Node) {
        self.entry.push(Member { key: key.to_owned(), place, value: Tree { node, place } });
    }

    pub(super) fn remark(&mut self, place: Place, sentence: impl Into<String>) {
        self.remarks.push(Remark { place, sentence: sentence.into() });
    }
}

fn merge(own: &mut Tree, other: &Tree) {
    let Node::Table(members) = &mut own.node else { return };
    for member in other.members() {
        members.retain(|known| known.key != member.key);
        members.push(member.clone());
    }
}

/// What a file asks its user for (VS Code).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name.
    pub id: String,
    /// Whether it is not to be seen.
    pub is_secret: bool,
    /// What is offered.
    pub default: Option<String>,
}

/// A secret that a file declares by itself (kaged).
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// `env`, `file` or `value`, and what it says.
    pub(super) source: (&'static str, Zeroizing<String>),
}

impl Declared {
    /// Where its value comes from; none where what is written is no source.
    pub fn source(&self) -> Option<NewSource> {
        let (kind, written) = &self.source;
        Some(match *kind {
            "env" => NewSource::Environment(Text::is_variable(written).then(|| written.to_string())?),
            "file" => NewSource::File(
                (written.starts_with('/') || written.starts_with("~/")).then(|| written.to_string())?,
            ),
            _ => NewSource::Value(Value::exactly(Zeroizing::new(written.as_bytes().to_vec())).ok()?),
        })
    }
}

/// A named selection of servers (kaged's agents), in the names of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// The servers, each with the tools that are seen and those that are not.
    pub servers: Vec<(String, Vec<String>, Vec<String>)>,
}

/// What a file declares.
#[derive(Default)]
pub struct Found {
    /// Its servers, in its order.
    pub servers: Vec<Foreign>,
    /// Entries that are none, with the reason.
    pub unusable: Vec<Unread>,
    /// What it asks its user for.
    pub inputs: Vec<Input>,
    /// What it declares of secrets.
    pub secrets: Vec<Declared>,
    /// Selections of its servers.
    pub profiles: Vec<Profile>,
    /// What is to be said of it.
    pub remarks: Vec<Remark>,
}

impl Found {
    /// Takes the entries of a table that holds servers by name. A name that comes twice spoils the file.
    pub(super) fn add(
        &mut self,
        holder: &Tree,
        path: &[&str],
        dialect: &'static Dialect,
    ) -> Result<(), Unread> {
        holder.refuse_twice()?;
        if !holder.is_table() {
            let shown = path.join(".");
            return Err(Unread { place: holder.place, reason: format!("`{shown}` wants servers by name") });
        }
        for member in holder.members() {
            match Foreign::new(member, path, dialect) {
                Ok(foreign) => self.servers.push(foreign),
                Err(unread) => self.unusable.push(unread),
            }
        }
        Ok(())
    }

    pub(super) fn remark(&mut self, place: Place, sentence: impl Into<String>) {
        self.remarks.push(Remark { place, sentence: sentence.into() });
    }

    /// Switches those of these names off.
    pub(super) fn switch_off(&mut self, names: &[&str], place: Place) {
        for foreign in self.servers.iter_mut().filter(|foreign| names.contains(&foreign.name.as_str())) {
            foreign.take("disabled");
            foreign.push("disabled", place, Node::Flag(true));
        }
    }
}
