//! The gateway gets the values that its own server needs when it starts it, or says why it can't.

use std::fs;
use std::time::{Duration, Instant};

use super::{FILE, RELATIVE};
use crate::gateway::{environment, fake, gateway, stands_in, started};
use crate::support::Test;

const ENV: &str = "env = { TOKEN = \"${secret:k}\" }\n";

/// A server that needs the secret `k`, and what secrets.toml says of it.
fn needs(source: &str) -> Test {
    fake(ENV).secrets(&format!("[secrets.k]\n{source}\n"))
}

#[track_caller]
fn gets(test: Test, value: &str) {
    let run = gateway(test, "a").success();
    assert_eq!(environment(&run)["TOKEN"], value);
}

#[track_caller]
fn lacks(test: Test, reason: &str) {
    stands_in(test, "a", &format!("it needs the secret `k`{reason}"));
}

/// As [`lacks`], where only the attempt shows it.
#[track_caller]
fn fails(source: &str, reason: &str) {
    lacks(needs(source), &format!(": {reason}; squire secret check k tells more"));
}

#[test]
fn every_source_gives_its_value() {
    gets(needs("env = \"FROM\"").env("FROM", " S3CR3T\n"), " S3CR3T\n");
    gets(needs("value = \"S3CR3T\\n\"\n"), "S3CR3T\n");
    gets(fake(ENV).secrets("[secrets]\nk = \"S3CR3T\"\n"), "S3CR3T");
    gets(needs("command = [\"printf\", \"S3CR3T\\\\n\"]"), "S3CR3T");
    gets(needs("command = [\"/bin/echo\", \"$HOME\", \"*\", \"S3CR3T\"]"), "$HOME * S3CR3T");
    gets(needs("command = [\"~/tool\"]").script("home/tool", "#!/bin/sh\necho S3CR3T\n"), "S3CR3T");
    for path in ["<T>/token", "~/token"] {
        let written = if path.starts_with('~') { "home/token" } else { "token" };
        gets(
            needs(&format!("file = \"{path}\"")).write(written, "S3CR3T\r\n").mode(written, 0o600),
            "S3CR3T",
        );
    }
    let linked =
        needs("file = \"<T>/link\"").write("token", "S3CR3T").mode("token", 0o400).link("token", "link");
    gets(linked, "S3CR3T");
    let dotted = fake("env = { TOKEN = \"${secret:api.k}\" }\n")
        .secrets("[secrets.api]\nk = { value = \"S3CR3T\" }\n");
    gets(dotted, "S3CR3T");
}

/// B22: one pass, whatever a value holds; and the server gets it in arguments, program and directory too.
#[test]
fn b22_a_value_arrives_as_it_is_and_is_never_expanded_again() {
    let value = "S3CR3T$HOME${secret:k}${env:HOME}$$x \\\"'é🙂";
    let test = Test::new()
        .config(
            "[servers.a]\ncommand = \"${secret:program}\"\ncwd = \"${secret:cwd}\"\n\
             args = [\"stdio\", \"--log\", \"<T>/log\", \"-${secret:k}-\", \"$${secret:k}\"]\n\
             env = { TOKEN = \"${secret:k}\", TWICE = \"<${secret:k}|${secret:k}>\" }\n",
        )
        .secrets("[secrets]\nk.env = \"FROM\"\nprogram.env = \"PROGRAM\"\ncwd.env = \"CWD\"\n")
        .receiver("log")
        .env("FROM", value);
    let home = test.path("home");
    let test = test.env("PROGRAM", crate::support::fake_server()).env("CWD", home);
    let run = gateway(test, "a").success();
    let started = started(&run);
    assert_eq!(environment(&run)["TOKEN"], value);
    assert_eq!(environment(&run)["TWICE"], format!("<{value}|{value}>"));
    assert_eq!(started["argv"][3], format!("-{value}-"));
    assert_eq!(started["argv"][4], "${secret:k}");
    assert_eq!(started["cwd"], run.path("home").display().to_string());
}

/// What a value comes from is not handed on with it (case B91).
#[test]
fn b91_the_server_gets_the_value_and_not_the_source() {
    let run = gateway(needs("env = \"FROM\"").env("FROM", "S3CR3T"), "a").success();
    assert!(!environment(&run).contains_key("FROM"));
}

