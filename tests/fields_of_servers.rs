//! Every field of a server that is none of the plain ones: what is wrong with it is told with its place.

use crate::support::{Test, gateway_words};

const FILE: &str = "<T>/home/.config/squire/squire.toml";

#[track_caller]
fn refused(config: &str, message: &str) {
    let message = message.replace("<F>", FILE);
    Test::new().config(config).args(["list"]).stderr(format!("squire: {message}\n")).unchanged().code(1);
}

/// One server with these fields is refused; `<F>` is the file, and the first of the fields is in line 2.
#[track_caller]
fn of_program(fields: &str, message: &str) {
    refused(&format!("[servers.a]\n{fields}\ncommand = \"a\"\n"), message);
}

#[track_caller]
fn of_remote(fields: &str, message: &str) {
    refused(&format!("[servers.a]\n{fields}\nurl = \"https://h.example.com/mcp\"\n"), message);
}

/// A project's file with this server is set aside.
#[track_caller]
fn of_project(fields: &str, message: &str) {
    let (place, reason) = message.split_once(": ").unwrap();
    let run = Test::new()
        .project(&format!("[servers.a]\n{fields}\n"))
        .args(["list"])
        .any_stdout()
        .stderr(format!(
            "squire: <T>/project/squire.toml:{place}: the project's file is not used: {reason}\n"
        ))
        .unchanged()
        .success();
    assert!(!run.stdout.contains("not-approved"), "{}", run.stdout);
}

#[test]
fn the_wrong_type_of_each_field() {
    of_remote(
        "\nclient_cert = 1\nclient_key = []\nca = true\nresult_limit = 1.5\ntools = []\ngrants = 1\n\
         remove = 1\ntrust = true\nmax_restarts = \"5\"\nsampling = \"false\"\naudit = 1\npin = []",
        "<F>:3:15: `client_cert` wants a string, and this is of type integer\n\
         <F>:4:14: `client_key` wants a string, and this is of type array\n\
         <F>:5:6: `ca` wants a string, and this is of type boolean\n\
         <F>:6:16: `result_limit` wants a size such as \"64KiB\" or \"1MiB\", and this is of type float\n\
         <F>:7:9: `tools` wants a table, as in { allow = [\"repo.*\"], deny = [\"repo.delete\"] }, and this is of type array\n\
         <F>:8:10: `grants` wants a table, as in { network = false, secrets = [\"db\"] }, and this is of type integer\n\
         <F>:9:10: `remove` wants `true` or `false`, and this is of type integer\n\
         <F>:10:9: `trust` wants a string, and this is of type boolean\n\
         <F>:11:16: `max_restarts` wants a whole number from 0, and this is of type string\n\
         <F>:12:12: `sampling` wants `true` or `false`, and this is of type string\n\
         <F>:13:9: `audit` wants a string, and this is of type integer\n\
         <F>:14:7: `pin` wants a string, and this is of type array",
    );
}

#[test]
fn the_wrong_type_within_a_field() {
    of_remote(
        "auth = { type = \"header\", header = 2, secret = \"s\", token = \"x\" }\ntools = { allow = \"x\", deny = [1], block = [] }\n\
         grants = { network = 1, filesystem = \"no\", secrets = \"x\", net = true }",
        "<F>:2:36: `header` wants a string, and this is of type integer\n\
         <F>:2:53: unknown key `token` in `auth`\n  help: known keys: type, header, secret\n\
         <F>:3:19: `allow` wants an array of names or globs, as in [\"repo.*\"], and this is of type string\n\
         <F>:3:32: `deny` wants an array of names or globs, as in [\"repo.*\"], and this is of type integer\n\
         <F>:3:36: unknown key `block` in a filter of tools\n  help: known keys: allow, deny\n\
         <F>:4:22: `network` wants `true` or `false`, and this is of type integer\n\
         <F>:4:38: `filesystem` wants `true` or `false`, and this is of type string\n\
         <F>:4:54: `secrets` wants an array of names of secrets, and this is of type string\n\
         <F>:4:59: unknown key `net` in `grants`\n  help: did you mean `network`?",
    );
}

