//! What is wrong with the user's words and file is told with its place, and then nothing happens: no agent is started,
//! and nothing is written.

use std::process::Command;

use crate::support::{Run, Test, many_servers};

const FILE: &str = "<T>/home/.config/squire/squire.toml";

/// The commands that read the user's file, with the status of their own failure.
const COMMANDS: &[(&[&str], i32)] = &[
    (&["list"], 1),
    (&["describe", "claude"], 1),
    (&["describe", "codex", "--json"], 1),
    (&["launch", "claude", "--", "-p", "x"], 125),
    (&["launch", "codex", "--dry-run"], 125),
    (&["launch", "cursor", "--quiet"], 125),
    (&["launch", "opencode"], 125),
    (&["launch", "inspect"], 125),
];

fn with_agents(mut test: Test) -> Test {
    for name in ["claude", "codex", "cursor-agent", "opencode"] {
        test = test.agent(name, "");
    }
    test
}

/// Every command refuses what `prepare` sets up, and says just this; `<F>` is the user's file.
#[track_caller]
fn refused_everywhere(prepare: impl Fn(Test) -> Test, message: &str) {
    for (arguments, code) in COMMANDS {
        let run = with_agents(prepare(Test::new()))
            .args(arguments.iter().copied())
            .stderr(format!("squire: {}\n", message.replace("<F>", FILE)))
            .unchanged()
            .code(*code);
        assert!(!run.agent_was_started());
    }
}

#[track_caller]
fn refused(config: impl AsRef<[u8]>, message: &str) {
    refused_everywhere(|test| test.write("home/.config/squire/squire.toml", &config), message);
}

#[test]
fn malformed_toml() {
    refused("[servers.a\ncommand = \"a\"\n", "<F>:1:11: unclosed table, expected `]`");
    // Columns count characters, and the file ends where it ends.
    refused("\"é🙂\" = \n", "<F>:1:8: string values must be quoted, expected literal string");
}

#[test]
fn several_errors_at_once() {
    refused(
        "[servers.a]\ncommand = \"a\"\n= 1\nx =\n",
        "<F>:3:1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`\n\
         <F>:4:4: string values must be quoted, expected literal string",
    );
}

#[test]
fn unknown_keys_with_the_nearest_known_one() {
    refused(
        "[servers.a]\ncomand = \"a\"\narg = []\nxyzzy = 1\n[server.b]\n[profiles.p]\nserver = []\n",
        "<F>:2:1: unknown key `comand` in [servers.a]\n  help: did you mean `command`?\n\
         <F>:3:1: unknown key `arg` in [servers.a]\n  help: did you mean `args`?\n\
         <F>:4:1: unknown key `xyzzy` in [servers.a]\n  help: known keys: transport, command, args, env, inherit_env, \
         cwd, url, headers, timeout, startup_timeout, description, disabled, route, auth, client_cert, client_key, ca, \
         result_limit, tools, grants, remove, trust, max_restarts, sampling, audit, pin\n\
         <F>:5:2: unknown key `server` in this file\n  help: did you mean `servers`?\n\
         <F>:7:1: unknown key `server` in [profiles.p]\n  help: did you mean `servers`?",
    );
}

#[test]
fn the_wrong_type_of_each_field() {
    refused(
        "[servers.a]\ncommand = 1\nargs = \"x\"\nenv = [\"A\"]\ninherit_env = \"A\"\ncwd = 1\ntimeout = 30\n\
         startup_timeout = \"soon\"\ndescription = []\ndisabled = \"yes\"\nroute = true\ntransport = 1\n\
         [servers.b]\nurl = 1\nheaders = \"X\"\n",
        "<F>:2:11: `command` wants a program, or an array of a program and its arguments, and this is of type integer\n\
         <F>:3:8: `args` wants an array of strings, and this is of type string\n\
         <F>:4:7: `env` wants a table of variables, as in { NAME = \"value\" }, and this is of type array\n\
         <F>:5:15: `inherit_env` wants an array of variable names, and this is of type string\n\
         <F>:6:7: `cwd` wants a string, and this is of type integer\n\
         <F>:7:11: `timeout` wants a duration such as \"30s\" or \"2m\", of at most 24 days, and this is of type integer\n\
         <F>:8:19: `startup_timeout` wants a duration such as \"30s\" or \"2m\", of at most 24 days, and this is \"soon\"\n\
         <F>:9:15: `description` wants a string, and this is of type array\n\
         <F>:10:12: `disabled` wants `true` or `false`, and this is of type string\n\
         <F>:11:9: `route` wants a string, and this is of type boolean\n\
         <F>:12:13: `transport` wants a string, and this is of type integer\n\
         <F>:14:7: `url` wants a string, and this is of type integer\n\
         <F>:15:11: `headers` wants a table of headers, as in { X-Name = \"value\" }, and this is of type string",
    );
    refused(
        "servers = 1\nprofiles = []\n",
        "<F>:1:11: `servers` wants a table of servers, as in [servers.NAME], and this is of type integer\n\
         <F>:2:12: `profiles` wants a table of profiles, as in [profiles.NAME], and this is of type array",
    );
}

