//! Edits of the text of a `secrets.toml` that keep its comments and its order. Pure.

use anyhow::{Context, Result, anyhow, bail};
use squire_strategies::toml_string;
use toml_edit::{Array, DocumentMut, InlineTable, Item, RawString, Table, TableLike, Value as Toml};
use zeroize::Zeroizing;

use super::value::Value;

/// The fields that say where a value comes from.
const OF_SOURCE: &[&str] = &["env", "file", "value", "command", "inherit_env"];

/// The byte order mark, with which some editors begin a file.
const MARK: &str = "\u{feff}";

/// A source that is to be written.
pub enum NewSource {
    /// A variable.
    Environment(String),
    /// A file.
    File(String),
    /// The value itself.
    Value(Value),
    /// What a program prints.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// The variables that it gets beyond the base environment.
        inherit_env: Vec<String>,
    },
}

impl NewSource {
    fn fields(&self) -> Vec<(&'static str, Toml)> {
        let array = |words: &[String]| Toml::from(words.iter().map(String::as_str).collect::<Array>());
        match self {
            Self::Environment(name) => vec![("env", name.as_str().into())],
            Self::File(path) => vec![("file", path.as_str().into())],
            Self::Value(value) => vec![("value", string(value.expose()))],
            Self::Command { words, inherit_env } if inherit_env.is_empty() => {
                vec![("command", array(words))]
            }
            Self::Command { words, inherit_env } => {
                vec![("command", array(words)), ("inherit_env", array(inherit_env))]
            }
        }
    }
}

/// Writes a secret that is new, or a new source for one that is there. `servers` binds it; without it an earlier
/// binding stays.
pub fn set(text: &str, name: &str, source: &NewSource, servers: &[String]) -> Result<Zeroizing<String>> {
    edited(text, |document| put(document, name, source, servers))
}

/// As [`set`], of many at once. An error names the one that it is about.
pub fn set_all<'a>(
    text: &str,
    secrets: impl IntoIterator<Item = (&'a str, &'a NewSource, &'a [String])>,
) -> Result<Zeroizing<String>> {
    edited(text, |document| {
        secrets.into_iter().try_for_each(|(name, source, servers)| {
            put(document, name, source, servers).with_context(|| format!("the secret {name}"))
        })
    })
}

fn put(document: &mut DocumentMut, name: &str, source: &NewSource, servers: &[String]) -> Result<()> {
    // Comments that nothing follows would come behind what is written.
    let before = if document.is_empty() { comments(document) } else { "\n".to_owned() };
    let (groups, last) = name.rsplit_once('.').map_or((None, name), |(groups, last)| (Some(groups), last));
    let table = parent(document, groups.into_iter().flat_map(|groups| groups.split('.')))?;
    let bound =
        (!servers.is_empty()).then(|| Toml::from(servers.iter().map(String::as_str).collect::<Array>()));
    match table.get_mut(last) {
        None => {
            let mut new = Table::new();
            new.decor_mut().set_prefix(before);
            fill(&mut new, source, bound);
            table.insert(last, Item::Table(new));
        }
        Some(Item::Value(old)) if !old.is_inline_table() => {
            let mut new = match (source, bound) {
                (NewSource::Value(value), None) => string(value.expose()),
                (_, bound) => {
                    let mut new = InlineTable::new();
                    fill(&mut new, source, bound);
                    new.into()
                }
            };
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        Some(old) => {
            let old = old.as_table_like_mut().with_context(|| unfit(name))?;
            if !old.is_empty() && !old.iter().any(|(field, _)| OF_SOURCE.contains(&field)) {
                bail!("there are secrets below {name}, which can't be one itself then");
            }
            let fields = source.fields();
            for field in OF_SOURCE.iter().filter(|field| fields.iter().all(|(new, _)| new != *field)) {
                old.remove(field);
            }
            fill(old, source, bound);
        }
    }
    Ok(())
}

/// A string on one line, whatever is in it: a line end within one would be that of the file.
fn string(text: &str) -> Toml {
    let on_one_line = text.contains(['\n', '\r']).then(|| Zeroizing::new(toml_string(text)));
    on_one_line.and_then(|written| written.parse().ok()).unwrap_or_else(|| text.into())
}

/// The text of a document without a key, and the blank line that ends it.
fn comments(document: &mut DocumentMut) -> String {
    let text = document.trailing().as_str().unwrap_or_default().trim_end().to_owned();
    document.set_trailing("");
    if text.is_empty() { text } else { text + "\n\n" }
}

fn fill(table: &mut dyn TableLike, source: &NewSource, servers: Option<Toml>) {
    for (field, mut value) in source.fields() {
        // With the comments of the old one.
        match table.get_mut(field).and_then(Item::as_value_mut) {
            Some(old) => {
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            None => {
                table.insert(field, Item::Value(value));
            }
        }
    }
    if let Some(servers) = servers {
        table.insert("servers", Item::Value(servers));
    }
}

/// The table that a secret is a member of, made where it is missing.
fn parent<'a>(
    document: &'a mut DocumentMut,
    groups: impl Iterator<Item = &'a str>,
) -> Result<&'a mut dyn TableLike> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for group in std::iter::once("secrets").chain(groups) {
        let mut implicit = Table::new();
        implicit.set_implicit(true);
        let item = table.entry(group).or_insert(Item::Table(implicit));
        table = item.as_table_like_mut().with_context(|| unfit(group))?;
    }
    Ok(table)
}

