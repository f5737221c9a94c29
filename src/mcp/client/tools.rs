//! The list of a server's tools.

use std::collections::HashSet;

use serde_json::{Value, json};
use squire_relay::WITHHELD;

use super::{Client, Hello, string};
use crate::mcp::PAGE_LIMIT;
use crate::mcp::error::Error;

/// One tool of a server, as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name by which it is called.
    pub name: String,
    /// What it says that it does.
    pub description: Option<String>,
    /// What it says about changing anything (`annotations.readOnlyHint`): a hint, never a reason to trust.
    pub read_only: Option<bool>,
    /// All of its definition.
    pub definition: Value,
}

impl Tool {
    fn of(definition: &Value) -> Option<Self> {
        Some(Self {
            name: string(definition, "/name").filter(|name| !name.is_empty())?,
            description: string(definition, "/description"),
            read_only: definition.pointer("/annotations/readOnlyHint").and_then(Value::as_bool),
            definition: definition.clone(),
        })
    }

    /// The JSON Schema of its arguments; null where it has none.
    pub fn input_schema(&self) -> &Value {
        &self.definition["inputSchema"]
    }
}

/// The tools of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tools {
    /// Those that an agent gets, in the server's order.
    pub shown: Vec<Tool>,
    /// The names of those that a filter hides, where the gateway says so.
    pub withheld: Vec<String>,
    /// How many have no name.
    pub nameless: usize,
}

impl Tools {
    /// What is not right in them, in printable sentences.
    pub fn warnings(&self) -> Vec<String> {
        let told = |count| format!("{count} of its tools have no name and cannot be called");
        Some(self.nameless).filter(|count| *count > 0).map(told).into_iter().collect()
    }

    fn add(&mut self, page: &Value) -> Result<(), Error> {
        let Some(entries) = page.get("tools").and_then(Value::as_array) else {
            return Err(Error::Malformed { step: "tools/list", expected: "array `tools`" });
        };
        for entry in entries {
            match Tool::of(entry) {
                Some(tool) => self.shown.push(tool),
                None => self.nameless += 1,
            }
        }
        let withheld = page.get("_meta").and_then(|meta| meta.get(WITHHELD)).and_then(Value::as_array);
        for name in withheld.into_iter().flatten() {
            match name.as_str() {
                Some(name) => self.withheld.push(name.to_owned()),
                None => self.nameless += 1,
            }
        }
        Ok(())
    }
}

impl Client {
    /// All pages of `tools/list`: an absent, null or empty cursor ends it, one that was there before is an error
    /// (case B10). A cursor goes back as it came. A server that announces no tools is not asked.
    pub fn tools(&mut self, hello: &Hello) -> Result<Tools, Error> {
        let mut tools = Tools::default();
        if !hello.has_tools {
            return Ok(tools);
        }
        let mut seen = HashSet::new();
        let mut params = Value::Null;
        for _ in 0..PAGE_LIMIT {
            let mut page = self.request("tools/list", params)?;
            tools.add(&page)?;
            let cursor = page.get_mut("nextCursor").map_or(Value::Null, Value::take);
            if cursor.is_null() || cursor == "" {
                return Ok(tools);
            }
            if !seen.insert(cursor.to_string()) {
                return Err(Error::RepeatedCursor { cursor: cursor.to_string() });
            }
            params = json!({ "cursor": cursor });
        }
        Err(Error::TooManyPages { limit: PAGE_LIMIT })
    }
}
