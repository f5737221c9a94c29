//! What a file declares and can't be.

use super::refused;

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
         result_limit, tools, grants, remove, trust, max_restarts, sampling, audit, spill, pin\n\
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
