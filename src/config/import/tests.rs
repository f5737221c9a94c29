use proptest::prelude::*;
use serde_json::{Value as Json, json};
use squire_strategies::{Name, Source, Text};

use super::{
    Context, FORMATS, Imported, Translated, format, legal, named_after_address, of_entry, of_text, of_words,
};

fn imported(entry: &Json) -> Imported {
    of_entry("srv", entry.as_object().unwrap(), "the snippet").unwrap_or_else(|error| panic!("{error}"))
}

/// The fields as text, and what is wanted: the secret, the field, and whether there is a value.
fn shown(entry: &Json) -> (String, Vec<(String, String, bool)>) {
    let Imported { table, wanted, .. } = imported(entry);
    let wanted = wanted.into_iter().map(|wanted| (wanted.secret, wanted.field, wanted.value.is_some()));
    (table.to_string(), wanted.collect())
}

fn fields(entry: &Json) -> String {
    shown(entry).0
}

#[test]
fn b17_an_entry_of_a_program() {
    assert_eq!(
        fields(
            &json!({ "args": ["-y", "two words"], "command": "npx", "env": { "K": "v", "N": 1 }, "cwd": "/w" })
        ),
        "command = \"npx\"\nargs = [\"-y\", \"two words\"]\nenv = { K = \"v\", N = \"1\" }\ncwd = \"/w\"\n"
    );
    let open_code = json!({ "type": "local", "command": ["npx", "pkg", "two words"], "environment": { "K": "v" }, "enabled": false });
    assert_eq!(
        fields(&open_code),
        "command = \"npx\"\nargs = [\"pkg\", \"two words\"]\nenv = { K = \"v\" }\ndisabled = true\n"
    );
    assert_eq!(
        fields(&json!({ "args": ["b"], "command": ["x", "a"] })),
        "command = \"x\"\nargs = [\"a\", \"b\"]\n"
    );
}

#[test]
fn b19_an_entry_of_an_address() {
    for (key, kind) in
        [("url", "http"), ("serverUrl", "streamable-http"), ("httpUrl", "streamableHttp"), ("url", "HTTP")]
    {
        assert_eq!(fields(&json!({ key: "https://h/mcp", "type": kind })), "url = \"https://h/mcp\"\n");
    }
    assert_eq!(
        fields(&json!({ "url": "https://h/sse", "type": "sse" })),
        "transport = \"sse\"\nurl = \"https://h/sse\"\n"
    );
    let notes = imported(&json!({ "url": "https://h", "httpUrl ": "https://x", "alwaysAllow": ["a"] })).notes;
    assert_eq!(
        notes,
        [
            "the snippet: \"httpUrl \" is no field that squire knows, and is left away",
            "the snippet: `alwaysAllow` is left away: squire relaxes no agent's question before a tool is used"
        ]
    );
}

#[test]
fn an_entry_of_no_use_is_told() {
    for (entry, told) in [
        (json!({}), "it has neither `command` nor `url`, and says not what the server is"),
        (json!({ "command": [] }), "`command` is empty, and names no program"),
        (
            json!({ "command": "a", "url": "https://h" }),
            "it has both `command` and `url`, and one server has one of them",
        ),
        (json!({ "command": "a", "args": "b" }), "`args` wants an array of strings"),
        (
            json!({ "url": "https://h", "type": "websocket" }),
            "`type` is \"websocket\": squire speaks stdio, http and sse",
        ),
    ] {
        let error = of_entry("srv", entry.as_object().unwrap(), "").err();
        assert_eq!(error.as_deref(), Some(told));
    }
}

#[test]
fn b23_references_of_other_tools_become_squires() {
    for (written, translated) in [
        ("${K}", "${env:K}"),
        ("${env:K}", "${env:K}"),
        ("${K:-d}", "${env:K:-d}"),
        ("{env:K}/x", "${env:K}/x"),
        ("$K", "${env:K}"),
        ("a $K_2/b", "a ${env:K_2}/b"),
        ("${userHome}/x", "${env:HOME}/x"),
        ("${workspaceFolder}/x", "./x"),
        ("${secret:own}", "${secret:own}"),
        ("pa$home$$", "pa$home$$"),
        ("${", "$${"),
        ("$${K}", "$${K}"),
        // With the dollar before it the reference would be an escape, and its text the value.
        ("$$K", "$$K"),
        ("$K$$K", "${env:K}$$K"),
    ] {
        let entry = json!({ "command": "c", "env": { "V": written } });
        assert_eq!(
            fields(&entry),
            format!("command = \"c\"\nenv = {{ V = \"{translated}\" }}\n"),
            "{written}"
        );
    }
    assert_eq!(
        fields(&json!({ "command": "c", "args": ["$K", "{env:K}"] })),
        "command = \"c\"\nargs = [\"$K\", \"${env:K}\"]\n"
    );
}