#[test]
fn words_that_are_none() {
    of_program(
        "trust = \"community \"\naudit = \"none\"\npin = \"on\"\nmax_restarts = -1\nresult_limit = -5",
        "<F>:2:9: `trust` wants one of \"trusted\", \"community\", and this is \"community \"\n\
         <F>:3:9: `audit` wants one of \"digest\", \"full\", \"off\", and this is \"none\"\n\
         <F>:4:7: `pin` wants one of \"block\", \"warn\", \"off\", and this is \"on\"\n\
         <F>:5:16: `max_restarts` wants a whole number from 0, and this is \"-1\"\n\
         <F>:6:16: `result_limit` wants a whole number from 0, and this is \"-5\"",
    );
    of_program(
        "max_restarts = 99999999999",
        "<F>:2:16: `max_restarts` wants a whole number from 0, and this is \"99999999999\"",
    );
}

#[test]
fn sizes() {
    for size in ["64 KiBs", "KiB", "1.5MiB", "64kib", "-1", "", "99999999999GiB", "1 0"] {
        of_program(
            &format!("result_limit = \"{size}\""),
            &format!(
                "<F>:2:16: `result_limit` wants a size such as \"64KiB\" or \"1MiB\", and this is {size:?}"
            ),
        );
    }
    for size in ["65536", "0x10000", "65_536", "\"64KiB\"", "\"64 KiB\"", "\"1MB\"", "\"7\"", "\"7B\""] {
        let config = format!("[servers.a]\ncommand = \"a\"\nresult_limit = {size}\n");
        assert_eq!(Test::new().config(&config).listed(&["name", "state"]), ["a | on"], "{size}");
    }
}

#[test]
fn authentication() {
    of_remote(
        "auth = { type = \"oauth\" }",
        "<F>:2:1: `auth` of the type oauth is not supported yet\n  help: leave `auth` out: a plain remote server is direct, and the agent's own OAuth works",
    );
    of_remote(
        "auth = { secret = \"k\" }",
        "<F>:2:1: `auth` wants a `type`, as in { type = \"bearer\", secret = \"github\" }",
    );
    for kind in ["bearer", "header"] {
        of_remote(
            &format!("auth = {{ type = \"{kind}\" }}"),
            "<F>:2:1: `auth` wants a `secret`: the name of one in secrets.toml",
        );
    }
    of_remote(
        "auth = { type = \"bearer\", header = \"X-Key\", secret = \"k\" }",
        "<F>:2:27: `header` goes with the type header; bearer is always Authorization",
    );
    of_program(
        "auth = { type = \"bearer\", secret = \"k\" }",
        "<F>:2:1: [servers.a]: `auth` does not go with a stdio server",
    );
}

/// Header names don't count case, and `header` alone means Authorization.
#[test]
fn authentication_that_clashes_with_headers() {
    for (auth, header) in [
        ("{ type = \"bearer\", secret = \"k\" }", "Authorization"),
        ("{ type = \"header\", secret = \"k\" }", "Authorization"),
    ] {
        of_remote(
            &format!("headers = {{ AUTHORIZATION = \"x\" }}\nauth = {auth}"),
            &format!("<F>:3:1: [servers.a]: `auth` and `headers` both set {header}"),
        );
    }
    of_remote(
        "auth = { type = \"header\", header = \"X-Api-Key\", secret = \"k\" }\nheaders = { x-api-key = \"x\" }",
        "<F>:2:1: [servers.a]: `auth` and `headers` both set X-Api-Key",
    );
    let config = "[servers.a]\nurl = \"https://h.example.com/\"\nauth = { type = \"header\", header = \"X-Key\", secret = \"k\" }\nheaders = { Authorization = \"x\" }\n";
    assert_eq!(Test::new().config(config).listed(&["name", "state"]), ["a | on"]);
}

#[test]
fn fields_of_the_other_transport() {
    for field in ["client_cert", "client_key", "ca"] {
        of_program(
            &format!("{field} = \"x\""),
            &format!("<F>:2:1: [servers.a]: `{field}` does not go with a stdio server"),
        );
    }
}

