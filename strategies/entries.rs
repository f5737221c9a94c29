//! Entries of an agent's file by name, each as the JSON that is written.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::compact;

/// The members of one object, each value as JSON on one line.
#[derive(Debug, Default)]
pub(crate) struct Members(Vec<(&'static str, String)>);

impl Members {
    pub(crate) fn push(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) {
        self.0.push((key, compact(value)));
    }

    /// A value that is JSON on one line already.
    pub(crate) fn push_json(&mut self, key: &'static str, text: String) {
        self.0.push((key, text));
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| *own == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.0.retain(|(own, _)| *own != key);
    }

    /// Lines for people, each behind the indentation.
    pub(crate) fn write_lines(&self, indentation: &str, out: &mut String) {
        for (index, (key, value)) in self.0.iter().enumerate() {
            out.extend([if index == 0 { "\n" } else { ",\n" }, indentation, "\"", key, "\": ", value]);
        }
    }

    /// How long it is on one line.
    pub(crate) fn length(&self) -> usize {
        self.0.iter().map(|(key, value)| key.len() + value.len() + 4).sum::<usize>() + 1
    }

    /// All of it on one line.
    pub(crate) fn text(&self) -> String {
        let mut out = String::with_capacity(self.length());
        out.push('{');
        for (index, (key, value)) in self.0.iter().enumerate() {
            out.extend([if index == 0 { "" } else { "," }, "\"", key, "\":", value]);
        }
        out.push('}');
        out
    }
}

/// Entries in their order, each as one line of JSON, which is known to be that: they are written as they are.
#[derive(Clone, Debug, Default)]
pub struct Entries(Vec<(String, Box<RawValue>)>);

impl Entries {
    pub(crate) fn push(&mut self, name: &str, entry: &Members) {
        // It can't fail: members are JSON.
        self.0.push((name.to_string(), RawValue::from_string(entry.text()).unwrap_or_default()));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Names and entries, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, entry)| (name.as_str(), entry.get()))
    }

    /// The entry of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(own, _)| *own == name).map(|(_, entry)| entry)
    }

    /// Both; of two entries of one name the later one, in the place of the first.
    #[must_use]
    pub fn overlaid(mut self, later: &Self) -> Self {
        for (name, entry) in &later.0 {
            match self.0.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => own.clone_from(entry),
                None => self.0.push((name.clone(), entry.clone())),
            }
        }
        self
    }
}

impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Entries {}

impl Serialize for Entries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, entry)| (name, entry)))
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Entries;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Entries::default();
                while let Some(entry) = map.next_entry()? {
                    entries.0.push(entry);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Object)
    }
}
