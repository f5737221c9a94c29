use proptest::prelude::*;
use serde_json::Value as Json;
use toml::de::DeTable;
use toml_edit::{DocumentMut, Item, Table, Value, value};

use super::{Document, Unfit};
use crate::config::table_as_json;

const TEXT: &str = "#:schema ./squire.schema.json\n# mine\n\n# of GitHub\n[servers.github]   # the forge\nurl = 'https://h/mcp' # main\nx-team = { z = 1, a = 2 }\n\n[servers.db]\ncommand = [\"db\"]\n# quick\ntimeout = \"2m\"\n# end of db\n\n# floating\n\n# of work\n[profiles.work]\nservers = [\"github\", \"db\"]\n\n# end\n";

fn document(text: &str) -> Document {
    Document::parse(text).unwrap()
}

fn fields() -> Table {
    let mut fields = Table::new();
    fields.insert("url", value("https://new/mcp"));
    fields.insert("trust", value("community"));
    fields
}

#[test]
fn b26_a_new_server_comes_behind_the_last() {
    let mut edited = document(TEXT);
    edited.insert(["servers", "new"], &fields()).unwrap();
    let block = "\n[servers.new]\nurl = \"https://new/mcp\"\ntrust = \"community\"\n";
    assert_eq!(edited.text(), TEXT.replace("# end of db\n", &format!("# end of db\n{block}")));
    assert!(edited.remove(&["servers", "new"]).unwrap());
    assert_eq!(edited.text(), TEXT);
}

#[test]
fn the_first_of_a_kind_comes_last() {
    for text in [
        "",
        "\n\n",
        "   ",
        "# mine",
        "# mine\n\n\n",
        "[policy]\ntimeout = \"1m\"",
        "\u{feff}",
        "\u{feff}# a\r\n",
    ] {
        let mut edited = document(text);
        edited.insert(["profiles", "p"], &fields()).unwrap();
        assert!(edited.has(&["profiles", "p", "url"]), "{:?}", edited.text());
        edited.remove(&["profiles", "p"]).unwrap();
        assert_eq!(edited.text(), text);
    }
}

#[test]
fn a_value_is_replaced_in_its_place() {
    let mut edited = document(TEXT);
    edited.set(&["servers", "github", "url"], &"https://other/mcp".into()).unwrap();
    edited.set(&["servers", "github", "x-team", "z"], &2.into()).unwrap();
    let expected = TEXT.replace("'https://h/mcp'", "\"https://other/mcp\"").replace("z = 1", "z = 2");
    assert_eq!(edited.text(), expected);
}

#[test]
fn a_new_key_comes_behind_its_neighbours() {
    for (path, line) in [
        (&["servers", "db", "disabled"][..], "disabled = true"),
        (&["servers", "db", "env", "A.b"], "env.\"A.b\" = true"),
        (&["profiles", "work", "tools", "db", "deny"], "tools.db.deny = true"),
    ] {
        let mut edited = document(TEXT);
        edited.set(path, &true.into()).unwrap();
        let after = if path[0] == "servers" { "timeout = \"2m\"\n" } else { "\"github\", \"db\"]\n" };
        assert_eq!(edited.text(), TEXT.replace(after, &format!("{after}{line}\n")));
        edited.remove(path).unwrap();
        assert_eq!(edited.text(), TEXT);
    }
    let text = "[servers.a]\r\n\turl = \"u\"\r\n\r\n[servers.a.headers]\r\n  X = \"1\"";
    let mut edited = document(text);
    edited.set(&["servers", "a", "headers", "Y"], &"2".into()).unwrap();
    edited.set(&["servers", "a", "disabled"], &true.into()).unwrap();
    let expected = "[servers.a]\r\n\turl = \"u\"\r\n\tdisabled = true\r\n\r\n[servers.a.headers]\r\n  X = \"1\"\r\n  Y = \"2\"";
    assert_eq!(edited.text(), expected);
}

#[test]
fn a_removed_server_takes_its_own_comments_along() {
    let mut edited = document(TEXT);
    edited.remove(&["servers", "github"]).unwrap();
    edited.remove(&["servers", "db"]).unwrap();
    assert_eq!(
        edited.text(),
        "#:schema ./squire.schema.json\n# mine\n\n# floating\n\n# of work\n[profiles.work]\nservers = [\"github\", \"db\"]\n\n# end\n"
    );
    let parts = "[servers.a]\nurl = 'u'\n\n[policy]\n\n# more of a\n[servers.a.headers]\nX = '1'\n";
    let mut edited = document(parts);
    edited.remove(&["servers", "a"]).unwrap();
    assert_eq!(edited.text(), "[policy]\n");
}