#[test]
fn direct_takes_nothing_that_squire_would_do() {
    for field in [
        "auth = { type = \"bearer\", secret = \"k\" }",
        "client_cert = \"c\"",
        "client_key = \"c\"",
        "ca = \"c\"",
        "tools = { deny = [\"x\"] }",
        "result_limit = \"1MiB\"",
        "timeout = \"1m\"",
        "audit = \"full\"",
        "pin = \"warn\"",
        "headers = { X = \"${env:X}\" }",
    ] {
        of_remote(
            &format!("route = \"direct\"\n{field}"),
            "<F>:2:1: [servers.a]: `route = \"direct\"` hands the entry to the agent as it is: no reference, auth, filter, limit or timeout goes with it",
        );
    }
    let config = "[servers.a]\nurl = \"https://h.example.com/\"\nroute = \"direct\"\naudit = \"off\"\npin = \"off\"\nsampling = false\nmax_restarts = 0\nremove = false\ntrust = \"trusted\"\ngrants = { network = true }\n";
    assert_eq!(Test::new().config(config).listed(&["name", "state", "route"]), ["a | on | direct"]);
}

#[test]
fn sampling_is_refused() {
    of_program("sampling = true", "<F>:2:1: `sampling` is refused by squire: `false` is the only value");
    let config = "[servers.a]\ncommand = \"a\"\nsampling = false\n";
    assert_eq!(Test::new().config(config).listed(&["name", "state"]), ["a | on"]);
}

#[test]
fn more_than_is_granted() {
    of_remote(
        "grants = { network = false }",
        "<F>:2:1: [servers.a]: a remote server uses the network, which `grants` refuses",
    );
    of_program(
        "grants = { filesystem = false }",
        "<F>:2:1: [servers.a]: a program uses the file system, which `grants` refuses",
    );
    for field in ["env = { X = \"${secret:db}\" }", "args = [\"${secret:db}\"]", "cwd = \"${secret:db}\""] {
        for granted in ["[]", "[\"other\"]", "[\"DB\"]"] {
            of_program(
                &format!("grants = {{ secrets = {granted} }}\n{field}"),
                "<F>:2:1: [servers.a]: the secret `db` is used, and `grants` does not name it",
            );
        }
    }
    of_remote(
        "auth = { type = \"bearer\", secret = \"keys.github\" }\ngrants = { secrets = [\"github\"] }",
        "<F>:3:1: [servers.a]: the secret `keys.github` is used, and `grants` does not name it",
    );
    for fields in [
        "command = \"a\"\ngrants = { network = false, filesystem = true, secrets = [] }",
        "command = \"a\"\ngrants = {}",
        "url = \"https://h.example.com/\"\ngrants = { filesystem = false, network = true }",
    ] {
        let config = format!("[servers.a]\n{fields}\n");
        assert_eq!(Test::new().config(&config).listed(&["name", "state"]), ["a | on"], "{fields}");
    }
}

#[test]
fn globs_that_are_none() {
    of_program("tools = { allow = [\"a[\"] }", "<F>:2:11: `allow`: \"a[\" is no glob: invalid range pattern");
    of_program(
        "tools = { deny = [\"ok\", \"***\"] }",
        "<F>:2:11: `deny`: \"***\" is no glob: wildcards are either regular `*` or recursive `**`",
    );
}

#[test]
fn there_is_nothing_below_these_files_to_take_out() {
    of_program(
        "remove = true",
        "<F>:2:1: `remove` takes out a lower layer's server, and there is none below this file\n  help: delete the declaration, or write `disabled = true`",
    );
    of_project(
        "remove = true\ncommand = \"a\"",
        "2:1: `remove` takes out a lower layer's server, and there is none below this file\n  help: delete the declaration, or write `disabled = true`",
    );
}

#[test]
fn the_users_own_server_may_be_of_the_tier_community() {
    let test = Test::new().config("[servers.a]\ncommand = \"a\"\ntrust = \"community\"\n");
    assert_eq!(
        test.listed(&["name", "tier", "state", "reason"]),
        ["a | community | not-approved | of the tier community, and not approved"]
    );
}