#[test]
fn the_wrong_type_within_a_field() {
    refused(
        "[servers.a]\ncommand = [\"a\", 1]\nargs = [1, \"b\", []]\nenv = { A = 1, \"B=C\" = \"x\", \"\" = \"y\" }\n\
         inherit_env = [\"A B\"]\n[servers.b]\ncommand = []\n[servers.c]\ncommand = [\"\", \"x\"]\n",
        "<F>:2:17: `command` wants a program, or an array of a program and its arguments, and this is of type integer\n\
         <F>:3:9: `args` wants an array of strings, and this is of type integer\n\
         <F>:3:17: `args` wants an array of strings, and this is of type array\n\
         <F>:4:1: `env`: \"B=C\" can't be the name of a variable\n\
         <F>:4:1: `env`: \"\" can't be the name of a variable\n\
         <F>:4:13: `A` wants a string, and this is of type integer\n\
         <F>:5:16: `inherit_env`: \"A B\" can't be the name of a variable\n\
         <F>:7:1: `command` wants a program, or an array of a program and its arguments, and this is empty\n\
         <F>:9:1: `command` wants a program, or an array of a program and its arguments, and this is empty",
    );
}

#[test]
fn words_that_are_none() {
    refused(
        "[servers.a]\ncommand = \"a\"\nroute = \"sideways\"\ntimeout = \"0s\"\n\
         [servers.b]\ntransport = \"websocket\"\nurl = \"https://h/mcp\"\n",
        "<F>:3:9: `route` wants `gateway` or `direct`, and this is \"sideways\"\n\
         <F>:4:11: `timeout` wants a duration such as \"30s\" or \"2m\", of at most 24 days, and this is \"0s\"\n\
         <F>:6:13: `transport` wants one of `stdio`, `http` and `sse`, and this is \"websocket\"",
    );
}

#[test]
fn neither_command_nor_url_both_or_the_other_transports() {
    refused(
        "[servers.none]\ndescription = \"nothing else\"\n[servers.both]\ncommand = \"a\"\nurl = \"https://h/mcp\"\n\
         [servers.no-url]\ntransport = \"http\"\n[servers.no-command]\ntransport = \"stdio\"\n\
         [servers.wrong]\ntransport = \"stdio\"\nurl = \"https://h/mcp\"\n\
         [servers.env]\nurl = \"https://h/mcp\"\nenv = { A = \"1\" }\n\
         [servers.headers]\ncommand = \"a\"\nheaders = { A = \"1\" }\n\
         [servers.direct]\ncommand = \"a\"\nroute = \"direct\"\n\
         [servers.reference]\nurl = \"https://h/mcp\"\nheaders = { A = \"${env:T}\" }\nroute = \"direct\"\n",
        "<F>:1:10: [servers.none]: neither `command` nor `url`: one of them says what the server is\n\
         <F>:5:1: [servers.both]: both `command` and `url`: one server has one of them\n\
         <F>:6:10: [servers.no-url]: `url` is missing: a remote server needs one\n\
         <F>:8:10: [servers.no-command]: `command` is missing: a stdio server needs one\n\
         <F>:12:1: [servers.wrong]: `url` does not go with a stdio server\n\
         <F>:15:1: [servers.env]: `env` does not go with a remote server\n\
         <F>:18:1: [servers.headers]: `headers` does not go with a stdio server\n\
         <F>:21:1: [servers.direct]: `route = \"direct\"` is for remote servers; a program always goes through the gateway\n\
         <F>:25:1: [servers.reference]: `route = \"direct\"` hands the entry to the agent as it is: no reference, auth, \
         filter, limit or timeout goes with it",
    );
}

