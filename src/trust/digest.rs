//! The digest of a declaration: what an approval is given to. Pure.
//!
//! A declaration becomes one canonical value after the layers, with its references unresolved and its paths as they
//! are written. How the file is laid out, and in which order tables and sets are written, makes no difference; every
//! word that says what the server is, may use or may receive does.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use squire_strategies::Text;

use crate::config::{Auth, Choice, Declaration, Filter, Grants, Located};
use crate::files::hexadecimal;

/// Stands before the canonical value in what is hashed: another meaning of it would be another algorithm.
const ALGORITHM: &str = "squire-declaration-v1\n";

/// The digest of a declaration, 64 hexadecimal digits.
pub fn digest(canonical: &Map<String, Value>) -> String {
    let text = Value::from(canonical.clone()).to_string();
    hexadecimal(&Sha256::new().chain_update(ALGORITHM).chain_update(text).finalize())
}

/// The canonical value: the fields that are written, by name. Whether it is switched off or on, and its tier, are not
/// part of what the server is.
pub fn canonical(declaration: &Declaration) -> Map<String, Value> {
    let Declaration {
        name,
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
        disabled: _,
        remove: _,
        tools,
        grants,
        route,
        trust: _,
        max_restarts,
        sampling,
        audit,
        pin,
    } = declaration;
    let mut fields = Fields::default();
    fields.set("name", Some(json!(name.as_str())));
    fields.set("transport", value(transport.as_ref(), choice));
    fields.set(
        "command",
        command.as_ref().map(|command| {
            let arguments = args.iter().flat_map(|args| &args.value);
            command.value.iter().chain(arguments).map(text).collect()
        }),
    );
    fields.set("env", value(env.as_ref(), |env| table(env)));
    fields.set("inherit_env", value(inherit_env.as_ref(), |names| set(names)));
    fields.set("cwd", value(cwd.as_ref(), text));
    fields.set("url", value(url.as_ref(), text));
    fields.set("headers", value(headers.as_ref(), |headers| table(headers)));
    fields.set("auth", value(auth.as_ref(), authentication));
    fields.set("client_cert", value(client_cert.as_ref(), text));
    fields.set("client_key", value(client_key.as_ref(), text));
    fields.set("ca", value(ca.as_ref(), text));
    fields.set("timeout", value(timeout.as_ref(), |timeout| json!(timeout.as_millis().to_string())));
    fields.set(
        "startup_timeout",
        value(startup_timeout.as_ref(), |timeout| json!(timeout.as_millis().to_string())),
    );
    fields.set("result_limit", value(result_limit.as_ref(), |limit| json!(limit)));
    fields.set("description", value(description.as_ref(), |description| json!(description)));
    fields.set("tools", value(tools.as_ref(), filter));
    fields.set("grants", value(grants.as_ref(), ceiling));
    fields.set("route", value(route.as_ref(), |route| json!(route.as_str())));
    fields.set("max_restarts", value(max_restarts.as_ref(), |restarts| json!(restarts)));
    fields.set("sampling", value(sampling.as_ref(), |sampling| json!(sampling)));
    fields.set("audit", value(audit.as_ref(), |audit| json!(audit)));
    fields.set("pin", value(pin.as_ref(), |pin| json!(pin)));
    fields.0
}

/// The written fields, in one order.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn set(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.0.insert(name.into(), value);
        }
    }
}

fn value<T>(field: Option<&Located<T>>, canonical: impl Fn(&T) -> Value) -> Option<Value> {
    field.map(|located| canonical(&located.value))
}

fn text(text: &Text) -> Value {
    json!(text.to_string())
}

fn choice(choice: &Choice) -> Value {
    match choice {
        Choice::Fixed(kind) => json!(kind.as_str()),
        Choice::Dynamic(reference) => text(reference),
    }
}

fn table(pairs: &[(String, Text)]) -> Value {
    let mut sorted: Vec<&(String, Text)> = pairs.iter().collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    sorted.into_iter().map(|(name, value)| (name.clone(), text(value))).collect::<Map<_, _>>().into()
}

fn set(words: &[String]) -> Value {
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    json!(sorted)
}

fn authentication(Auth { header, bearer, secret }: &Auth) -> Value {
    json!({ "header": header, "bearer": bearer, "secret": secret })
}

fn filter(Filter { allow, deny }: &Filter) -> Value {
    json!({ "allow": allow.as_deref().map(set), "deny": set(deny) })
}

fn ceiling(Grants { network, filesystem, secrets }: &Grants) -> Value {
    json!({ "network": network, "filesystem": filesystem, "secrets": secrets.as_deref().map(set) })
}
