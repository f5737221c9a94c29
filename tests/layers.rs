//! The layers below and above the user's squire.toml: `servers.d`, the local layer, and which of them wins.

use std::fs;

use serde_json::Value;

use crate::support::{Run, Test, gateway_words, local_path};

const DROP_INS: &str = "home/.config/squire/servers.d";
const MINE: &str = "[servers.mine]\ncommand = \"mine\"\n";
const ALL: &[&str] = &["name", "tier", "state", "runs", "origin"];

fn drop_in(test: Test, file: &str, text: &str) -> Test {
    test.write(&format!("{DROP_INS}/{file}"), text)
}

/// `list` and a launch refuse with the same words; nothing is written.
#[track_caller]
fn refused(test: &Test, message: &str) {
    let local = format!("<T>/{}", local_path(test, "project"));
    let message = message.replace("<D>", &format!("<T>/{DROP_INS}")).replace("<L>", &local);
    let test = test.clone().agent("claude", "");
    for (words, code) in [(["list"].as_slice(), 1), (&["launch", "claude"], 125)] {
        let run = test.clone().args(words.iter().copied());
        let run = run.stderr(format!("squire: {message}\n")).unchanged().code(code);
        assert!(!run.agent_was_started());
    }
}

/// What a launch of claude gets, and how the gateway of a server starts it.
#[track_caller]
fn claude(test: &Test) -> (Run, Vec<String>) {
    let run = test.clone().agent("claude", "").args(["launch", "claude"]).any_stderr().success();
    let file: Value =
        serde_json::from_str(run.agent_file("claude.json")["content"].as_str().unwrap()).unwrap();
    let names = file["mcpServers"].as_object().unwrap().keys().cloned().collect();
    (run, names)
}

/// How a server's gateway starts the fake server, which logs to `<T>/log`.
#[track_caller]
fn started(test: &Test, name: &str) -> Value {
    let words = gateway_words(test, name, "claude");
    let run = test.clone().args(words).stdin(crate::gateway::CONVERSATION).any_stdout().success();
    let log = fs::read_to_string(run.path("log")).expect("the server was not started");
    serde_json::from_str(log.lines().next().unwrap()).unwrap()
}

#[test]
fn drop_ins_are_listed_behind_the_users_and_not_approved() {
    let mut test = Test::new().config(MINE);
    test = drop_in(test, "b-tool.toml", "command = [\"b\", \"x y\"]\ndescription = \"d\"\n");
    test = drop_in(test, "a_tool.toml", "url = \"https://a.example.com/mcp\"\n");
    for (file, text) in
        [("c.toml.bak", "command = 1"), ("README.md", "= ="), (".toml", "x"), ("d.TOML", "x"), ("toml", "x")]
    {
        test = drop_in(test, file, text);
    }
    assert_eq!(
        test.listed(ALL),
        [
            "mine | trusted | on | mine | <T>/home/.config/squire/squire.toml:1".to_owned(),
            format!(
                "a_tool | community | not-approved | https://a.example.com/mcp | <T>/{DROP_INS}/a_tool.toml:1"
            ),
            format!("b-tool | community | not-approved | b 'x y' | <T>/{DROP_INS}/b-tool.toml:1"),
        ]
    );
}

#[test]
fn drop_ins_are_never_started() {
    let test =
        drop_in(Test::new().config(MINE), "evil.toml", "command = [\"sh\", \"-c\", \"touch $HOME/pwned\"]\n")
            .agent("claude", "");
    let reason = "declared in servers.d, and not approved";
    for words in [&["launch", "claude"][..], &["launch", "claude", "--server", "evil"]] {
        let run = test.clone().args(words.iter().copied()).any_stderr().success();
        assert!(
            run.stderr.contains(&format!("left out: evil ({reason}; squire approve evil)")),
            "{}",
            run.stderr
        );
        assert!(!run.agent().to_string().contains("evil"));
    }
    let run = test.clone().args(["launch", "inspect"]).any_stdout().any_stderr().code(1);
    assert!(!run.path("home/pwned").exists());
    let run = test.clone().args(gateway_words(&test, "evil", "claude")).any_stdout();
    let run = run.stderr(format!("squire: the server evil could not be started: {reason}\n")).code(1);
    assert!(!run.path("home/pwned").exists());
}