#[test]
fn addresses_and_headers_that_are_none() {
    refused(
        "[servers.a]\nurl = \"ftp://h/mcp\"\n[servers.b]\nurl = \"https:///mcp\"\n[servers.c]\nurl = \"https://h/a b\"\n\
         [servers.d]\nurl = \"https://h/mcp\"\nheaders = { \"X Y\" = \"1\", A = \"a\\nb\" }\n",
        "<F>:2:1: `url` wants an address such as \"https://example.com/mcp\", and this is \"ftp://h/mcp\"\n\
         <F>:4:1: `url` wants an address such as \"https://example.com/mcp\", and this is \"https:///mcp\"\n\
         <F>:6:1: `url` wants an address such as \"https://example.com/mcp\", and this is \"https://h/a b\"\n\
         <F>:9:1: `headers`: \"X Y\" can't be the name of a header\n\
         <F>:9:1: `headers`: the value of `A` holds a control character",
    );
}

#[test]
fn b05_b06_b09_illegal_names() {
    refused(
        format!(
            "[servers.\"acme.search\"]\ncommand = \"a\"\n[servers.\"Sales Force\"]\ncommand = \"a\"\n\
             [servers.\"@acme/db\"]\ncommand = \"a\"\n[servers.a__b]\ncommand = \"a\"\n[servers.1st]\ncommand = \"a\"\n\
             [servers.a-]\ncommand = \"a\"\n[servers.\"\"]\ncommand = \"a\"\n[servers.{}]\ncommand = \"a\"\n",
            "a".repeat(40)
        ),
        &format!(
            "<F>:1:10: the server name `acme.search` holds '.'; letters, digits, `-` and `_` are legal in every agent\n\
             <F>:3:10: the server name `Sales Force` holds ' '; letters, digits, `-` and `_` are legal in every agent\n\
             <F>:5:10: the server name `@acme/db` holds '@'; letters, digits, `-` and `_` are legal in every agent\n\
             <F>:7:10: the server name `a__b` holds `__`, which agents put between server and tool\n\
             <F>:9:10: the server name `1st` does not begin with a letter\n\
             <F>:11:10: the server name `a-` does not end with a letter or digit\n\
             <F>:13:10: the server name `` is empty\n\
             <F>:15:10: the server name `{}` is longer than 32 characters",
            "a".repeat(40)
        ),
    );
}

#[test]
fn b07_reserved_and_colliding_names() {
    refused(
        "[servers.workspace]\ncommand = \"a\"\n[servers.Codex-Apps]\ncommand = \"a\"\n[servers.Squire]\ncommand = \"a\"\n\
         [servers.squire]\ncommand = \"a\"\n",
        "<F>:1:10: the server name `workspace` is reserved: an agent or squire itself uses it\n\
         <F>:3:10: the server name `Codex-Apps` is reserved: an agent or squire itself uses it\n\
         <F>:5:10: the server name `Squire` is reserved: an agent or squire itself uses it\n\
         <F>:8:1: the built-in server `squire` takes `disabled` alone",
    );
    refused(
        "[servers.my-db]\ncommand = \"a\"\n[servers.My_DB]\ncommand = \"b\"\n",
        "<F>:3:10: `My_DB` and `my-db` (line 1) are one name to some agents, which fold case and take `-` for `_`\n  \
         help: rename one of them",
    );
}

#[test]
fn profiles_that_name_what_is_not_there() {
    refused(
        "[servers.a]\ncommand = \"a\"\n[profiles.p]\nservers = [\"aa\", \"zzz\", \"squire\"]\nextends = [\"q\"]\n\
         tools.b = { deny = [] }\n",
        "<F>:4:12: there is no server \"aa\" in this layer\n  help: did you mean `a`?\n\
         <F>:4:18: there is no server \"zzz\" in this layer\n\
         <F>:5:12: there is no profile \"q\" in this layer\n\
         <F>:6:7: there is no server \"b\" in this layer",
    );
    refused(
        "[profiles.\"a b\"]\n[profiles.-p]\n",
        "<F>:1:11: the profile name \"a b\" wants letters, digits, `-` and `_`\n\
         <F>:2:11: the profile name \"-p\" wants letters, digits, `-` and `_`",
    );
}

