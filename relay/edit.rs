//! Edits of JSON that leave every other byte as it was: a part that policy changes is cut out of the text that it was
//! read from.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The text with `part`, which was read from it, replaced.
pub(crate) fn replaced(text: &str, part: &RawValue, new: &str) -> String {
    let start = offset(text, part.get());
    let end = start + part.get().len();
    [text.get(..start).unwrap_or_default(), new, text.get(end..).unwrap_or_default()].concat()
}

/// Where a part that was borrowed from a text begins in it.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// An object's members in their order: the decoded key, and the value as it stands.
pub(crate) struct Members<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads an object; `None` where it is none.
    pub(crate) fn read(object: &'a str) -> Option<Self> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        let mut reader = serde_json::Deserializer::from_str(object);
        (&mut reader).deserialize_map(Object).ok().map(Self)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(own, _)| own == key).map(|(_, value)| *value)
    }

    /// The object without the members of a key; its values keep their bytes.
    pub(crate) fn without(&self, key: &str) -> String {
        object(self.0.iter().filter(|(own, _)| own != key).map(|(own, value)| (own.as_str(), value.get())))
    }

    /// The object with a member set to a JSON text, in its place or at the end.
    pub(crate) fn with(&self, key: &str, new: &str) -> String {
        let is_new = !self.0.iter().any(|(own, _)| own == key);
        let members =
            self.0.iter().map(|(own, value)| (own.as_str(), if own == key { new } else { value.get() }));
        object(members.chain(is_new.then_some((key, new))))
    }
}

fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("{");
    for (index, (key, value)) in members.enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&string(key));
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out
}

/// A string as JSON.
pub(crate) fn string(text: &str) -> String {
    // A string can't fail to be written.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_and_the_rest_keeps_its_bytes() {
        let text = "{ \"a\" : [1.0, 2] , \"b\":  \"\\u00e9\" }";
        let members = Members::read(text).unwrap();
        assert_eq!(replaced(text, members.get("a").unwrap(), "[]"), "{ \"a\" : [] , \"b\":  \"\\u00e9\" }");
        assert_eq!(members.without("a"), "{\"b\":\"\\u00e9\"}");
        assert_eq!(members.with("b", "1"), "{\"a\":[1.0, 2],\"b\":1}");
        assert_eq!(members.with("c", "1"), "{\"a\":[1.0, 2],\"b\":\"\\u00e9\",\"c\":1}");
        assert!(Members::read("[]").is_none());
    }
}