/// A drop-in can't lift itself; the user can, by hand, in the local layer.
#[test]
fn a_drop_in_says_nothing_of_its_own_trust() {
    let test = drop_in(Test::new(), "a.toml", "command = \"a\"\ntrust = \"trusted\"\n");
    refused(&test, "<D>/a.toml:2:1: `trust` is written by hand, in squire.toml or the local layer");
    let test =
        drop_in(Test::new(), "a.toml", "command = \"a\"\n").local("[servers.a]\ntrust = \"trusted\"\n");
    assert_eq!(test.listed(&["name", "tier", "state"]), ["a | trusted | on"]);
}

#[test]
fn what_is_wrong_with_drop_ins_is_told_with_its_place() {
    let mut test = Test::new().config("[servers.mine]\ncomand = \"mine\"\n");
    test = drop_in(test, "a.toml", "command = 1\n");
    test = drop_in(test, "b.toml", "[servers.b]\ncommand = \"b\"\n");
    test = drop_in(test, "c.toml", "x = \n");
    test = drop_in(test, "no good.toml", "command = \"x\"\n");
    test = drop_in(test, "squire.toml", "disabled = true\n");
    let run = test.clone().args(["list"]).any_stderr().code(1);
    let lines: Vec<&str> = run.stderr.lines().collect();
    for line in [
        "squire: <T>/home/.config/squire/squire.toml:2:1: unknown key `comand` in [servers.mine]",
        "<D>/a.toml:1:11: `command` wants a program, or an array of a program and its arguments, and this is of type integer",
        "<D>/b.toml:1:2: unknown key `servers` in [servers.b]",
        "<D>/c.toml:1:5: string values must be quoted, expected literal string",
        "<D>/squire.toml:1:1: the server name `squire` is reserved: an agent or squire itself uses it",
    ] {
        let line = line.replace("<D>", &format!("<T>/{DROP_INS}"));
        assert!(lines.contains(&line.as_str()), "{line}\nis not in\n{}", run.stderr);
    }
    assert!(run.stderr.contains("/no good.toml:1:1: the server name `no good` "), "{}", run.stderr);
    refused(
        &drop_in(Test::new(), "a.toml", ""),
        "<D>/a.toml:1:1: [servers.a]: neither `command` nor `url`: one of them says what the server is",
    );
}

#[test]
fn a_collision_is_told_with_both_places() {
    let test = Test::new().config("[servers.other]\ncommand = \"x\"\n[servers.my-tool]\ncommand = \"x\"\n");
    let test = drop_in(test, "My_Tool.toml", "command = \"y\"\n");
    refused(
        &test,
        "<D>/My_Tool.toml:1:1: `My_Tool` and `my-tool` (<T>/home/.config/squire/squire.toml:3) are one name to some agents, which fold case and take `-` for `_`\n  help: rename one of them",
    );
    let test = drop_in(drop_in(Test::new(), "a.toml", "command = \"x\"\n"), "A.toml", "command = \"y\"\n");
    refused(
        &test,
        "<D>/a.toml:1:1: `a` and `A` (<D>/A.toml:1) are one name to some agents, which fold case and take `-` for `_`\n  help: rename one of them",
    );
}