#[test]
fn profiles_that_extend_themselves() {
    refused(
        "[profiles.a]\nextends = [\"b\"]\n[profiles.b]\nextends = [\"c\"]\n[profiles.c]\nextends = [\"a\"]\n\
         [profiles.d]\nextends = [\"d\"]\n",
        "<F>:1:11: the profile `a` extends itself\n<F>:3:11: the profile `b` extends itself\n\
         <F>:5:11: the profile `c` extends itself\n<F>:7:11: the profile `d` extends itself",
    );
}

#[test]
fn b21_references_that_are_none() {
    refused(
        "[servers.a]\ncommand = \"a\"\n\
         env = { T = \"${TOKEN}\", U = \"${env:TOKEN\", V = \"${env:A:-${env:B}}\", W = \"${file:x}\" }\n",
        "<F>:3:13: `T`: `${TOKEN}` is no reference; write `${env:TOKEN}` for an environment variable, `$${` for the plain text\n\
         <F>:3:29: `U`: `${` is not closed by `}`; write `$${` for the plain text\n\
         <F>:3:48: `V`: a default can't hold another reference\n\
         <F>:3:74: `W`: `${file:x}` is no reference; write `${env:NAME}`, `${env:NAME:-default}` or `${secret:NAME}`, \
         `$${` for the plain text",
    );
}

#[test]
fn agents_and_policies_that_are_none() {
    refused(
        "[policy]\ntransports = [\"websocket\"]\nresult_limit = \"much\"\ndeny_servers = [\"a[\"]\nrewrite_urls = [{ from = \"\" }]\n\
         [agents.codex]\nstrategy = \"claude\"\n[agents.mine]\nprogram = [\"x\"]\n",
        "<F>:2:14: `transports` wants an array of `stdio`, `http` and `sse`, and this is \"websocket\"\n\
         <F>:3:16: `result_limit` wants a size such as \"64KiB\" or \"1MiB\", and this is \"much\"\n\
         <F>:4:1: `deny_servers`: \"a[\" is no glob: invalid range pattern\n\
         <F>:5:1: each of `rewrite_urls` wants `from` and `to`\n\
         <F>:7:1: `codex` is an agent that squire knows, and speaks its own language alone\n  help: give the custom command a name of its own\n\
         <F>:8:9: `mine` is no agent that squire knows: it wants `strategy` and `program`",
    );
}

#[test]
fn duplicate_keys_and_nul() {
    refused("[servers.a]\ncommand = \"a\"\ncommand = \"b\"\n", "<F>:3:1: duplicate key");
    refused(
        "[servers.a]\ncommand = \"a\\u0000b\"\ncwd = \"\\u0000\"\nenv = { A = \"\\u0000\" }\n",
        "<F>:2:11: `command` holds a NUL character, which no program can be given\n\
         <F>:3:7: `cwd` holds a NUL character, which no program can be given\n\
         <F>:4:13: `A` holds a NUL character, which no program can be given",
    );
}

#[test]
fn b16_other_encodings() {
    refused(b"[servers.a]\ncommand = \"\xc3\xa9\xff\"\n", "<F>:2:13: this byte is not UTF-8");
    let utf16: Vec<u8> = "\u{feff}[servers.a]\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    refused(utf16, "<F>:1:1: this is UTF-16; squire reads UTF-8");
    let utf16: Vec<u8> = "\u{feff}[servers.a]\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    refused(utf16, "<F>:1:1: this is UTF-16; squire reads UTF-8");
}

/// B16: no byte order mark and no carriage return is in any value.
#[test]
fn b16_a_byte_order_mark_and_crlf_are_accepted() {
    let run = Test::new()
        .write(
            "home/.config/squire/squire.toml",
            "\u{feff}[servers.a]\r\ncommand = \"a\"\r\nargs = [\r\n  \"x\",\r\n  \"\"\"\r\ny\"\"\",\r\n]\r\n",
        )
        .args(["list", "--json"])
        .any_stdout()
        .unchanged()
        .success();
    let listed: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(listed["servers"][1]["runs"], "a x y");
    // The place is that of the file, the mark is no column.
    refused("\u{feff}[servers.a\r\n", "<F>:1:11: unclosed table, expected `]`");
}