#[test]
fn members_of_arrays_come_and_go() {
    for (text, with) in [
        ("a = []", "a = [\"n\"]"),
        ("a = [ ]", "a = [ \"n\" ]"),
        ("a = ['x']", "a = ['x', \"n\"]"),
        ("a = ['x','y',] # c", "a = ['x','y',\"n\",] # c"),
        ("a = [\n  'x', # x\n  'y', # y\n]\n", "a = [\n  'x', # x\n  'y', # y\n  \"n\",\n]\n"),
        ("a = [\n  'x',\n  'y'\n]\n", "a = [\n  'x',\n  'y',\n  \"n\"\n]\n"),
        ("a = [\r\n  'x'\r\n]\r\n", "a = [\r\n  'x',\r\n  \"n\"\r\n]\r\n"),
    ] {
        let mut edited = document(text);
        assert!(edited.push(&["a"], "n").unwrap());
        assert_eq!(edited.text(), with);
        assert!(!edited.push(&["a"], "n").unwrap());
        assert!(edited.pull(&["a"], "n").unwrap());
        assert_eq!(edited.text(), text);
        assert!(!edited.pull(&["a"], "n").unwrap());
    }
    for (text, without) in [
        ("a = ['n', 'x']", "a = ['x']"),
        ("a = [\n  'n', # of n\n  'x',\n]", "a = [\n  'x',\n]"),
        ("a = [\n  'x', # of x\n  'n', # of n\n]", "a = [\n  'x', # of x\n]"),
        ("a = [ 'n', ]", "a = [ ]"),
    ] {
        let mut edited = document(text);
        edited.pull(&["a"], "n").unwrap();
        assert_eq!(edited.text(), without);
    }
}

#[test]
fn inline_tables_are_edited_in_their_place() {
    let text = "servers = { a = { url = 'u', headers = { X = '1' } } } # all\n";
    let mut edited = document(text);
    edited.insert(["servers", "b"], &fields()).unwrap();
    edited.set(&["servers", "a", "headers", "Y"], &"2".into()).unwrap();
    edited.set(&["servers", "a", "tools", "deny"], &true.into()).unwrap();
    assert_eq!(
        edited.text(),
        "servers = { a = { url = 'u', headers = { X = '1', Y = \"2\" }, tools = { deny = true } }, b = { url = \"https://new/mcp\", trust = \"community\" } } # all\n"
    );
    edited.remove(&["servers", "a", "headers", "Y"]).unwrap();
    edited.remove(&["servers", "a", "tools"]).unwrap();
    edited.remove(&["servers", "b"]).unwrap();
    assert_eq!(edited.text(), text);
}

#[test]
fn what_can_not_be_edited_is_told() {
    assert_eq!(Document::parse("a = "), Err(Unfit::NotToml));
    let mut edited = document("[servers.a]\nurl = 'u'\nenv = { A.b = 1 }\n");
    assert_eq!(
        edited.set(&["servers", "a", "url", "x"], &1.into()),
        Err(Unfit::NoTable("servers.a.url".into()))
    );
    assert_eq!(edited.push(&["servers", "a", "url"], "x"), Err(Unfit::NoArray("servers.a.url".into())));
    assert_eq!(
        edited.set(&["servers", "a", "env", "B"], &1.into()),
        Err(Unfit::ByHand("servers.a.env".into()))
    );
    assert_eq!(edited.remove(&["servers", "a", "none"]), Ok(false));
}

/// Files as people write them: pieces in any order, with any line end and with or without the last one.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("# a comment\n"),
        Just("\n"),
        Just("  \n"),
        Just("[servers.a]\n"),
        Just("[ servers . b ] # b\n"),
        Just("  [servers.a.env]\n"),
        Just("[profiles.p]\n"),
        Just("[x-team]\n"),
        Just("url = 'u' # u\n"),
        Just("\ttimeout = \"1m\"\n"),
        Just("env.A = '1'\n"),
        Just("servers = { a = { url = 'u' }, b = {} } # all\n"),
        Just("servers.a.url = 'u'\n"),
        Just("[[x-list]]\n"),
        Just("headers = { X = '1', \"y z\" = \"2\" }\n"),
        Just("args = [\n  'x', # x\n  'y',\n]\n"),
        Just("key = '''\n[servers.c]\n# no comment\n'''\n"),
        Just("z = [{ a = 1 }, 12345678901234567, 1.0, 1979-05-27]\n"),
    ];
    (proptest::collection::vec(piece, 0..14), any::<bool>(), any::<bool>(), any::<bool>()).prop_filter_map(
        "no TOML",
        |(pieces, is_crlf, has_mark, is_cut)| {
            let mut text = pieces.concat();
            if is_cut {
                text.truncate(text.trim_end_matches('\n').len());
            }
            if is_crlf {
                text = text.replace('\n', "\r\n");
            }
            if has_mark {
                text.insert(0, '\u{feff}');
            }
            text.parse::<DocumentMut>().is_ok().then_some(text)
        },
    )
}

/// The values of a text, without what formatting says.
fn values(text: &str) -> Json {
    let text = text.trim_start_matches('\u{feff}');
    table_as_json(DeTable::parse(text).unwrap().get_ref())
}