/// Dotfiles are often linked; a link to nothing or a file that anybody may write is not passed over.
#[test]
fn drop_ins_by_a_link_and_by_others() {
    let test = Test::new().write("elsewhere/x", "command = \"x\"\n");
    let target = test.path("elsewhere/x");
    let test = test.link(target, &format!("{DROP_INS}/linked.toml"));
    assert_eq!(
        test.listed(&["name", "state", "origin"]),
        [format!("linked | not-approved | <T>/{DROP_INS}/linked.toml:1")]
    );
    let test = Test::new().link("nothing", &format!("{DROP_INS}/a.toml"));
    refused(&test, "<D>/a.toml: it is a symbolic link to nothing");
    let file = format!("{DROP_INS}/a.toml");
    refused(
        &Test::new().write(&file, "command = \"a\"\n").mode(&file, 0o666),
        "<D>/a.toml: everybody may write it",
    );
    refused(&Test::new().write(&format!("{file}/x"), ""), "<D>/a.toml: it is no regular file");
}

/// A profile of the user's may name a drop-in: both are the user's side.
#[test]
fn a_profile_may_name_a_drop_in() {
    let test =
        drop_in(Test::new().config("[profiles.p]\nservers = [\"a\"]\n"), "a.toml", "command = \"a\"\n");
    test.agent("codex", "")
        .args(["launch", "codex", "--profile", "p"])
        .stderr("squire: codex gets 0 of 1; left out: a (declared in servers.d, and not approved; squire approve a)\n")
        .success();
}

#[test]
fn local_changes_single_fields_and_the_others_stay() {
    let test = Test::new()
        .config(
            "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\nargs = [\"one\"]\n\
             env = { A = \"user\", B = \"user\" }\ninherit_env = [\"C\"]\n",
        )
        .env("C", "inherited")
        .local("[servers.a]\nenv = { A = \"local\" }\n");
    let told = started(&test, "a");
    assert_eq!(told["env"]["A"], "local");
    // A field is one value: a table is not mixed.
    assert_eq!(told["env"].get("B"), None);
    assert_eq!(told["env"]["C"], "inherited");
    assert!(told["argv"].as_array().unwrap().iter().any(|word| word == "one"), "{told}");
    // Another project has none of it.
    let other = test.clone().write("other/.git/x", "").local("[servers.a]\ncommand = \"changed\"\n");
    let runs = |directory: &str| other.clone().directory(directory).listed(&["runs"]);
    assert_eq!(runs("project"), ["changed one"]);
    assert_eq!(runs("other"), ["<server> stdio --log <T>/log one"]);
}

#[test]
fn the_local_layer_is_that_of_the_projects_real_path() {
    let test = Test::new().config(MINE).write("project/deep/er/x", "").link("project", "linked");
    let test = test.local("[servers.mine]\ncommand = \"local\"\n");
    for directory in ["project", "project/deep/er", "linked", "linked/deep"] {
        assert_eq!(test.clone().directory(directory).listed(&["runs"]), ["local"], "{directory}");
    }
}

#[test]
fn local_takes_servers_out() {
    let user = "[servers.a]\ncommand = \"a\"\n[servers.b]\ncommand = \"b\"\n[servers.c]\ncommand = \"c\"\ndisabled = true\n";
    let test = Test::new().config(user).local(
        "[servers.a]\nremove = true\n[servers.b]\ndisabled = true\n[servers.c]\ndisabled = false\n[servers.p]\nremove = true\n",
    );
    let test = test.project("[servers.p]\ncommand = \"p\"\n[servers.q]\ncommand = \"q\"\n");
    assert_eq!(test.clone().listed(&["name", "state"]), ["b | disabled", "c | on", "q | not-approved"]);
    test.agent("codex", "")
        .args(["launch", "codex", "--server", "b"])
        .stderr("squire: codex gets 0 of 1; left out: b (disabled in the local layer)\n")
        .success();
}

#[test]
fn a_removed_server_is_unknown() {
    Test::new()
        .config(MINE)
        .local("[servers.mine]\nremove = true\n")
        .agent("claude", "")
        .args(["launch", "claude", "--server", "mine"])
        .stderr("squire: there is no server \"mine\"; there are: squire\n")
        .unchanged()
        .code(125);
}