/// A reference to a variable is no secret in clear, whatever header it stands in.
#[test]
fn b70_a_reference_in_a_header_stays_one() {
    let entry =
        json!({ "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${K}", "X-Api-Key": "${K}" } });
    assert_eq!(
        shown(&entry),
        (
            "url = \"https://h/mcp\"\nheaders = { Authorization = \"Bearer ${env:K}\", X-Api-Key = \"${env:K}\" }\n".into(),
            Vec::new()
        )
    );
}

#[test]
fn what_is_to_be_filled_in_becomes_a_secret() {
    for written in [
        "<YOUR_TOKEN>",
        "YOUR_API_KEY",
        "your-token-here",
        "${input:tok}",
        "{{token}}",
        "xxxx",
        "XXXXXXXX",
        "...",
        "***",
        "ghp_xxxxxxxx",
        "sk-...",
        "<your key>",
        "REPLACE_ME",
        "{file:./k.txt}",
        "$<YOUR_TOKEN>",
        "$$<YOUR_TOKEN>",
    ] {
        let (text, wanted) = shown(&json!({ "command": "c", "env": { "V": written } }));
        assert_eq!(text, "command = \"c\"\nenv = { V = \"${secret:srv.V}\" }\n", "{written}");
        assert_eq!(wanted, [("srv.V".to_owned(), "env.V".to_owned(), false)], "{written}");
    }
    for written in [
        "a <b",
        "x",
        "production",
        "https://your.example.com",
        "<>",
        "{{}}",
        "yourself",
        "1.2.3",
        "a...b",
        "./...",
        "**/*",
        "replace-text",
        "insert",
        "--replace-key",
    ] {
        let (text, wanted) = shown(&json!({ "command": "c", "env": { "V": written } }));
        assert_eq!((text, wanted.len()), (format!("command = \"c\"\nenv = {{ V = \"{written}\" }}\n"), 0));
    }
    let entry = json!({ "command": "c", "args": ["--api-key", "<KEY>", "--dsn=YOUR_DSN"] });
    assert_eq!(
        fields(&entry),
        "command = \"c\"\nargs = [\"--api-key\", \"${secret:srv.api-key}\", \"--dsn=${secret:srv.dsn}\"]\n"
    );
    let entry = json!({ "command": "c", "args": ["--a=xxxx=xxxx=xxxx"] });
    assert_eq!(
        fields(&entry),
        "command = \"c\"\nargs = [\"--a=${secret:srv.a}=${secret:srv.argument}=${secret:srv.argument-2}\"]\n"
    );
    let entry = json!({ "url": "https://h/mcp?key=<KEY>&page=1", "headers": { "Authorization": "Bearer xxxx", "X-Key": "{{key}}" } });
    assert_eq!(
        fields(&entry),
        "url = \"https://h/mcp?key=${secret:srv.key}&page=1\"\nauth = { type = \"bearer\", secret = \"srv.token\" }\nheaders = { X-Key = \"${secret:srv.X-Key}\" }\n"
    );
}

#[test]
fn b70_a_secret_in_clear_goes() {
    let token = "ghp_16C7e42F292c6912E7";
    let entry = json!({
        "command": "c",
        "args": [format!("--token={token}"), "--key", token, "-e", format!("T={token}")],
        "env": { "A": token, "API_KEY": "abc", "DB": "postgres://u:pw@h/d", "AUTH_MODE": "none", "KEY_PATH": "/k", "TOKEN_KEY": "true" },
    });
    let Imported { table, wanted, .. } = imported(&entry);
    assert_eq!(
        table.to_string(),
        "command = \"c\"\nargs = [\"--token=${secret:srv.token}\", \"--key\", \"${secret:srv.key}\", \"-e\", \"T=${secret:srv.T}\"]\n\
         env = { A = \"${secret:srv.A}\", API_KEY = \"${secret:srv.API_KEY}\", DB = \"${secret:srv.DB}\", AUTH_MODE = \"none\", KEY_PATH = \"/k\", TOKEN_KEY = \"true\" }\n"
    );
    let values: Vec<&str> =
        wanted.iter().filter_map(|wanted| Some(wanted.value.as_ref()?.expose())).collect();
    assert_eq!(values, [token, token, token, token, "abc", "postgres://u:pw@h/d"]);
    let entry = json!({ "url": format!("https://h/mcp?api_key={token}"), "headers": { "Authorization": format!("Bearer {token}"), "X-Api-Key": "v" } });
    assert_eq!(
        fields(&entry),
        "url = \"https://h/mcp?api_key=${secret:srv.api_key}\"\nauth = { type = \"bearer\", secret = \"srv.token\" }\nheaders = { X-Api-Key = \"${secret:srv.X-Api-Key}\" }\n"
    );
}