#[test]
fn a_file_that_is_too_large_or_none() {
    let comment = format!("# {}\n", "x".repeat(1021));
    let exact = comment.repeat(1024);
    assert_eq!(exact.len(), 1024 * 1024);
    Test::new()
        .write("home/.config/squire/squire.toml", &exact)
        .args(["list"])
        .any_stdout()
        .unchanged()
        .success();
    refused(format!("{exact}\n"), "<F>: it is larger than 1024 KiB");
    refused_everywhere(
        |test| test.write("home/.config/squire/squire.toml/x", ""),
        "<F>: it is no regular file",
    );
    refused_everywhere(
        |test| {
            let test = test.write("home/.config/squire/x", "");
            let fifo = test.path("home/.config/squire/squire.toml");
            assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
            test
        },
        "<F>: it is no regular file",
    );
}

/// Depth is refused by the parser, and overflows no stack.
#[test]
fn deep_nesting() {
    let deep = 100_000;
    refused(
        format!("x = {}{}\n", "[".repeat(deep), "]".repeat(deep)),
        "<F>:1:85: cannot recurse further; max recursion depth met",
    );
    refused(format!("x{} = 1\n", ".a".repeat(deep)), "<F>:1:1: recursion limit");
    refused(format!("[x{}]\n", ".a".repeat(deep)), "<F>:1:1: recursion limit");
}

/// A mistake that the parser sees a hundred thousand times is not told a hundred thousand times.
#[test]
fn errors_without_number_are_told_in_a_bounded_text() {
    for bad in ["[".repeat(100_000), "{a=".repeat(100_000), "= 1\n".repeat(100_000)] {
        let run = Test::new().config(&format!("x = {bad}")).args(["list"]).any_stderr().unchanged().code(1);
        let lines = run.stderr.lines().count();
        assert!(lines <= 200, "{lines} lines");
    }
}

/// Nothing acts on the terminal, whoever wrote it: escapes, direction marks, line ends within a value.
#[test]
fn control_characters_are_never_raw() {
    let raw = |text: &str| {
        text.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c))
    };
    refused(
        "[servers.\"\\u001b[2J\\u202e\"]\ncommand = \"a\"\n",
        "<F>:1:10: the server name `\\u{1b}[2J\\u{202e}` holds '\\u{1b}'; letters, digits, `-` and `_` are legal in \
         every agent",
    );
    let odd = "[servers.a]\ncommand = \"\\u001b[2Ja\"\nargs = [\"\\u0007\\u009b31m\", \"\\u202e\", \"a\\nb\"]\n\
               description = \"\\u001b[2J\\u009b\"\nenv = { \"\\u001b[31m\" = \"\\u001b[31m\" }\n\
               [servers.b]\nurl = \"https://h/\\u202e\"\nheaders = { A = \"\\u202e$${\" }\n";
    for arguments in
        [&["list"][..], &["describe", "claude"], &["describe", "codex"], &["describe", "opencode"]]
    {
        let run = Test::new().config(odd).args(arguments.iter().copied()).any_stdout().unchanged().success();
        assert_eq!(raw(&run.stdout), None, "{arguments:?}: {}", run.stdout);
    }
    let run = with_agents(Test::new().config(odd)).args(["launch", "codex"]).any_stderr().success();
    assert_eq!(raw(&run.stderr), None, "{}", run.stderr);
}

/// A directory's name is somebody else's text too: a repository chooses it.
#[test]
fn control_characters_of_a_directory_are_never_raw() {
    let project = "project/\u{1b}[2J\u{202e}";
    for arguments in
        [&["list"][..], &["describe", "claude"], &["describe", "codex"], &["describe", "opencode"]]
    {
        let run = Test::new()
            .write(&format!("{project}/squire.toml"), "[servers.a]\ncommand = \"a\"\n")
            .write(&format!("{project}/opencode.json"), "{ broken")
            .write(&format!("{project}/.codex/config.toml"), "broken")
            .directory(project)
            .args(arguments.iter().copied())
            .any_stdout()
            .success();
        let raw = run.stdout.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(raw, None, "{arguments:?}: {}", run.stdout);
    }
}