fn unfit(name: &str) -> String {
    format!("{name} is a secret of its own there, and can't have others below it")
}

/// Takes a secret out, with the comment right above it and with the groups that it leaves empty. A comment with a blank
/// line behind it is about more than this secret, and stays.
pub fn remove(text: &str, name: &str) -> Result<Zeroizing<String>> {
    let path: Vec<&str> = std::iter::once("secrets").chain(name.split('.')).collect();
    edited(text, |document| {
        let kept = take(document.as_table_mut(), &path).ok_or_else(|| anyhow!("{name} is not there"))?;
        if let Some((kept, position)) = kept {
            give(document, &kept, position);
        }
        Ok(())
    })
}

/// What stays of the text before a removed item, and the place of the table that it was or stood in.
type Kept = Option<(String, isize)>;

fn take(table: &mut dyn TableLike, path: &[&str]) -> Option<Kept> {
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        let before = table.key(first).and_then(|key| key.leaf_decor().prefix()).and_then(RawString::as_str);
        let before = before.map(str::to_owned).unwrap_or_default();
        return Some(match table.remove(first)? {
            Item::Table(removed) => {
                let prefix = removed.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
                stays(prefix).zip(removed.position())
            }
            _ => stays(&before).zip(Some(isize::MIN)),
        });
    }
    let item = table.get_mut(first)?;
    let position = item.as_table().and_then(Table::position);
    let below = item.as_table_like_mut()?;
    let kept = take(below, rest)?;
    let is_left_empty = below.is_empty() && *first != "secrets";
    let of_group = if is_left_empty { take(table, &[first])? } else { None };
    let placed = kept.map(|(text, at)| (text, if at == isize::MIN { position.unwrap_or(at) } else { at }));
    Some(match (placed, of_group) {
        (Some((below, at)), Some((above, _))) => Some((above + &below, at)),
        (one, other) => one.or(other),
    })
}

/// The part of the text before an item that a blank line ends, or a directive to editors (`#:schema`).
fn stays(before: &str) -> Option<String> {
    let blank = before.rfind("\n\n").map(|at| at + 1);
    let directive = before.starts_with("#:").then(|| before.find('\n').map(|at| at + 1)).flatten();
    let end = blank.max(directive)?;
    let stays = before.get(..end)?;
    stays.contains('#').then(|| stays.to_owned())
}

/// Puts a text before the next table, or at the end.
fn give(document: &mut DocumentMut, text: &str, position: isize) {
    fn next(table: &mut Table, position: isize, found: &mut Option<isize>) {
        for (_, item) in table.iter_mut() {
            let Some(table) = item.as_table_mut() else { continue };
            if let Some(at) = table.position().filter(|at| *at > position && !table.is_implicit()) {
                *found = Some(found.map_or(at, |found| found.min(at)));
            }
            next(table, position, found);
        }
    }
    fn prepend(table: &mut Table, at: isize, text: &str) {
        for (_, item) in table.iter_mut() {
            let Some(table) = item.as_table_mut() else { continue };
            if table.position() == Some(at) && !table.is_implicit() {
                let before = table.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
                let joined = format!("{text}{}{before}", if before.starts_with('\n') { "" } else { "\n" });
                table.decor_mut().set_prefix(joined);
                return;
            }
            prepend(table, at, text);
        }
    }
    let mut found = None;
    next(document.as_table_mut(), position, &mut found);
    if let Some(at) = found {
        prepend(document.as_table_mut(), at, text);
    } else {
        let trailing = document.trailing().as_str().unwrap_or_default();
        let joined = format!("{text}{trailing}");
        document.set_trailing(joined);
    }
}