#[test]
fn docker_hands_on_what_it_is_told_to() {
    let entry = json!({ "command": "docker", "args": ["run", "-i", "--rm", "-e", "A", "-e", "B", "img"], "env": { "B": "<B>" } });
    assert_eq!(
        fields(&entry),
        "command = \"docker\"\nargs = [\"run\", \"-i\", \"--rm\", \"-e\", \"A\", \"-e\", \"B\", \"img\"]\nenv = { B = \"${secret:srv.B}\" }\ninherit_env = [\"A\"]\n"
    );
}

#[test]
fn b15_snippets_as_readmes_have_them() {
    let names = |text: &str| {
        let snippets = of_text(text).unwrap_or_else(|error| panic!("{error}"));
        snippets.into_iter().map(|snippet| snippet.name.unwrap_or_default()).collect::<Vec<_>>()
    };
    let file = "{ \"mcpServers\": { // note\n \"a\": {\"command\":\"true\",}, /* off: \"b\": {\"command\":\"x\"} */ \"u\": {\"url\":\"https://h/a//b\"} , } }";
    assert_eq!(names(file), ["a", "u"]);
    assert_eq!(names("{ \"servers\": { \"v\": { \"url\": \"u\" } }, \"inputs\": [] }"), ["v"]);
    assert_eq!(names("{ \"mcp\": { \"servers\": { \"v\": { \"url\": \"u\" } } } }"), ["v"]);
    assert_eq!(names("\"x\": { \"command\": \"y\" }"), ["x"]);
    assert_eq!(names("\"mcpServers\": { \"x\": { \"command\": \"y\" } }"), ["x"]);
    assert_eq!(names("{ \"command\": \"y\" }"), [""]);
    assert_eq!(names("\u{feff}{ \"command\": { \"command\": \"y\" } }"), ["command"]);
    for (text, told) in [
        ("{", "this is no JSON: "),
        ("[]", "this is no JSON object of servers"),
        ("{ \"mcpServers\": {} }", "there is no server in it"),
        ("{ \"a\": 1 }", "\"a\" is no entry of a server: { \"command\": … } or { \"url\": … }"),
    ] {
        let error = of_text(text).err().unwrap_or_default();
        assert!(error.starts_with(told), "{error}");
    }
}

#[test]
fn names_come_from_what_runs() {
    for (line, name) in [
        ("npx -y @modelcontextprotocol/server-github", "github"),
        ("npx -y @playwright/mcp@latest --headless", "playwright"),
        ("uvx mcp-server-git", "git"),
        ("uvx --from git+https://x/y mcp-server-git", "y"),
        ("pnpm dlx some-mcp", "some"),
        ("docker run -i --rm -e TOKEN -v /a:/b ghcr.io/github/github-mcp-server:v1", "github"),
        ("docker run -i mcp/postgres postgres://h/d", "postgres"),
        ("/opt/bin/my-server --x", "my"),
        ("A=1 B=2 node ./build/index.js", "index"),
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert_eq!(of_words(&words).map(|(_, name)| name).as_deref(), Some(name), "{line}");
    }
    for (address, name) in [
        ("https://mcp.linear.app/sse", "linear"),
        ("https://api.githubcopilot.com/mcp/", "githubcopilot"),
        ("http://localhost:3000/mcp", "localhost"),
        ("http://127.0.0.1/mcp", "local"),
    ] {
        assert_eq!(named_after_address(address), name);
    }
}