#[test]
fn b95_a_value_that_can_not_be_had_is_told_with_its_reason() {
    for form in [None, Some(""), Some("${FROM:-}"), Some("${env:FROM}")] {
        let mut test = needs("env = \"FROM\"");
        if let Some(form) = form {
            test = test.env("FROM", form);
        }
        lacks(test, ": the variable FROM is not set or empty; mend that, then: squire secret check k");
    }
    let file = |reason: &str| format!(": {reason}; mend that, then: squire secret check k");
    let needs_file = || needs("file = \"<T>/token\"");
    lacks(needs_file(), &file("there is no file <T>/token"));
    lacks(
        needs_file().write("token", "S3CR3T"),
        &file("<T>/token: others can read or write it; chmod 600 <T>/token"),
    );
    lacks(needs_file().write("token", "").mode("token", 0o600), &file("<T>/token: it is empty"));
    lacks(
        needs_file().write("token", "x".repeat(65537)).mode("token", 0o600),
        &file("<T>/token: it is larger than 64 KiB"),
    );
    lacks(needs_file().link("nowhere", "token"), &file("<T>/token: it is a symbolic link to nothing"));
    lacks(needs("file = \"/dev/zero\""), &file("/dev/zero: it is no regular file"));
    lacks(needs("file = \"/etc\""), &file("/etc: it is no regular file"));
    for (bytes, reason) in
        [("\n", "it is empty"), ("a\0b", "it holds a NUL character, which no program can be given")]
    {
        let test = needs_file().write("token", bytes).mode("token", 0o600);
        lacks(test, &format!(": <T>/token: {reason}; squire secret check k tells more"));
    }
    let test = needs_file().write("token", b"\xff").mode("token", 0o600);
    lacks(test, ": <T>/token: it is not UTF-8; squire secret check k tells more");
}

#[test]
fn b95_a_command_that_fails_is_told_without_what_it_printed() {
    let sh = |script: &str| format!("command = [\"sh\", \"-c\", \"{script}\"]");
    fails(&sh("echo S3CR3T; echo S3CR3T >&2; exit 3"), "sh ended with exit code 3");
    fails(&sh("kill -9 $$"), "sh was ended by signal 9");
    fails(&sh("true"), "sh printed nothing");
    fails(&sh("echo"), "sh printed nothing");
    fails("command = [\"cat\"]", "cat printed nothing");
    fails("command = [\"yes\"]", "yes printed more than 64 KiB");
    fails("command = [\"no-such\", \"x\"]", "no-such was not found on PATH");
    fails(
        "command = [\"<T>/no-such\"]",
        "<T>/no-such can't be started: No such file or directory (os error 2)",
    );
    // As where it reads from a terminal, which stops it.
    fails(&sh("kill -STOP $$"), "sh waits for an answer at the terminal, where nobody is asked");
    fails(&sh("printf '\\\\0'"), "what sh printed: it holds a NUL character, which no program can be given");
}

/// A repository can't slip a program into the place of the user's.
#[test]
fn a_command_of_the_project_is_not_found() {
    let test = needs("command = [\"op\"]").script("project/bin/op", "#!/bin/sh\ntouch <T>/pwned; echo x\n");
    let path = test.path("project/bin");
    let test = test.env("PATH", format!("{}:/usr/bin:/bin", path.display()));
    lacks(
        test,
        ": op was not found on PATH; <T>/project/bin/op is skipped: it lies in the project; squire secret check k tells more",
    );
}