/// A time that no clock can hold is an error in the file or the longest wait there is, never a crash.
#[test]
fn times_without_end() {
    for time in ["18446744073709551615s", "10000000000000000000s", "584000000000years"] {
        for field in ["timeout", "startup_timeout"] {
            for agent in ["claude", "codex", "cursor", "opencode", "inspect"] {
                let run = Test::new()
                    .config(&format!("[servers.a]\ncommand = \"a\"\n{field} = \"{time}\"\n"))
                    .args(["describe", agent])
                    .any_stdout()
                    .any_stderr()
                    .ends();
                let code = run.1;
                assert!(matches!(code, Some(0 | 1)), "{agent}, {field} = {time}: {code:?} {}", run.0.stderr);
            }
        }
    }
}

#[test]
fn a_thousand_servers() {
    let test = || with_agents(Test::new()).config(&many_servers(1000));
    let listed = test().args(["list"]).any_stdout().unchanged().success();
    assert_eq!(listed.stdout.lines().count(), 1002);
    let run = test().args(["launch", "claude", "--quiet"]).success();
    let file: serde_json::Value =
        serde_json::from_str(run.agent()["files"][0]["content"].as_str().unwrap()).unwrap();
    assert_eq!(file["mcpServers"].as_object().unwrap().len(), 1001);
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
    let run = test().args(["launch", "opencode"]).any_stderr().unchanged().code(125);
    assert!(!run.agent_was_started());
    assert!(run.stderr.contains("launch with fewer servers (--profile, --server)"), "{}", run.stderr);
    // More than the kernel takes, or all of them: never a start that the kernel refuses.
    let (run, code) = test().args(["launch", "codex", "--quiet"]).any_stderr().ends();
    assert!(code == Some(0) && run.agent_was_started() || code == Some(125), "{code:?} {}", run.stderr);
    assert!(!run.stderr.contains("Argument list too long"), "{}", run.stderr);
}

#[test]
fn b86_unknown_names_on_the_command_line() {
    let config = "[servers.github]\ncommand = \"g\"\n[servers.docs]\ncommand = \"d\"\n[profiles.work]\nservers = [\"docs\"]\n";
    let test = || with_agents(Test::new().config(config)).unchanged();
    let profile = "squire: there is no profile \"wrok\"; did you mean `work`?\n";
    test().args(["list", "--profile", "wrok"]).stderr(profile).code(2);
    test().args(["describe", "claude", "--profile", "wrok"]).stderr(profile).code(2);
    for agent in ["claude", "codex", "cursor", "opencode", "inspect"] {
        let run = test()
            .args(["launch", agent, "--profile", "wrok", "--server", "guthib", "--server", "zzz"])
            .stderr(format!(
                "{profile}there is no server \"guthib\"; did you mean `github`?\n\
                 there is no server \"zzz\"; there are: squire, github, docs\n"
            ))
            .code(125);
        assert!(!run.agent_was_started());
    }
    Test::new()
        .args(["list", "--profile", "x"])
        .stderr("squire: there is no profile \"x\"; no profile is declared\n")
        .unchanged()
        .code(2);
}

#[test]
fn a_wrong_command_line() {
    for (arguments, code) in [
        (&["list", "--nonsense"][..], 2),
        (&["describe", "emacs"], 2),
        (&["describe", "--profile", "x"], 2),
        (&["launch"], 125),
        (&["launch", "emacs"], 125),
        (&["launch", "claude", "--nonsense"], 125),
        (&["launch", "claude", "hello"], 125),
        (&["gateway", "a"], 2),
        (&["nonsense"], 2),
        (&[], 2),
    ] {
        let run =
            with_agents(Test::new()).args(arguments.iter().copied()).any_stderr().unchanged().code(code);
        assert!(!run.agent_was_started() && !run.stderr.is_empty());
    }
}