/// B33: what a project may not say of itself.
#[test]
fn b33_a_project_says_nothing_of_trust() {
    for field in ["trust = \"trusted\"", "trust = \"community\"", "audit = \"off\"", "pin = \"off\""] {
        let key = field.split(' ').next().unwrap();
        of_project(
            &format!("command = \"a\"\n{field}"),
            &format!("3:1: `{key}` is the user's to say, and not a project's"),
        );
    }
}

#[test]
fn b33_a_project_raises_no_limit() {
    for limit in ["65537", "\"65KiB\"", "\"1MiB\""] {
        of_project(
            &format!("command = \"a\"\nresult_limit = {limit}"),
            "3:1: [servers.a]: a project can only lower `result_limit`, which is 65536 bytes",
        );
    }
    let listed = |user: &str, limit: &str| {
        let test = Test::new().config(user);
        test.project(&format!("[servers.a]\ncommand = \"a\"\nresult_limit = {limit}\n"))
            .args(["list"])
            .any_stdout()
    };
    for (user, limit) in [("", "\"64KiB\""), ("", "1"), ("[policy]\nresult_limit = \"1MiB\"\n", "\"1MiB\"")] {
        let run = listed(user, limit).success();
        assert!(run.stdout.contains("not-approved"), "{limit}: {}", run.stdout);
    }
    listed("[policy]\nresult_limit = 1000\n", "1001")
        .stderr("squire: <T>/project/squire.toml:3:1: the project's file is not used: [servers.a]: a project can only lower `result_limit`, which is 1000 bytes\n")
        .success();
}

#[test]
fn b33_a_project_stays_in_its_directory() {
    for cwd in ["/", "/tmp", "~", "~/x", "..", "../x", "a/../..", "a/..", "${env:HOME}", "x/${env:X:-y}"] {
        of_project(
            &format!("command = \"a\"\ncwd = \"{cwd}\""),
            "3:1: [servers.a]: a project's `cwd` stays inside the project: a relative path without `..`",
        );
    }
    for cwd in ["x", "x/y", ".", "./x", "..x", "x..", "$${x}"] {
        let test = Test::new().project(&format!("[servers.a]\ncommand = \"a\"\ncwd = \"{cwd}\"\n"));
        assert_eq!(test.listed(&["name", "state"]), ["a | not-approved"], "{cwd}");
    }
}

#[test]
fn what_only_the_gateway_does_goes_through_it() {
    let listed = |field: &str| {
        let test = Test::new().config(&format!("[servers.a]\nurl = \"https://h.example.com/\"\n{field}\n"));
        test.listed(&["state", "route", "reason"])
    };
    for field in [
        "pin = \"block\"",
        "auth = { type = \"bearer\", secret = \"k\" }",
        "client_cert = \"c\"",
        "client_key = \"c\"",
        "ca = \"c\"",
        "result_limit = 1",
        "tools = { allow = [\"*\"] }",
        "audit = \"digest\"",
        "timeout = \"1m\"",
        "headers = { X = \"${secret:k}\" }",
        "headers = { X = \"${env:K}\" }",
        "route = \"gateway\"",
    ] {
        assert_eq!(listed(field), ["on | gateway | -"], "{field}");
    }
}

/// Profiles: their filters, what they require, and whether they are strict.
#[test]
fn what_is_wrong_with_profiles() {
    refused(
        "[profiles.p]\nrequire = \"all\"\nstrict = \"yes\"\ntools = []\n[profiles.q]\ntools.squire = []\nrequire = [1]\n",
        "<F>:2:11: `require` wants an array of server names, or of \"all\", and this is of type string\n\
         <F>:3:10: `strict` wants `true` or `false`, and this is of type string\n\
         <F>:4:9: `tools` wants a table of filters, as in tools.NAME = { deny = [] }, and this is of type array\n\
         <F>:6:16: `squire` wants a table, as in { allow = [\"repo.*\"], deny = [\"repo.delete\"] }, and this is of type array\n\
         <F>:7:12: `require` wants an array of server names, or of \"all\", and this is of type integer",
    );
    refused(
        "[servers.docs]\ncommand = \"x\"\n[profiles.p]\nrequire = [\"all\", \"squire\", \"dosc\"]\ntools.doc = { deny = [] }\nextends = [\"q\"]\n",
        "<F>:4:29: there is no server \"dosc\" in this layer\n  help: did you mean `docs`?\n\
         <F>:5:7: there is no server \"doc\" in this layer\n  help: did you mean `docs`?\n\
         <F>:6:12: there is no profile \"q\" in this layer",
    );
}