/// What it left in the background keeps its output open, and nobody waits for that.
#[test]
fn b95_a_command_is_waited_for_and_its_children_are_not() {
    let start = Instant::now();
    gets(needs("command = [\"sh\", \"-c\", \"sleep 30 & echo S3CR3T\"]"), "S3CR3T");
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn b95_a_command_runs_once_with_an_environment_of_its_own() {
    let script = "#!/bin/sh\nenv | cut -d= -f1 | sort > <T>/names; pwd > <T>/pwd; echo run >> <T>/runs\n\
                  read line && echo \"read $line\" >> <T>/runs\necho S3CR3T\n";
    let test = fake("env = { A = \"${secret:k}\", B = \"${secret:k}\" }\ninherit_env = [\"SERVERS\"]\n")
        .secrets("[secrets.k]\ncommand = [\"tool\"]\ninherit_env = [\"WANTED\", \"UNSET\"]\n")
        .script("bin/tool", script)
        .env("WANTED", "w")
        .env("SERVERS", "s")
        .env("LANG", "C")
        .env("AWS_SECRET_ACCESS_KEY", "x")
        .env("SQUIRE_LAUNCH", "");
    let run = gateway(test, "a").success();
    let read = |name: &str| fs::read_to_string(run.path(name)).unwrap();
    assert_eq!(read("runs"), "run\n");
    assert_eq!(read("pwd"), "/\n");
    let names: Vec<String> = read("names")
        .lines()
        .filter(|name| !matches!(*name, "_" | "PWD" | "SHLVL" | "OLDPWD"))
        .map(str::to_owned)
        .collect();
    assert_eq!(names, ["HOME", "LANG", "PATH", "WANTED"]);
    assert_eq!(environment(&run)["A"], "S3CR3T");
    assert!(!environment(&run).contains_key("WANTED"));
}

#[test]
fn b21_an_unknown_secret_is_told_with_the_nearest() {
    lacks(fake(ENV), &format!(", which {FILE} does not have; squire secret set k"));
    stands_in(
        fake("env = { TOKEN = \"${secret:githb}\" }\n").secrets("[secrets]\ngithub = \"S3CR3T\"\n"),
        "a",
        &format!(
            "it needs the secret `githb`, which {FILE} does not have; did you mean `github`?; squire secret set githb"
        ),
    );
}

#[test]
fn a_bound_secret_is_for_its_servers_alone() {
    gets(needs("value = \"S3CR3T\"\nservers = [\"b\", \"a\"]"), "S3CR3T");
    lacks(
        needs("value = \"S3CR3T\"\nservers = [\"b\", \"c\"]"),
        ", which is bound to b, c; add \"a\" to `servers` of k in secrets.toml",
    );
    lacks(
        needs("command = [\"touch\", \"<T>/pwned\"]\nservers = []"),
        ", which is bound to no server; add \"a\" to `servers` of k in secrets.toml",
    );
}

/// A file that can't be believed stops the servers that need it, and no other.
#[test]
fn a_file_of_secrets_that_is_not_believed() {
    let broken = || fake(ENV).secrets("[secrets\n");
    stands_in(broken(), "a", &format!("{FILE}:1:9: unclosed table, expected `]`"));
    let open = || fake(ENV).secrets("[secrets]\nk = \"S3CR3T\"\n").mode(RELATIVE, 0o640);
    stands_in(open(), "a", &format!("{FILE}: others can read or write it; chmod 600 {FILE}"));
    for test in [broken(), open()] {
        let test = test.config("[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]\n");
        gateway(test, "a").success();
    }
}

/// B89: nothing is fetched for a server that does not run, nor for the references of a transport that is not chosen.
#[test]
fn b89_nothing_is_fetched_that_is_not_needed() {
    let command = "[secrets.k]\ncommand = [\"touch\", \"<T>/pwned\"]\n";
    for more in ["disabled = true\n", "trust = \"community\"\n"] {
        let test = fake(&format!("{ENV}{more}")).secrets(command);
        let run = gateway(test, "a").any_stderr().code(1);
        assert!(!run.path("pwned").exists(), "{more}");
    }
    let test =
        fake("transport = \"${env:T:-stdio}\"\nurl = \"https://h/\"\nheaders = { A = \"${secret:k}\" }\n");
    let run = gateway(test.secrets(command), "a").success();
    assert!(!run.path("pwned").exists());
    let run = gateway(
        fake(ENV).project("[servers.p]\ncommand = \"x\"\nenv = { T = \"${secret:k}\" }\n").secrets(command),
        "p",
    );
    assert!(!run.any_stderr().code(1).path("pwned").exists());
}

/// A server that repeats its secret on stderr shows it to no model and to no log.
#[test]
fn b91_what_a_server_says_of_its_secret_is_hidden() {
    let test = Test::new()
        .config("[servers.a]\ncommand = [\"sh\", \"-c\", \"echo got $T today >&2; exit 3\"]\nenv = { T = \"${secret:k}\" }\n")
        .secrets("[secrets]\nk = \"S3CR3T\"\n");
    let run = gateway(test, "a").any_stderr().code(1);
    assert!(run.stderr.starts_with("got [hidden] today\n"), "{}", run.stderr);
    assert!(run.stdout.contains("it ended with status 3: got [hidden] today"), "{}", run.stdout);
}