/// B21: a launch names every server and reference at once; looking needs no values.
#[test]
fn b21_unset_variables() {
    let config = "[servers.a]\ncommand = [\"srv\", \"--as=${env:NOPE_USER}\"]\ncwd = \"${env:NOPE_DIR}\"\n\
                  env = { TOKEN = \"${env:NOPE_TOKEN}\", D = \"${env:NOPE_TOKEN:-dev}\", E = \"${env:NOPE_TOKEN:-}\" }\n\
                  inherit_env = [\"NOPE_INHERITED\"]\n\
                  [servers.b]\ncommand = \"srv\"\nenv = { TOKEN = \"x${env:NOPE_TOKEN}\", SET = \"${env:HOME}\" }\n\
                  [servers.off]\ncommand = \"srv\"\ndisabled = true\nenv = { TOKEN = \"${env:NOPE_TOKEN}\" }\n\
                  [servers.c]\ncommand = \"srv\"\n";
    let told = "squire: nothing was started:\n  \
                a: args needs ${env:NOPE_USER}, which is not set or empty\n  \
                a: env.TOKEN needs ${env:NOPE_TOKEN}, which is not set or empty\n  \
                a: cwd needs ${env:NOPE_DIR}, which is not set or empty\n  \
                b: env.TOKEN needs ${env:NOPE_TOKEN}, which is not set or empty\n  \
                help: set it, give it a default as in ${env:NAME:-default}, or leave such servers out with --allow-missing\n";
    // Set to nothing is not set.
    let test = || with_agents(Test::new().config(config)).env("NOPE_TOKEN", "").unchanged();
    for agent in ["claude", "codex", "cursor", "opencode", "inspect"] {
        let run = test().args(["launch", agent]).stderr(told).code(125);
        assert!(!run.agent_was_started());
        test().args(["describe", agent]).any_stdout().success();
    }
    test().args(["list"]).any_stdout().success();
    // What is not selected needs nothing.
    let run = with_agents(Test::new().config(config))
        .args(["launch", "codex", "--quiet", "--server", "c"])
        .success();
    assert!(run.agent_was_started());
}

/// B60: looking needs no home and writes nothing, wherever a home would be.
#[test]
fn b60_without_a_home() {
    for arguments in [&["list"][..], &["describe"], &["describe", "claude"], &["--version"], &["--help"]] {
        let run =
            |test: Test| -> Run { test.args(arguments.iter().copied()).any_stdout().unchanged().success() };
        run(Test::new()
            .env("SQUIRE_CONFIG_DIR", "/nonexistent/c")
            .env("SQUIRE_STATE_DIR", "/nonexistent/s")
            .env_remove("HOME"));
        run(Test::new().env("HOME", "/"));
        run(Test::new().env("HOME", "").env("SQUIRE_CONFIG_DIR", "/nonexistent/c"));
        run(Test::new().env("TMPDIR", "/nonexistent").env("XDG_CONFIG_HOME", "relative"));
    }
    assert!(!std::path::Path::new("/.config/squire").exists());
    Test::new()
        .env("HOME", "relative")
        .args(["list"])
        .stderr("squire: there is no home directory: set HOME to an absolute path, or SQUIRE_CONFIG_DIR\n")
        .unchanged()
        .code(1);
}

#[test]
fn squires_own_directories_must_be_the_users() {
    Test::new()
        .env("SQUIRE_CONFIG_DIR", "relative")
        .args(["list"])
        .stderr("squire: SQUIRE_CONFIG_DIR is relative: it must be an absolute path\n")
        .unchanged()
        .code(1);
    for variable in ["SQUIRE_CONFIG_DIR", "SQUIRE_STATE_DIR"] {
        let test = with_agents(Test::new());
        let inside = test.path("project/inside");
        let run = test
            .env(variable, inside)
            .args(["launch", "claude"])
            .stderr(format!(
                "squire: <T>/project/inside lies inside the project <T>/project: a repository could fill it; set \
                 {variable} to a directory of your own\n"
            ))
            .unchanged()
            .code(125);
        assert!(!run.agent_was_started());
    }
    for words in [&["list"][..], &["show", "squire"], &["describe", "claude"]] {
        let test = with_agents(Test::new());
        let inside = test.path("project/inside");
        test.env("SQUIRE_CONFIG_DIR", inside)
            .args(words.iter().copied())
            .stderr(
                "squire: <T>/project/inside lies inside the project <T>/project: a repository could fill it; set \
                 SQUIRE_CONFIG_DIR to a directory of your own\n",
            )
            .unchanged()
            .code(1);
    }
}

