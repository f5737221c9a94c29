//! A declaration's values as they are written, references unresolved, with the place of each. Words that surely are
//! credentials in clear are not shown. Pure.

use std::time::Duration;

use serde_json::{Map, Value, json};
use squire_strategies::{Text, masked_text};

use crate::config::{Auth, Choice, Declaration, Filter, Grants, Located, Origin, Trust};

/// A field that is written somewhere.
pub(crate) struct Written<'a> {
    /// Its key.
    pub(crate) field: &'static str,
    /// Its value, in the shape of a declaration.
    pub(crate) value: Value,
    /// Where it is written.
    pub(crate) origin: &'a Origin,
}

/// Every written field, in the order of the schema.
pub(crate) fn written(declaration: &Declaration) -> Vec<Written<'_>> {
    let mut fields = Fields(Vec::new());
    // All fields by name, so that a new one is not forgotten.
    let Declaration {
        name: _,
        origin: _,
        transport,
        command,
        args,
        env,
        inherit_env,
        cwd,
        url,
        headers,
        auth,
        client_cert,
        client_key,
        ca,
        timeout,
        startup_timeout,
        result_limit,
        description,
        disabled,
        remove,
        tools,
        grants,
        route,
        trust,
        max_restarts,
        sampling,
        audit,
        spill,
        pin,
    } = declaration;
    fields.add("transport", transport.as_ref(), choice);
    fields.add("command", command.as_ref(), |words| texts(words));
    fields.add("args", args.as_ref(), |words| texts(words));
    fields.add("env", env.as_ref(), |pairs| table(pairs));
    fields.add("inherit_env", inherit_env.as_ref(), |names| json!(names));
    fields.add("cwd", cwd.as_ref(), text);
    fields.add("url", url.as_ref(), text);
    fields.add("headers", headers.as_ref(), |pairs| table(pairs));
    fields.add("auth", auth.as_ref(), authorization);
    fields.add("client_cert", client_cert.as_ref(), text);
    fields.add("client_key", client_key.as_ref(), text);
    fields.add("ca", ca.as_ref(), text);
    fields.add("timeout", timeout.as_ref(), |timeout| duration(*timeout));
    fields.add("startup_timeout", startup_timeout.as_ref(), |timeout| duration(*timeout));
    fields.add("result_limit", result_limit.as_ref(), |limit| size(*limit));
    fields.add("description", description.as_ref(), |words| json!(words));
    fields.add("disabled", disabled.as_ref(), |is| json!(is));
    fields.add("remove", remove.as_ref(), |is| json!(is));
    fields.add("tools", tools.as_ref(), filter);
    fields.add("grants", grants.as_ref(), ceiling);
    fields.add("route", route.as_ref(), |route| json!(route.as_str()));
    fields.add("trust", trust.as_ref(), |trust| json!(trust_word(*trust)));
    fields.add("max_restarts", max_restarts.as_ref(), |count| json!(count));
    fields.add("sampling", sampling.as_ref(), |is| json!(is));
    fields.add("audit", audit.as_ref(), |word| json!(word));
    fields.add("spill", spill.as_ref(), |is| json!(is));
    fields.add("pin", pin.as_ref(), |word| json!(word));
    fields.0
}

struct Fields<'a>(Vec<Written<'a>>);

impl<'a> Fields<'a> {
    fn add<T>(
        &mut self,
        field: &'static str,
        located: Option<&'a Located<T>>,
        value: impl FnOnce(&'a T) -> Value,
    ) {
        if let Some(located) = located {
            self.0.push(Written { field, value: value(&located.value), origin: &located.origin });
        }
    }
}

pub(crate) fn choice(choice: &Choice) -> Value {
    match choice {
        Choice::Fixed(kind) => json!(kind.as_str()),
        Choice::Dynamic(written) => text(written),
    }
}

fn text(text: &Text) -> Value {
    json!(text.to_string())
}

fn texts(texts: &[Text]) -> Value {
    texts.iter().map(|text| json!(masked_text(text))).collect()
}

fn table(pairs: &[(String, Text)]) -> Value {
    Value::Object(pairs.iter().map(|(name, value)| (name.clone(), json!(masked_text(value)))).collect())
}

pub(crate) fn authorization(auth: &Auth) -> Value {
    if auth.bearer {
        json!({ "type": "bearer", "secret": auth.secret })
    } else {
        json!({ "type": "header", "header": auth.header, "secret": auth.secret })
    }
}

pub(crate) fn filter(filter: &Filter) -> Value {
    let mut value = Map::new();
    if let Some(allow) = &filter.allow {
        value.insert("allow".into(), json!(allow));
    }
    if !filter.deny.is_empty() {
        value.insert("deny".into(), json!(filter.deny));
    }
    value.into()
}

pub(crate) fn ceiling(grants: &Grants) -> Value {
    let Grants { network, filesystem, secrets } = grants;
    let parts = [
        ("network", network.map(Value::from)),
        ("filesystem", filesystem.map(Value::from)),
        ("secrets", secrets.as_ref().map(|names| json!(names))),
    ];
    let written = parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(written.collect())
}

fn trust_word(trust: Trust) -> &'static str {
    match trust {
        Trust::Trusted => "trusted",
        Trust::Community => "community",
    }
}

/// A duration as people write it.
pub(crate) fn duration(duration: Duration) -> Value {
    json!(humantime::format_duration(duration).to_string())
}

/// A size as people write it.
pub(crate) fn size(bytes: u64) -> Value {
    const MEBIBYTE: u64 = 1024 * 1024;
    if bytes > 0 && bytes.is_multiple_of(MEBIBYTE) {
        json!(format!("{}MiB", bytes / MEBIBYTE))
    } else if bytes > 0 && bytes.is_multiple_of(1024) {
        json!(format!("{}KiB", bytes / 1024))
    } else {
        json!(bytes)
    }
}

/// A value as TOML has it on one line.
pub(crate) fn toml(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            format!("[{}]", values.iter().map(toml).collect::<Vec<_>>().join(", "))
        }
        Value::Object(pairs) if pairs.is_empty() => "{}".into(),
        Value::Object(pairs) => {
            let pair = |(name, value): (&String, &Value)| format!("{} = {}", key(name), toml(value));
            format!("{{ {} }}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { json!(name).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_toml() {
        let value = json!({ "A": ["x\n", true], "b c": 1, "n": {} });
        assert_eq!(toml(&value), r#"{ A = ["x\n", true], "b c" = 1, n = {} }"#);
        assert_eq!(size(64 * 1024), "64KiB");
        assert_eq!(size(2 << 20), "2MiB");
        assert_eq!(size(1000), 1000);
        assert_eq!(duration(Duration::from_secs(90)), "1m 30s");
    }
}