fn with(mut values: Json, path: &[&str], value: Option<Json>) -> Json {
    let (last, above) = path.split_last().unwrap();
    let place = above.iter().fold(&mut values, |place, key| &mut place[*key]);
    match value {
        Some(value) => place[*last] = value,
        None => drop(place.as_object_mut().unwrap().remove(*last)),
    }
    values
}

proptest! {
    /// A server that is added is there, nothing else is another, and taking it out gives the old bytes.
    #[test]
    fn b26_add_and_remove_give_the_old_bytes(text in texts(), url in "\\PC{0,12}") {
        let mut edited = document(&text);
        let mut fields = Table::new();
        fields.insert("url", value(&url));
        edited.insert(["servers", "new"], &fields).unwrap();
        let expected = with(values(&text), &["servers", "new", "url"], Some(url.into()));
        prop_assert_eq!(values(edited.text()), expected);
        prop_assert!(edited.remove(&["servers", "new"]).unwrap());
        prop_assert_eq!(edited.text(), text);
    }

    /// The same of a field.
    #[test]
    fn b26_set_and_unset_give_the_old_bytes(
        text in texts(),
        path in proptest::sample::select(vec![
            &["servers", "a", "disabled"][..], &["servers", "b", "tools", "deny"], &["servers", "a", "env", "N"],
            &["servers", "b", "headers", "N"], &["profiles", "p", "strict"],
        ]),
    ) {
        let mut edited = document(&text);
        let is_new_table = !edited.has(&path[..2]);
        // Else a header is made for what has none of its own, and stays.
        let header = format!("[{}.{}]", path[0], path[1]);
        prop_assume!(is_new_table || text.replace(' ', "").contains(&header));
        edited.set(path, &true.into()).unwrap();
        prop_assert_eq!(values(edited.text()), with(values(&text), path, Some(true.into())));
        let undone = if is_new_table { &path[..2] } else { path };
        prop_assert!(edited.remove(undone).unwrap());
        prop_assert_eq!(edited.text(), text);
    }

    /// A value that is replaced is replaced alone: what stands before and behind it is the same.
    #[test]
    fn b26_a_replaced_value_leaves_the_rest(text in texts(), new in "\\PC{0,12}") {
        for path in [&["servers", "a", "url"][..], &["servers", "a", "env", "A"], &["servers", "b", "headers", "y z"]] {
            let mut edited = document(&text);
            if !edited.has(path) {
                continue;
            }
            edited.set(path, &Value::from(new.as_str())).unwrap();
            prop_assert_eq!(values(edited.text()), with(values(&text), path, Some(new.as_str().into())));
            let same = text.bytes().zip(edited.text().bytes()).take_while(|(one, other)| one == other).count();
            let behind = text.bytes().rev().zip(edited.text().bytes().rev()).take_while(|(one, other)| one == other).count();
            prop_assert!(text.len() <= same + behind + 3, "{:?}", edited.text());
        }
    }

    /// Whatever is taken out, every other key keeps its value, and a comment at the top that is set off stays.
    #[test]
    fn b26_a_removal_takes_nothing_else(text in texts()) {
        for path in [&["servers", "a"][..], &["servers", "b"], &["servers", "a", "env"], &["servers", "b", "headers", "X"]] {
            let mut edited = document(&text);
            if edited.remove(path).unwrap() {
                prop_assert_eq!(pruned(values(edited.text())), pruned(with(values(&text), path, None)));
                let is_set_off = text.trim_start_matches('\u{feff}').replace('\r', "").starts_with("# a comment\n\n");
                prop_assert!(!is_set_off || edited.text().contains("# a comment"), "{:?}", edited.text());
            }
        }
    }
}

/// Without tables that nothing is left in: they are there only because something was in them.
fn pruned(values: Json) -> Json {
    let Json::Object(table) = values else { return values };
    let below = table.into_iter().map(|(key, value)| (key, pruned(value)));
    Json::Object(below.filter(|(_, value)| value.as_object().is_none_or(|below| !below.is_empty())).collect())
}

#[test]
fn items_are_found() {
    let edited = document(TEXT);
    assert_eq!(edited.keys(&["servers"]), ["github", "db"]);
    assert_eq!(edited.get(&["servers", "db", "timeout"]).as_ref().and_then(Item::as_str), Some("2m"));
}

#[test]
fn the_last_key_of_a_field_takes_it_along() {
    for before in ["servers.b = { command = \"y\" }\n", "[servers.b]\ncommand = \"y\"\n"] {
        let mut document = Document::parse(before).unwrap();
        document.set(&["servers", "b", "env", "NEW"], &toml_edit::Value::from("v")).unwrap();
        assert!(document.has(&["servers", "b", "env", "NEW"]), "{}", document.text());
        document.remove(&["servers", "b", "env", "NEW"]).unwrap();
        assert_eq!(document.text(), before);
    }
}