/// Changes the text of a file. The lines that the edit is not about stay as they are, with their ends and a byte order
/// mark before them.
fn edited(text: &str, edit: impl FnOnce(&mut DocumentMut) -> Result<()>) -> Result<Zeroizing<String>> {
    let (mark, before) = text.strip_prefix(MARK).map_or(("", text), |bare| (MARK, bare));
    // The parser keeps no line ends.
    let plain = Zeroizing::new(before.replace("\r\n", "\n"));
    let mut document = parse(&plain)?;
    edit(&mut document)?;
    let after = Zeroizing::new(document.to_string());
    let (before, after) = (lines(before), lines(&after));
    let same = |(one, other): &(&&str, &&str)| one.replace("\r\n", "\n") == **other;
    let first = before.iter().zip(&after).take_while(same).count();
    let (old, new) = (&before[first..], &after[first..]);
    let last = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let line_end = if before.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let (new, old) = (&new[..new.len() - last], &old[old.len() - last..]);
    let new = Zeroizing::new(new.concat().replace('\n', line_end));
    Ok(Zeroizing::new([mark, &before[..first].concat(), &new, &old.concat()].concat()))
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The messages of the parser may show what they speak of, which may be a value.
fn parse(text: &str) -> Result<DocumentMut> {
    match text.parse() {
        Ok(document) => Ok(document),
        Err(_) => bail!("it is no TOML"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "# mine\n\n# of GitHub\n[secrets.github]\nenv = \"GITHUB_TOKEN\" # short-lived\nservers = [\"a\"]\n\n\
                        [secrets.keys]\n# one\none = \"v\"\ntwo = { file = \"~/two\" } # two\n";

    fn env(name: &str) -> NewSource {
        NewSource::Environment(name.into())
    }

    #[test]
    fn a_new_secret_comes_behind_the_others() {
        let written = set("", "a", &env("A"), &[]).unwrap();
        assert_eq!(*written, "[secrets.a]\nenv = \"A\"\n");
        assert_eq!(*set("# mine\n", "a", &env("A"), &[]).unwrap(), "# mine\n\n[secrets.a]\nenv = \"A\"\n");
        let written = set(&written, "k.b", &env("B"), &["x".into()]).unwrap();
        assert_eq!(*written, "[secrets.a]\nenv = \"A\"\n\n[secrets.k.b]\nenv = \"B\"\nservers = [\"x\"]\n");
        let command =
            NewSource::Command { words: vec!["op".into(), "a \"b\"".into()], inherit_env: vec!["C".into()] };
        let written = set(TEXT, "keys.three", &command, &[]).unwrap();
        let new = "\n[secrets.keys.three]\ncommand = [\"op\", 'a \"b\"']\ninherit_env = [\"C\"]\n";
        assert_eq!(*written, format!("{TEXT}{new}"));
    }

    #[test]
    fn a_new_source_leaves_everything_else() {
        let written = set(TEXT, "github", &env("OTHER"), &[]).unwrap();
        assert_eq!(
            *written,
            TEXT.replace("env = \"GITHUB_TOKEN\" # short-lived\n", "env = \"OTHER\" # short-lived\n")
        );
        let written = set(TEXT, "keys.one", &env("ONE"), &[]).unwrap();
        assert_eq!(*written, TEXT.replace("one = \"v\"", "one = { env = \"ONE\" }"));
        let value = NewSource::Value(Value::exactly(Zeroizing::new(b"w".to_vec())).unwrap_or_default());
        let written = set(TEXT, "keys.one", &value, &[]).unwrap();
        assert_eq!(*written, TEXT.replace("one = \"v\"", "one = \"w\""));
        let written = set(TEXT, "keys.two", &env("TWO"), &[]).unwrap();
        assert_eq!(*written, TEXT.replace("{ file = \"~/two\" }", "{ env = \"TWO\" }"));
        assert!(set(TEXT, "keys.one.more", &env("X"), &[]).is_err());
        assert!(set(TEXT, "keys", &env("X"), &[]).is_err());
    }

    #[test]
    fn a_removed_secret_takes_its_own_comment_along() {
        assert_eq!(
            *remove(TEXT, "github").unwrap(),
            "# mine\n\n[secrets.keys]\n# one\none = \"v\"\ntwo = { file = \"~/two\" } # two\n"
        );
        assert_eq!(*remove(TEXT, "keys.one").unwrap(), TEXT.replace("# one\none = \"v\"\n", ""));
        assert_eq!(*remove("# mine\n\n[secrets.a]\nenv = \"A\"\n", "a").unwrap(), "# mine\n");
        assert_eq!(
            *remove("[secrets.k]\na = \"v\"\n[secrets.b]\nenv = \"B\"\n", "k.a").unwrap(),
            "[secrets.b]\nenv = \"B\"\n"
        );
        assert!(remove(TEXT, "keys.three").is_err());
    }

    #[test]
    fn line_ends_and_a_byte_order_mark_stay() {
        for (mark, line_end) in [("", "\n"), ("", "\r\n"), (MARK, "\n"), (MARK, "\r\n")] {
            let as_it_stands = |text: &str| format!("{mark}{}", text.replace('\n', line_end));
            let text = as_it_stands(TEXT);
            let changed = set(&text, "github", &env("OTHER"), &[]).unwrap();
            assert_eq!(*changed, as_it_stands(&set(TEXT, "github", &env("OTHER"), &[]).unwrap()));
            let added = set(&text, "new", &env("NEW"), &[]).unwrap();
            assert_eq!(*added, as_it_stands(&format!("{TEXT}\n[secrets.new]\nenv = \"NEW\"\n")));
            assert_eq!(*remove(&added, "new").unwrap(), text);
            assert_eq!(*remove(&text, "github").unwrap(), as_it_stands(&remove(TEXT, "github").unwrap()));
        }
        let mixed = "# a\r\n[secrets.a]\nvalue = \"\"\"one\r\ntwo\nthree\"\"\"\r\n# end\n";
        let added = set(mixed, "b", &env("B"), &[]).unwrap();
        assert_eq!(*added, format!("{}\r\n[secrets.b]\r\nenv = \"B\"\r\n# end\n", &mixed[..mixed.len() - 6]));
        assert_eq!(*remove(&added, "b").unwrap(), mixed);
    }

    #[test]
    fn a_value_has_the_line_ends_that_it_was_given() {
        for text in ["", "# a\n", "# a\r\n[secrets.k]\r\na = \"1\"\r\n", "[secrets]\r\na = \"1\"\r\n"] {
            for value in ["l1\nl2\n", "l1\r\nl2", "\r", "\n\t\"\"\"\\"] {
                let source = NewSource::Value(
                    Value::exactly(Zeroizing::new(value.as_bytes().to_vec())).unwrap_or_default(),
                );
                for name in ["a", "k.a", "new"] {
                    let Ok(written) = set(text, name, &source, &[]) else { continue };
                    let found = super::super::sources::value_in(written.as_bytes(), "F".as_ref(), name);
                    assert_eq!(found.unwrap().expose(), value, "{}", written.as_str());
                }
            }
        }
    }

    #[test]
    fn what_is_about_more_than_a_secret_stays() {
        let text = "#:schema ./s.json\n# of a\n[secrets.a]\n# from the vault\nvalue = \"A\" # until May\nservers = [\"s\"]\n";
        assert_eq!(*remove(text, "a").unwrap(), "#:schema ./s.json\n");
        let value = NewSource::Value(Value::exactly(Zeroizing::new(b"B".to_vec())).unwrap_or_default());
        assert_eq!(*set(text, "a", &value, &[]).unwrap(), text.replace("\"A\"", "\"B\""));
    }

    proptest! {
        /// Whatever the value, it is read back, and taking it out again leaves the text as it was.
        #[test]
        fn what_is_set_is_read_back_and_can_be_taken_out(value in "[^\0]{1,40}", name in "[a-z]{3}(\\.[a-z]{2})?") {
            let source = NewSource::Value(Value::exactly(Zeroizing::new(value.clone().into_bytes())).unwrap_or_default());
            let written = set(TEXT, &name, &source, &[]).unwrap();
            let path = std::path::Path::new("F");
            let found = super::super::sources::value_in(written.as_bytes(), path, &name);
            prop_assert_eq!(found.map(|found| found.expose().to_owned()), Some(value));
            prop_assert!(super::super::sources::read(written.as_bytes(), path).1.is_empty());
            let without = remove(&written, &name).unwrap();
            prop_assert_eq!(without.as_str(), TEXT);
        }
    }
}