#[test]
fn b05_b06_b07_b09_foreign_names_become_legal_ones() {
    for (foreign, name) in [
        ("github", "github"),
        ("my_db", "my_db"),
        ("Sales Force", "Sales-Force"),
        ("@acme/db", "acme-db"),
        ("acme.search", "acme-search"),
        ("a__b", "a_b"),
        ("1st", "mcp-1st"),
        ("squire", "mcp-squire"),
    ] {
        assert_eq!(legal(foreign, &[]).as_str(), name);
    }
    let taken = [legal("my_db", &[])];
    let other = legal("my db", &taken);
    assert!(other.as_str().starts_with("my-db-") && other == legal("my db", &taken), "{other}");
    let long = [legal(&"a".repeat(40), &[]), legal(&"a".repeat(41), &[])];
    assert!(long[0] != long[1] && long[0].as_str().len() <= 32, "{long:?}");
}

/// What holds servers in the files of each agent that writes JSON.
const HOLDERS: &[(&str, &str)] = &[
    ("claude", "mcpServers"),
    ("claude-desktop", "mcpServers"),
    ("cursor", "mcpServers"),
    ("opencode", "mcp"),
    ("vscode", "servers"),
    ("gemini", "mcpServers"),
    ("windsurf", "mcpServers"),
    ("zed", "context_servers"),
    ("copilot", "mcpServers"),
];
/// Those that expand nothing.
const PLAIN: &[&str] = &["claude-desktop", "zed"];

/// What an entry with this string comes to.
fn translated(name: &str, holder: &str, written: &str) -> Vec<Translated> {
    let file = json!({ holder: { "srv": {
        "command": "c", "args": [written], "env": { "V": written, "TOKEN": "S3CR3T-1" }, "type": "local",
    } } });
    let found = format(name).unwrap().read("a.json".as_ref(), file.to_string().as_bytes(), None).unwrap();
    let servers = found.servers.iter();
    let translated = servers.map(|foreign| foreign.translate("srv", &Context::NONE));
    translated.map(|translated| translated.unwrap_or_else(|unread| panic!("{unread:?}"))).collect()
}

proptest! {
    /// Whatever the name: it is legal, and no two are one.
    #[test]
    fn b07_names_never_meet(names in proptest::collection::vec("[aA][ ._-]{0,2}[bB]?|\\PC{0,40}", 1..6)) {
        let mut taken: Vec<Name> = Vec::new();
        for foreign in &names {
            let name = legal(foreign, &taken);
            prop_assert!(Name::parse(name.as_str()).is_ok(), "{name}");
            prop_assert!(!taken.iter().any(|other| other.collides(&name)));
            taken.push(name);
        }
    }

    /// Whatever a string of an agent's file: it comes to one that a declaration may have, and no value of a secret stays.
    #[test]
    fn b23_b25_b32_every_entry_of_every_agent_is_translated_to_one_that_is_read(
        written in prop_oneof!["\\PC{0,16}", "(\\$|\\{|\\}|\\$\\{|env:|input:|file:|command:|A|b|:-|<|>| |/|=){0,12}"],
    ) {
        for (name, holder) in HOLDERS {
            for translated in translated(name, holder, &written) {
                let text = translated.table.to_string();
                prop_assert!(!text.contains("S3CR3T"), "{name}: {text}");
                let args = translated.table["args"].as_array().unwrap().iter().filter_map(|word| word.as_str());
                let env = translated.table["env"].as_inline_table().unwrap().iter();
                for string in args.chain(env.filter_map(|(_, value)| value.as_str())) {
                    prop_assert!(Text::parse(string).is_ok(), "{name}: {string:?}");
                }
            }
        }
    }

    /// What a tool takes for plain text is the same text here.
    #[test]
    fn b22_b25_plain_text_stays_plain_text(written in "(\\$|\\}|\\$\\{|env:|A|b|:-| |/|K){0,12}") {
        for (name, holder) in HOLDERS.iter().filter(|(name, _)| PLAIN.contains(name)) {
            for translated in translated(name, holder, &written) {
                let text = Text::parse(translated.table["args"][0].as_str().unwrap()).unwrap();
                prop_assert_eq!(text.literal(), Some(written.as_str()), "{}", name);
            }
        }
    }

    /// Whatever the bytes: nothing falls over, and what is wrong lies in the file.
    #[test]
    fn b15_b16_no_bytes_are_too_odd(
        text in "(\\{|\\}|\\[|\\]|,|:|\"mcpServers\"|\"mcp\"|\"a\"|\"command\"|mcp|: |\n|  |- |a|=|&a|\\*a|<<|> mcp:|`|[\\x00-\\xff]){0,24}",
        mark in any::<bool>(),
    ) {
        let bytes = [if mark { "\u{feff}" } else { "" }.as_bytes(), text.as_bytes()].concat();
        for format in FORMATS {
            for path in ["a.json", "a.toml", "a.yaml", "a.kedi"] {
                if let Err(unread) = format.read(path.as_ref(), &bytes, Some("/p")) {
                    // YAML takes a return alone for a line's end, and its end of all may be in a line of its own.
                    let lines = text.matches(['\n', '\r']).count() + 2;
                    prop_assert!((1..=lines).contains(&unread.place.line), "{}: {unread:?}", format.name);
                }
            }
        }
    }

    /// Whatever the string: it is one that a declaration may have, and what is no reference and no blank stays as it is.
    #[test]
    fn b23_b25_every_string_is_translated_to_one_that_is_read(
        written in prop_oneof!["\\PC{0,16}", "(\\$|\\{|\\}|\\$\\{|env:|input:|A|b|:-|<|>|x| |/|=){0,12}"],
    ) {
        let entry = json!({ "command": "c", "env": { "V": written }, "args": [written] });
        let Imported { table, wanted, .. } = imported(&entry);
        let mut referred = Vec::new();
        for string in [table["env"]["V"].as_str().unwrap(), table["args"][0].as_str().unwrap()] {
            let text = Text::parse(string);
            prop_assert!(text.is_ok(), "{string:?}");
            referred.extend(text.unwrap().references().map(|reference| reference.source.clone()));
        }
        // None of what it asks for is only spelt.
        for wanted in wanted {
            prop_assert!(referred.contains(&Source::Secret(wanted.secret)), "{table}");
        }
        if !written.contains(['$', '{', '<', 'x', 'X', '*', '.', '…']) && !written.to_lowercase().contains("your") {
            prop_assert_eq!(table["args"][0].as_str(), Some(written.as_str()));
        }
    }
}

