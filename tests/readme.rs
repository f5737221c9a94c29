//! README.md shows what squire does: its console blocks are run, its declarations are read, its table is the list of
//! agents.
//!
//! The syntax:
//! - A ```` ```console ```` block is run where a line begins with `$ squire `; the lines up to the next `$ ` are what it
//!   prints, stdout before stderr, with `~` for the home directory, `<T>` for the one that home and project lie in,
//!   `<squire>` for the program, `<private>` for random names and `<n>` for milliseconds; blanks at line ends don't count.
//!   A line `…` stands for any number of lines. Words are split as a shell splits them, with single and double quotes
//!   and ` # comments`; nothing is expanded. From the first `$ ` line with another program on, a block is not run.
//!   Each command has a fresh home; the last ```` ```toml ```` block before it that
//!   declares `[servers.…]` is the user's `squire.toml`, and `claude`, `codex`, `cursor-agent` and `opencode` are on PATH.
//! - Every ```` ```toml ```` block is a whole `squire.toml` that is accepted.
//! - A table whose first heading is `agent` has the columns agent (the name in backquotes), title, carries, same name, in
//!   the order of `AGENTS`, in the words of `describe`.

use std::fs;
use std::path::Path;

use squire::config::{self, LayerKind};
use squire_strategies::AGENTS;

use crate::support::Test;

const SAMPLE: &str = r#"
# sample

```toml
[servers.docs]
url = "https://docs.example.com/mcp"
```

```console
$ squire list
NAME    TIER     STATE  TRANSPORT  ROUTE    RUNS                          ORIGIN
squire  builtin  on     builtin    gateway  in squire itself
docs    trusted  on     http       direct   https://docs.example.com/mcp  ~/.config/squire/squire.toml:1
$ squire launch claude -- -p 'say "hello"'   # a comment
squire: claude gets 2 of 2: squire, docs; to let it use them: --allowedTools mcp__squire,mcp__docs
$ squire describe
…
inspect   squire's own agent: a private file in Claude's shape, removed after the launch
```

```console
$ cargo install squire
```
"#;

struct Block {
    language: String,
    text: String,
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in markdown.lines() {
        match line.strip_prefix("```") {
            Some(language) if !open => {
                blocks.push(Block { language: language.trim().into(), text: String::new() });
                open = true;
            }
            Some(_) => open = false,
            None if open => {
                let text = &mut blocks.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    assert!(!open, "a block is not closed");
    blocks
}

/// Words as a shell splits them; no expansion.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (Some(_), inside) => word.get_or_insert_default().push(inside),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, blank) if blank.is_whitespace() => words.extend(word.take()),
            (None, plain) => word.get_or_insert_default().push(plain),
        }
    }
    assert!(quote.is_none(), "a quote is open in {line}");
    words.extend(word);
    words
}

/// Runs the blocks of a text; returns how many commands were run.
fn check_consoles(markdown: &str) -> usize {
    let mut config = String::new();
    let mut run = 0;
    for block in blocks(markdown) {
        if block.language == "toml" && block.text.contains("[servers.") {
            config = block.text;
        } else if block.language == "console" {
            run += check_console(&block.text, &config);
        }
    }
    run
}

fn check_console(block: &str, config: &str) -> usize {
    let mut commands: Vec<(&str, String)> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            if !command.starts_with("squire ") {
                break;
            }
            commands.push((command, String::new()));
        } else if let Some((_, shown)) = commands.last_mut() {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    for (command, shown) in &commands {
        let mut test = Test::new().config(config).any_stdout().any_stderr();
        for agent in ["claude", "codex", "cursor-agent", "opencode"] {
            test = test.agent(agent, "");
        }
        let (run, _) = test.args(shell_words(command).into_iter().skip(1)).ends();
        let printed = format!("{}{}", run.stdout, run.stderr).replace("<T>/home", "~");
        let plain =
            |text: &str| -> Vec<String> { text.lines().map(|line| line.trim_end().to_owned()).collect() };
        assert!(
            matches(&plain(&printed), &plain(shown)),
            "$ {command}\nprints\n{printed}\nand the README shows\n{shown}"
        );
    }
    commands.len()
}

/// Line by line; `…` is any number of lines.
fn matches(printed: &[String], shown: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "…" => {
            (0..=printed.len()).any(|skip| matches(&printed[skip..], rest))
        }
        Some((first, rest)) => printed.first() == Some(first) && matches(&printed[1..], rest),
    }
}

fn check_declarations(markdown: &str) -> usize {
    let declarations: Vec<Block> =
        blocks(markdown).into_iter().filter(|block| block.language == "toml").collect();
    for block in &declarations {
        let (_, problems) = config::read(block.text.as_bytes(), Path::new("README.md"), LayerKind::User);
        assert!(problems.is_empty(), "{problems:#?}\nin\n{}", block.text);
        // What only a resolution finds out is found out by a command.
        Test::new().config(&block.text).args(["list"]).any_stdout().success();
    }
    declarations.len()
}

/// The table of agents, if there is one, and whether it is right.
fn check_table(markdown: &str) -> bool {
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = markdown.lines().skip_while(|line| {
        !(line.starts_with('|') && cells(line).first().is_some_and(|cell| cell.eq_ignore_ascii_case("agent")))
    });
    if lines.next().is_none() {
        return false;
    }
    let rows: Vec<Vec<String>> = lines.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
    let expected: Vec<Vec<String>> = AGENTS
        .iter()
        .map(|strategy| {
            let description = strategy.description();
            vec![
                format!("`{}`", strategy.name()),
                description.title.into(),
                description.carries.into(),
                description.same_name.into(),
            ]
        })
        .collect();
    let plain = |rows: Vec<Vec<String>>| -> Vec<Vec<String>> {
        // Code in a cell is still the same words.
        let plain = |(index, cell): (usize, String)| if index == 0 { cell } else { cell.replace('`', "") };
        rows.into_iter().map(|row| row.into_iter().take(4).enumerate().map(plain).collect()).collect()
    };
    assert_eq!(plain(rows), plain(expected));
    true
}

#[test]
fn the_syntax_of_blocks() {
    assert_eq!(check_consoles(SAMPLE), 3);
    assert_eq!(check_declarations(SAMPLE), 1);
    assert!(!check_table(SAMPLE));
    assert_eq!(shell_words("a 'b c' \"\" d\"e f\"g # h"), ["a", "b c", "", "de fg"]);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&lines("a\nb\nc"), &lines("…\nc")) && matches(&lines("a"), &lines("a\n…")));
    assert!(!matches(&lines("a\nb"), &lines("a")) && !matches(&lines("a"), &lines("b")));
}

#[test]
fn the_syntax_of_the_table() {
    let mut table = "| Agent | title | carries | same name |\n|---|---|---|---|\n".to_owned();
    for strategy in AGENTS {
        let description = strategy.description();
        let name = format!("`{}`", strategy.name());
        let cells = [&name, description.title, description.carries, description.same_name];
        table.push_str(&["| ", &cells.join(" | "), " |\n"].concat());
    }
    assert!(check_table(&table));
}

#[test]
#[should_panic(expected = "and the README shows")]
fn a_console_block_that_lies_is_found() {
    check_consoles("```console\n$ squire list\nnothing\n```\n");
}

#[test]
fn the_real_one() {
    let Ok(markdown) = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")) else {
        return; // It is being written.
    };
    assert!(check_consoles(&markdown) > 0, "README.md shows no command");
    assert!(check_declarations(&markdown) > 0, "README.md shows no declaration");
    assert!(check_table(&markdown), "README.md has no table of agents");
}