#[test]
fn local_adds_a_server_of_this_project() {
    let test = Test::new()
        .config(MINE)
        .local("[servers.new]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n")
        .project("[servers.theirs]\ncommand = \"x\"\n");
    let origin = local_path(&test, "project");
    assert_eq!(
        test.clone().listed(&["name", "tier", "state", "origin"]),
        [
            "mine | trusted | on | <T>/home/.config/squire/squire.toml:1".to_owned(),
            format!("new | trusted | on | <T>/{origin}:1"),
            "theirs | community | not-approved | <T>/project/squire.toml:1".into(),
        ]
    );
    started(&test, "new");
    assert_eq!(claude(&test).1, ["squire", "mine", "new"]);
}

/// The user's change of a project's server is no approval of it.
#[test]
fn local_changes_a_projects_server_and_approves_nothing() {
    let test = Test::new()
        .local("[servers.p]\nargs = [\"changed\"]\ndescription = \"mine\"\n")
        .project("[servers.p]\ncommand = \"p\"\nargs = [\"theirs\"]\n");
    assert_eq!(
        test.clone().listed(&["name", "tier", "state", "runs", "description", "origin"]),
        ["p | community | not-approved | p changed | mine | <T>/project/squire.toml:1"]
    );
    let run = test.agent("claude", "").args(["launch", "claude"]).any_stderr().success();
    assert!(
        run.stderr.contains("p (declared by the project, and not approved; squire approve p)"),
        "{}",
        run.stderr
    );
}

/// B35: what the local layer says of a name that is the user's, it says of the user's server.
#[test]
fn b35_local_says_it_of_the_users_server() {
    let test = Test::new().config(MINE).local("[servers.mine]\nargs = [\"x\"]\n");
    let test = test.project("[servers.mine]\ncommand = \"theirs\"\n");
    assert_eq!(test.listed(&["name", "state", "runs"]), ["mine | on | mine x", "mine | name-taken | theirs"]);
}

const MOVE: &str = "  help: move it there, where no repository can write it\n";

#[test]
fn a_local_file_in_the_project_is_not_read() {
    let test =
        Test::new().config(MINE).write("project/squire.local.toml", "[servers.mine]\ncommand = \"evil\"\n");
    let real = local_path(&test, "project");
    let note = format!("<T>/project/squire.local.toml: it is not read: your own changes lie in <T>/{real}");
    let run = test
        .clone()
        .args(["list"])
        .any_stdout()
        .stderr(format!("squire: {note}\n{MOVE}"))
        .unchanged()
        .success();
    assert!(!run.stdout.contains("evil"), "{}", run.stdout);
    test.clone()
        .agent("codex", "")
        .args(["launch", "codex", "--server", "mine"])
        .stderr(format!("squire: codex gets 1 of 1: mine; {note}\n"))
        .success();
    // Beside the nearest squire.toml too, and nothing of it is followed.
    let test = Test::new()
        .config(MINE)
        .write("project/a/squire.toml", "")
        .link("nothing", "project/a/squire.local.toml");
    let note = format!(
        "<T>/project/a/squire.local.toml: it is not read: your own changes lie in <T>/{real}",
        real = local_path(&test, "project")
    );
    test.directory("project/a")
        .args(["list"])
        .any_stdout()
        .stderr(format!("squire: {note}\n{MOVE}"))
        .success();
}

#[test]
fn local_has_servers_alone() {
    let test = Test::new().config(MINE).local(
        "[policy]\n[profiles.p]\n[agents.claude]\n[server]\n[servers.squire]\ndisabled = true\n[servers.mine]\ncomand = 1\n",
    );
    refused(
        &test,
        "<L>:1:2: the local layer changes servers, and has no [policy]\n\
         <L>:2:2: the local layer changes servers, and has no [profiles]\n\
         <L>:3:2: the local layer changes servers, and has no [agents]\n\
         <L>:4:2: unknown key `server` in this file\n  help: did you mean `servers`?\n\
         <L>:5:10: the server name `squire` is reserved: an agent or squire itself uses it\n  help: `[servers.squire] disabled = true` goes into the user's squire.toml\n\
         <L>:8:1: unknown key `comand` in [servers.mine]\n  help: did you mean `command`?",
    );
}