/// What is not written is not done: a full disk is told, whatever the command.
#[test]
fn a_full_disk_is_told() {
    for (words, code) in [
        (&["list"][..], 1),
        (&["list", "--json"], 1),
        (&["show", "squire"], 1),
        (&["check", "--sarif"], 1),
        (&["describe"], 1),
        (&["schema"], 1),
        (&["man"], 1),
        (&["completions", "bash"], 1),
        (&["launch", "inspect", "--dry-run"], 125),
    ] {
        Test::new()
            .behind("exec > /dev/full")
            .args(words.iter().copied())
            .stderr("squire: stdout can't be written: No space left on device (os error 28)\n")
            .code(code);
    }
}

/// B60: a place for private files is needed, and one that others can enter is none.
#[test]
fn b60_private_files_want_a_private_place() {
    let test = || {
        with_agents(Test::new().config("[servers.a]\ncommand = \"a\"\n"))
            .args(["launch", "claude", "--server", "a", "--quiet"])
    };
    let place = |run: &Run| run.agent_arguments()[0].clone();
    let open = test().write("home/run/x", "").mode("home/run", 0o777);
    let directory = open.path("home/run");
    let run = open.env("XDG_RUNTIME_DIR", directory).success();
    assert_eq!(place(&run), "--mcp-config=<T>/home/.local/state/squire/private/<private>/claude.json");
    assert_eq!(run.files_below("home/run"), ["x"]);
    let own = test().write("home/run/x", "").mode("home/run", 0o700);
    let directory = own.path("home/run");
    let run = own.env("XDG_RUNTIME_DIR", directory).success();
    assert_eq!(place(&run), "--mcp-config=<T>/home/run/squire/<private>/claude.json");
    assert_eq!(run.files_below("home/run"), ["x"]);
    let run = test()
        .env("SQUIRE_STATE_DIR", "/dev/null/squire")
        .stderr("squire: no private directory can be had in /dev/null/squire/private; set SQUIRE_STATE_DIR to one that can be written: Not a directory (os error 20)\n")
        .unchanged()
        .code(125);
    assert!(!run.agent_was_started());
    // Codex needs no file, so it needs no place.
    let run = with_agents(Test::new())
        .env("SQUIRE_STATE_DIR", "/dev/null/squire")
        .args(["launch", "codex", "--quiet"])
        .unchanged()
        .success();
    assert!(run.agent_was_started());
}

/// B16: what stands around our entries in the agent's own file stays to the byte, mark and line ends included.
#[test]
fn b16_a_file_of_the_agent_keeps_its_mark_and_line_ends() {
    let original = "\u{feff}{\r\n  \"mcpServers\": {\r\n    \"own\": { \"command\": \"x\" }\r\n  },\r\n  \"z\": 1\r\n}\r\n";
    let run = with_agents(Test::new())
        .write("project/.cursor/mcp.json", original)
        .args(["launch", "cursor", "--quiet"])
        .success();
    let during = run.agent()["files"][0]["content"].as_str().unwrap().to_owned();
    assert!(during.starts_with("\u{feff}{\r\n  \"mcpServers\": {\r\n    \"squire\": {"), "{during:?}");
    assert!(
        during.ends_with(",\r\n    \"own\": { \"command\": \"x\" }\r\n  },\r\n  \"z\": 1\r\n}\r\n"),
        "{during:?}"
    );
    assert!(!during.replace("\r\n", "").contains(['\r', '\n']), "line ends are mixed: {during:?}");
    assert_eq!(std::fs::read_to_string(run.path("project/.cursor/mcp.json")).unwrap(), original);
    let utf16: Vec<u8> = original.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let run = with_agents(Test::new())
        .write("project/.cursor/mcp.json", utf16)
        .args(["launch", "cursor", "--quiet"])
        .stderr("squire: <T>/project/.cursor/mcp.json:1:1: it is not UTF-8\n  help: mend the file, or move it away\n")
        .unchanged()
        .code(125);
    assert!(!run.agent_was_started());
}