#[test]
fn an_argument_is_a_secret_by_the_name_before_it() {
    for (args, translated) in [
        (json!(["--token=8f3a9c1de77b"]), "args = [\"--token=${secret:srv.token}\"]"),
        (json!(["--api-key", "8f3a9c1de77b"]), "args = [\"--api-key\", \"${secret:srv.api-key}\"]"),
        (json!(["-e", "API_KEY=hunter2x"]), "args = [\"-e\", \"API_KEY=${secret:srv.API_KEY}\"]"),
        (json!(["--config", "{\"apiKey\": \"abc\"}"]), "args = [\"--config\", \"${secret:srv.config}\"]"),
        (
            json!(["--auth", "basic", "--token", "${K}"]),
            "args = [\"--auth\", \"basic\", \"--token\", \"${env:K}\"]",
        ),
        (
            json!(["--key", "./file.pem", "--password", "-v"]),
            "args = [\"--key\", \"./file.pem\", \"--password\", \"-v\"]",
        ),
    ] {
        let entry = json!({ "command": "c", "args": args });
        assert_eq!(fields(&entry), format!("command = \"c\"\n{translated}\n"));
    }
    for (name, value) in [
        ("PGPASSWORD", "hunter2"),
        ("OPENAPI_MCP_HEADERS", "{\"Authorization\": \"Bearer ntn_1234\"}"),
        ("CONNECTION", "Server=x;Password=hunter2;"),
    ] {
        let entry = json!({ "command": "c", "env": { name: value } });
        assert!(
            fields(&entry).contains(&format!("{name} = \"${{secret:srv.{name}}}\"")),
            "{}",
            fields(&entry)
        );
    }
}

/// A value is never looked at again: a reference in it would reach the server as it is written.
#[test]
fn a_secret_beside_a_reference_is_not_taken_apart() {
    let entry = json!({ "command": "c", "env": { "URL": "postgres://${U:-me}:S3cretPw9@h/db" } });
    let error = of_entry("srv", entry.as_object().unwrap(), "").err().unwrap();
    assert!(error.starts_with("`env.URL` has a secret in clear and a reference beside it"), "{error}");
    let entry = json!({ "url": "https://h/${P}?profile=${Q}&api_key=8f3a9c1d&token=${T}" });
    assert_eq!(
        fields(&entry),
        "url = \"https://h/${env:P}?profile=${env:Q}&api_key=${secret:srv.api_key}&token=${env:T}\"\n"
    );
    let entry = json!({ "url": "https://h/sse" });
    assert_eq!(fields(&entry), "transport = \"sse\"\nurl = \"https://h/sse\"\n");
}