/// A local file is the user's: what is wrong with it refuses as in squire.toml.
#[test]
fn a_local_file_of_another_kind_is_refused() {
    let path = local_path(&Test::new(), "project");
    assert!(path.starts_with("home/.config/squire/projects/project-") && path.len() == 54, "{path}");
    let test = Test::new();
    let path = local_path(&test, "project");
    refused(&test.link("nothing", &path), "<L>: it is a symbolic link to nothing");
    let test = Test::new().local("");
    let path = local_path(&test, "project");
    refused(&test.mode(&path, 0o606), "<L>: everybody may write it");
}

#[test]
fn two_layers_that_disagree_in_type() {
    let user = "[servers.a]\ncommand = \"a\"\nenv = { A = \"1\" }\n";
    refused(
        &Test::new().config(user).local("[servers.a]\nenv = \"A=2\"\n"),
        "<L>:2:7: `env` wants a table of variables, as in { NAME = \"value\" }, and this is of type string",
    );
    refused(
        &Test::new().config(user).local("servers = [\"a\"]\n"),
        "<L>:1:11: `servers` wants a table of servers, as in [servers.NAME], and this is of type array",
    );
    refused(
        &Test::new()
            .config("[servers.a]\nurl = \"https://h/mcp\"\n")
            .local("\n[servers.a]\ntransport = \"stdio\"\n"),
        "<L>:3:1: [servers.a]: `url` does not go with a stdio server",
    );
    refused(
        &Test::new().config(user).local("\n\n\n[servers.a]\nurl = \"https://h/mcp\"\n"),
        "<L>:5:1: [servers.a]: both `command` and `url`: one server has one of them",
    );
}

/// What a profile names does not vanish when the local layer takes it out.
#[test]
fn a_removed_server_of_a_profile_is_named() {
    let test = Test::new()
        .config(&format!("{MINE}[profiles.w]\nservers = [\"mine\"]\n"))
        .agent("codex", "")
        .local("[servers.mine]\nremove = true\n");
    let note = format!("mine: removed in <T>/{}:2", local_path(&test, "project"));
    let told = format!("squire: {note}\n");
    test.clone().args(["list", "--profile", "w"]).any_stdout().stderr(told).success();
    let reason = note.trim_start_matches("mine: ");
    test.clone()
        .args(["launch", "codex", "--profile", "w"])
        .stderr(format!("squire: codex gets 0 of 0; left out: mine ({reason})\n"))
        .success();
    test.args(["launch", "codex", "--profile", "w", "--require", "mine"])
        .stderr(format!("squire: nothing was started, as it lacks what is required:\n  {note}\n"))
        .unchanged()
        .code(125);
}

/// A project's profile of the one name that is always the user's breaks nothing, and is told as what it is.
#[test]
fn a_default_profile_of_a_project() {
    let test = Test::new()
        .config(MINE)
        .project("[servers.p]\ncommand = \"p\"\n[profiles.default]\nservers = [\"p\"]\n");
    test.clone().args(["show", "mine"]).any_stdout().success();
    let told = "squire: the profile `default` is the project's: of this name only yours is used\n";
    test.args(["list", "--profile", "default"]).stderr(told).unchanged().code(2);
}

/// Editors leave hidden files; a name that is no text is not passed over.
#[test]
fn hidden_files_and_odd_names_among_the_drop_ins() {
    use std::os::unix::ffi::OsStrExt;
    let test =
        drop_in(Test::new(), ".hidden.toml", "x").link("user@host.123", &format!("{DROP_INS}/.#a.toml"));
    assert_eq!(test.listed(&["name"]), Vec::<String>::new());
    let test = drop_in(Test::new(), "a.toml", "command = \"a\"\n");
    let odd = test.path(DROP_INS).join(std::ffi::OsStr::from_bytes(b"b\xff.toml"));
    fs::copy(test.path(&format!("{DROP_INS}/a.toml")), odd).unwrap();
    let run = test.args(["list"]).any_stderr().code(1);
    assert!(run.stderr.contains(":1:1: the server name `b\u{fffd}` "), "{}", run.stderr);
}