/// A filter of a profile or of the agent leaves out a server that the agent would reach directly: it is never passed over.
#[test]
fn a_filter_is_never_passed_over() {
    let reason = "a filter narrows its tools, and its route is direct";
    let config = "[servers.a]\nurl = \"https://h.example.com/\"\nroute = \"direct\"\n[profiles.p]\nservers = [\"a\"]\ntools.a = { deny = [\"x\"] }\n[profiles.q]\nservers = [\"a\"]\n[agents.codex]\ntools.a = { allow = [\"x\"] }\n";
    for (agent, profile, left_out) in
        [("opencode", "p", true), ("opencode", "q", false), ("codex", "p", true), ("codex", "q", true)]
    {
        let told = if left_out { format!("0 of 1; left out: a ({reason})") } else { "1 of 1: a".into() };
        let test = Test::new().config(config).agent(agent, "");
        test.args(["launch", agent, "--profile", profile])
            .stderr(format!("squire: {agent} gets {told}\n"))
            .success();
    }
}

/// One mistake is told once.
#[test]
fn authentication_of_the_wrong_type_is_told_once() {
    of_remote(
        "auth = \"bearer\"",
        "<F>:2:8: `auth` wants a table, as in { type = \"bearer\", secret = \"github\" }, and this is of type string",
    );
    of_remote(
        "auth = { type = \"basic\", secret = \"k\" }",
        "<F>:2:17: `type` wants one of \"bearer\", \"header\", \"oauth\", and this is \"basic\"",
    );
    of_remote(
        "auth = { type = \"bearer\", secret = 1 }",
        "<F>:2:36: `secret` wants a string, and this is of type integer",
    );
}

/// A header's name is held to the same rule in `auth` as in `headers`, and a secret's as in `${secret:NAME}`.
#[test]
fn names_in_authentication_are_names() {
    for auth in [
        "{ type = \"header\", header = \"X Y\", secret = \"k\" }",
        "{ type = \"header\", header = \"X:\\r\\nEvil\", secret = \"k\" }",
        "{ type = \"header\", header = \"\", secret = \"k\" }",
        "{ type = \"bearer\", secret = \"\" }",
        "{ type = \"bearer\", secret = \"a b}\" }",
    ] {
        let config = format!("[servers.a]\nurl = \"https://h.example.com/\"\nauth = {auth}\n");
        let run = Test::new().config(&config).args(["list"]).any_stdout().any_stderr().ends();
        assert_eq!(run.1, Some(1), "{auth} was taken: {}", run.0.stdout);
    }
}

/// A number of bytes is one, with a unit or without.
#[test]
fn a_size_beyond_32_bits_is_one() {
    for size in ["\"5GB\"", "\"5000000000\"", "5_000_000_000"] {
        let config = format!("[servers.a]\ncommand = \"a\"\nresult_limit = {size}\n");
        assert_eq!(Test::new().config(&config).listed(&["name", "state"]), ["a | on"], "{size}");
    }
}

/// A gateway knows the agent and the profiles of its entry, and passes over their filters no more than a launch.
#[test]
fn a_gateway_passes_over_no_filter() {
    for (agent, profile) in [("codex", None), ("claude", Some("p"))] {
        let test = Test::new().config(
            "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n\
             [profiles.p]\nservers = [\"a\"]\ntools.a = { deny = [\"echo\"] }\n[agents.codex]\ntools.a = { deny = [\"echo\"] }\n",
        );
        let words = gateway_words(&test, "a", agent);
        let mut test = test.clone().args(words).stdin(crate::gateway::CONVERSATION).any_stdout();
        if let Some(profile) = profile {
            test = test.args(["--profile", profile]);
        }
        let run = test.success();
        assert!(
            !run.stdout.contains("\"echo\"") && run.stdout.contains("\"add\""),
            "{agent}: {}",
            run.stdout
        );
    }
}
