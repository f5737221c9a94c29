//! What `squire set` writes: a key of the fields' table, and words as the value that it takes. Pure.

use toml_edit::{Array, Value};

use super::fields::{self, SERVER, Shape};
use super::problem::nearest;

/// The keys that lead to a field of a server, as in `tools.deny`. The error names the nearest known one.
pub fn path(key: &str) -> Result<Vec<&str>, String> {
    let (first, below) = key.split_once('.').map_or((key, None), |(first, below)| (first, Some(below)));
    let field = fields::find(SERVER, first).ok_or_else(|| {
        let known = fields::keys(SERVER);
        let help = match nearest(first, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known fields: {}", known.join(", ")),
        };
        format!("a server has no field `{}`; {help}", first.escape_debug())
    })?;
    let Some(below) = below else { return Ok(vec![first]) };
    let known: &[&str] = match field.shape {
        // Names of variables and headers, which may have dots.
        Shape::Environment | Shape::Headers => return Ok(vec![first, below]),
        Shape::Filter => &["allow", "deny"],
        Shape::Grants => &["network", "filesystem", "secrets"],
        Shape::Auth => &["type", "header", "secret"],
        _ => return Err(format!("`{first}` has no fields below it")),
    };
    if known.contains(&below) {
        return Ok(vec![first, below]);
    }
    Err(format!("`{first}` has no field `{}`; known: {}", below.escape_debug(), known.join(", ")))
}

/// Words as the value of a field that [`path`] gave. The error says what the field takes.
pub fn value(path: &[&str], words: &[String]) -> Result<Value, String> {
    let Some(field) = path.first().and_then(|first| fields::find(SERVER, first)) else {
        return Err("there is no such field".into());
    };
    let key = path.join(".");
    let wants = |what: &str| Err(format!("`{key}` wants {what}"));
    let kind = match (field.shape, path.get(1)) {
        (Shape::Environment | Shape::Headers, None) => {
            return wants(&format!("one name at a time, as in `{key}.NAME`"));
        }
        (Shape::Filter, None) => return wants("`tools.allow` or `tools.deny`, each with globs"),
        (Shape::Grants, None) => return wants("`grants.network`, `grants.filesystem` or `grants.secrets`"),
        (Shape::Auth, None) => return literal(&key, words),
        (Shape::Filter, Some(_)) | (Shape::Grants, Some(&"secrets")) => Shape::Globs,
        (Shape::Grants, Some(_)) => Shape::Boolean,
        (_, Some(_)) => Shape::String,
        (shape, None) => shape,
    };
    let single = || match words {
        [word] => Ok(word.as_str()),
        _ => Err(format!("`{key}` wants one value, and these are {}", words.len())),
    };
    match kind {
        Shape::Boolean | Shape::False => match single()? {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => wants("`true` or `false`"),
        },
        Shape::Number => match single()?.parse::<i64>() {
            Ok(number) if number >= 0 => Ok(number.into()),
            _ => wants("a whole number from 0"),
        },
        Shape::Size => {
            let word = single()?;
            Ok(word.parse::<i64>().map_or_else(|_| word.into(), Value::from))
        }
        Shape::Texts | Shape::VariableNames | Shape::Globs => Ok(array(words).into()),
        Shape::Command if words.len() > 1 => Ok(array(words).into()),
        _ => Ok(single()?.into()),
    }
}

fn array(words: &[String]) -> Array {
    words.iter().map(String::as_str).collect()
}

/// A table as TOML has it.
fn literal(key: &str, words: &[String]) -> Result<Value, String> {
    let parsed = words.join(" ").parse::<Value>().ok().filter(Value::is_inline_table);
    parsed
        .ok_or_else(|| format!("`{key}` wants a table, as in '{{ type = \"bearer\", secret = \"github\" }}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(key: &str, words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Ok(value(&path(key)?, &words)?.to_string())
    }

    #[test]
    fn words_become_what_the_field_takes() {
        for (key, words, expected) in [
            ("timeout", &["2m"][..], "\"2m\""),
            ("disabled", &["true"], "true"),
            ("max_restarts", &["3"], "3"),
            ("result_limit", &["1024"], "1024"),
            ("result_limit", &["1MiB"], "\"1MiB\""),
            ("tools.deny", &["a.*"], "[\"a.*\"]"),
            ("args", &["-y", "two words"], "[\"-y\", \"two words\"]"),
            ("command", &["npx"], "\"npx\""),
            ("command", &["npx", "-y"], "[\"npx\", \"-y\"]"),
            ("env.A", &["1"], "\"1\""),
            ("headers.X.y", &["v"], "\"v\""),
            ("grants.network", &["false"], "false"),
            ("auth", &["{ type = \"bearer\", secret = \"s\" }"], "{ type = \"bearer\", secret = \"s\" }"),
        ] {
            assert_eq!(written(key, words).as_deref(), Ok(expected), "{key}");
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        for (key, words, told) in [
            ("timout", &["2m"][..], "a server has no field `timout`; did you mean `timeout`?"),
            ("tools.denied", &["x"], "`tools` has no field `denied`; known: allow, deny"),
            ("timeout.x", &["1"], "`timeout` has no fields below it"),
            ("disabled", &["yes"], "`disabled` wants `true` or `false`"),
            ("timeout", &["1", "m"], "`timeout` wants one value, and these are 2"),
            ("env", &["A=1"], "`env` wants one name at a time, as in `env.NAME`"),
            ("max_restarts", &["-1"], "`max_restarts` wants a whole number from 0"),
        ] {
            assert_eq!(written(key, words).err().as_deref(), Some(told));
        }
    }
}