/// Where squire's own files are worked in, the user's file is no project's.
#[test]
fn the_users_file_is_no_projects() {
    let test = Test::new().config(MINE).directory("home/.config/squire");
    assert_eq!(test.listed(&["name", "state"]), ["mine | on"]);
}

/// A change of nothing is said: the repository may have dropped its server, so it refuses nothing.
#[test]
fn a_local_change_of_no_server_is_told() {
    let test = Test::new().config(MINE).local("[servers.b]\ndisabled = true\n");
    let note = format!(
        "<T>/{}:1:10: the local layer changes `b`, which no layer declares",
        local_path(&test, "project")
    );
    let help = "  help: correct the name, or say there what the server is\n";
    test.clone().args(["list"]).any_stdout().stderr(format!("squire: {note}\n{help}")).unchanged().success();
    test.agent("codex", "")
        .args(["launch", "codex", "--server", "mine"])
        .stderr(format!("squire: codex gets 1 of 1: mine; {note}\n"))
        .success();
}

/// The local layer can't approve what the repository can change at any time.
#[test]
fn b33_no_word_of_the_local_layer_approves_a_projects_server() {
    let test = Test::new()
        .project("[servers.theirs]\ncommand = \"x\"\n")
        .local("[servers.theirs]\ntrust = \"trusted\"\n");
    assert_eq!(test.listed(&["name", "tier", "state"]), ["theirs | community | not-approved"]);
}

/// B43: a relative program would be the repository's own in each repository.
#[test]
fn b43_a_relative_command_of_the_user_is_refused() {
    refused(
        &Test::new().local("[servers.a]\ncommand = \"tools/server\"\n"),
        "<L>:2:1: [servers.a]: a relative `command` would be another program in every directory: write its whole path, `~/…`, or a `cwd`",
    );
    let test = Test::new().local("[servers.a]\ncommand = \"./server\"\ncwd = \"servers\"\n");
    assert_eq!(test.listed(&["name", "state"]), ["a | on"]);
}

/// B35: a drop-in's name is the user's too.
#[test]
fn b35_a_project_takes_no_name_of_a_drop_in_nor_of_the_local_layer() {
    let test = drop_in(Test::new(), "git-hub.toml", "command = \"mine\"\n");
    let test = test.local("[servers.Wiki]\ncommand = \"wiki\"\n");
    let test = test.project("[servers.Git_Hub]\ncommand = \"x\"\n[servers.wiki]\ncommand = \"x\"\n");
    assert_eq!(
        test.listed(&["name", "state"]),
        ["git-hub | not-approved", "Wiki | on", "Git_Hub | name-taken", "wiki | name-taken"]
    );
}

/// The layers lie where the variables say, and a gateway takes them from its entry alone.
#[test]
fn b60_the_layers_lie_in_the_config_directory() {
    for (variable, value, directory) in
        [("SQUIRE_CONFIG_DIR", "elsewhere", "elsewhere"), ("XDG_CONFIG_HOME", "xdg", "xdg/squire")]
    {
        let test = Test::new();
        let local = local_path(&test, "project").replace("home/.config/squire", directory);
        let place = test.path(value);
        let test = test
            .env_remove("HOME")
            .env(variable, place)
            .write(&format!("{directory}/servers.d/a.toml"), "command = \"a\"\n")
            .write(&local, "[servers.b]\ncommand = \"b\"\n");
        let origins = [format!("<T>/{directory}/servers.d/a.toml:1"), format!("<T>/{local}:1")];
        let expected = [format!("b | {}", origins[1]), format!("a | {}", origins[0])];
        let mut found = test.listed(&["name", "origin"]);
        found.sort_by(|one, other| other.cmp(one));
        assert_eq!(found, expected);
    }
}

