//! The digest of a declaration: what an approval is given to. Pure.
//!
//! A declaration becomes one canonical value after the layers, with its references unresolved and its paths as they
//! are written. How the file is laid out, and in which order tables and sets are written, makes no difference; every
//! word that says what the server is, may use or may receive does.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use squire_strategies::Text;

use crate::config::{Auth, Choice, Declaration, Filter, Grants};
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
    fields.set("transport", value(transport, choice));
    fields.set(
        "command",
        command.as_ref().map(|command| {
            let arguments = args.iter().flat_map(|args| &args.value);
            command.value.iter().chain(arguments).map(text).collect()
        }),
    );
    fields.set("env", value(env, table));
    fields.set("inherit_env", value(inherit_env, set));
    fields.set("cwd", value(cwd, text));
    fields.set("url", value(url, text));
    fields.set("headers", value(headers, table));
    fields.set("auth", value(auth, authentication));
    fields.set("client_cert", value(client_cert, text));
    fields.set("client_key", value(client_key, text));
    fields.set("ca", value(ca, text));
    fields.set("timeout", value(timeout, |timeout| json!(timeout.as_millis().to_string())));
    fields.set("startup_timeout", value(startup_timeout, |timeout| json!(timeout.as_millis().to_string())));
    fields.set("result_limit", value(result_limit, |limit| json!(limit)));
    fields.set("description", value(description, |description| json!(description)));
    fields.set("tools", value(tools, filter));
    fields.set("grants", value(grants, ceiling));
    fields.set("route", value(route, |route| json!(route.as_str())));
    fields.set("max_restarts", value(max_restarts, |restarts| json!(restarts)));
    fields.set("sampling", value(sampling, |sampling| json!(sampling)));
    fields.set("audit", value(audit, |audit| json!(audit)));
    fields.set("pin", value(pin, |pin| json!(pin)));
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

fn value<T>(field: &Option<crate::config::Located<T>>, canonical: impl Fn(&T) -> Value) -> Option<Value> {
    field.as_ref().map(|located| canonical(&located.value))
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

fn table(pairs: &Vec<(String, Text)>) -> Value {
    let mut sorted: Vec<&(String, Text)> = pairs.iter().collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    sorted.into_iter().map(|(name, value)| (name.clone(), text(value))).collect::<Map<_, _>>().into()
}

fn set(words: &Vec<String>) -> Value {
    let mut sorted = words.clone();
    sorted.sort_unstable();
    sorted.dedup();
    json!(sorted)
}

fn authentication(Auth { header, bearer, secret }: &Auth) -> Value {
    json!({ "header": header, "bearer": bearer, "secret": secret })
}

fn filter(Filter { allow, deny }: &Filter) -> Value {
    json!({ "allow": allow.as_ref().map(set), "deny": set(deny) })
}

fn ceiling(Grants { network, filesystem, secrets }: &Grants) -> Value {
    json!({ "network": network, "filesystem": filesystem, "secrets": secrets.as_ref().map(set) })
}