/// A change of a project's server is no server of its own where the project's file is not read, as in a gateway.
#[test]
fn a_local_change_of_a_projects_server_stops_no_gateway() {
    for change in ["disabled = true", "remove = true", "timeout = \"1m\"", "description = \"d\""] {
        let test = Test::new()
            .config("[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n")
            .project("[servers.theirs]\ncommand = \"x\"\n")
            .local(&format!("[servers.theirs]\n{change}\n"));
        assert_eq!(claude(&test).1, ["squire", "a"], "{change}");
        started(&test, "a");
    }
}

/// A repository must not be able to stop a launch: not by breaking its file, nor by taking a server out of it.
#[test]
fn a_local_change_of_a_server_that_the_project_no_longer_has_stops_no_launch() {
    for theirs in ["[servers.other]\ncommand = \"x\"\n", "[servers.theirs]\ncomand = \"x\"\n", "= broken"] {
        let test = Test::new().config(MINE).project(theirs).local("[servers.theirs]\ndisabled = true\n");
        assert_eq!(claude(&test).1, ["squire", "mine"], "{theirs}");
    }
}

/// B35: a repository that declares a server of the name of one in the local layer takes neither name nor trust.
#[test]
fn b35_a_project_cannot_turn_a_local_server_into_its_own() {
    let test = Test::new()
        .local("[servers.new]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n")
        .project("[servers.new]\ncommand = \"evil\"\nenv = { LD_PRELOAD = \"./evil.so\" }\n");
    assert_eq!(
        test.clone().listed(&["name", "tier", "state", "runs"]),
        ["new | trusted | on | <server> stdio --log <T>/log", "new | community | name-taken | evil"]
    );
    assert_eq!(claude(&test).1, ["squire", "new"]);
}

/// What a launch hands out, the gateway starts: both read the same layers.
#[test]
fn a_launch_and_a_gateway_agree_on_a_projects_server_that_the_user_trusts() {
    let test = Test::new()
        .project("[servers.theirs]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n")
        .local("[servers.theirs]\ntrust = \"trusted\"\n");
    if claude(&test).1.iter().any(|name| name == "theirs") {
        started(&test, "theirs");
    }
}

/// B07: two names of one layer, and of the user's layers together, are one name to some agents.
#[test]
fn b07_names_that_collide_in_the_local_layer() {
    refused(
        &Test::new().local("[servers.a-b]\ncommand = \"x\"\n[servers.A_B]\ncommand = \"y\"\n"),
        "<L>:3:10: `A_B` and `a-b` (line 1) are one name to some agents, which fold case and take `-` for `_`\n  help: rename one of them",
    );
    refused(
        &Test::new().config(MINE).local("[servers.Mine]\ncommand = \"y\"\n"),
        "<L>:1:10: `Mine` and `mine` (<T>/home/.config/squire/squire.toml:1) are one name to some agents, which fold case and take `-` for `_`\n  help: rename one of them",
    );
}

/// The higher layer is the one that brought the second word, wherever in its file it stands.
#[test]
fn two_layers_that_disagree_are_told_by_the_higher_one() {
    refused(
        &Test::new()
            .config("# one\n# two\n# three\n# four\n[servers.a]\ncommand = \"a\"\n")
            .local("[servers.a]\nurl = \"https://h/mcp\"\n"),
        "<L>:2:1: [servers.a]: both `command` and `url`: one server has one of them",
    );
}

/// Servers that can't be seen are not none.
#[test]
fn a_directory_of_drop_ins_that_is_none_is_told() {
    let test = Test::new().write(DROP_INS, "text");
    let run = test.args(["list"]).any_stdout().any_stderr().code(1);
    assert!(run.stderr.starts_with(&format!("squire: <T>/{DROP_INS}: ")), "{}", run.stderr);
}
