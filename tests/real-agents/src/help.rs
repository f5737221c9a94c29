//! Reads `--help`: the options with their arity and the subcommands, as clap and commander print them.

use std::fmt;

/// What follows an option, as words of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// Nothing.
    Flag,
    /// One value.
    One,
    /// One value or none.
    Optional,
    /// Any number of values.
    Many,
}

/// One option.
#[derive(Debug, PartialEq, Eq)]
pub struct CommandOption {
    /// Its short and long names, dashes included.
    pub names: Vec<String>,
    /// What follows it.
    pub arity: Arity,
}

/// All that one help text lists.
#[derive(Debug, PartialEq, Eq)]
pub struct Help {
    /// The options.
    pub options: Vec<CommandOption>,
    /// The subcommands, each with its aliases.
    pub subcommands: Vec<Vec<String>>,
}

/// Reads one help text.
pub fn parse(text: &str) -> Help {
    // clap sets an option that has no short name in by six; commander continues a description there.
    let indents: &[usize] = if text.contains("[OPTIONS]") { &[2, 6] } else { &[2] };
    let (mut options, mut subcommands) = (Vec::new(), Vec::<String>::new());
    let mut section = "";
    for line in text.lines() {
        let entry = line.trim_start();
        let indent = line.len() - entry.len();
        if indent == 0 && line.ends_with(':') {
            section = line;
        } else if section == "Commands:" {
            match subcommands.last_mut() {
                Some(last) if indent > 2 => *last += entry,
                _ if indent == 2 => subcommands.push(entry.to_owned()),
                _ => {}
            }
        } else if indents.contains(&indent) && entry.starts_with('-') {
            options.push(option(entry));
        }
    }
    Help { options, subcommands: subcommands.iter().map(|entry| subcommand(entry)).collect() }
}

/// `-c, --config <key=value>` and what commander puts behind it.
fn option(entry: &str) -> CommandOption {
    let (usage, _description) = entry.split_once("  ").unwrap_or((entry, ""));
    let words = usage.split([' ', ',']).filter(|word| !word.is_empty());
    let (names, values): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with('-'));
    let value = values.join(" ");
    let arity = match value.chars().next() {
        None => Arity::Flag,
        Some(_) if value.contains("...") => Arity::Many,
        Some('[') => Arity::Optional,
        Some(_) => Arity::One,
    };
    // `--color[=<WHEN>]` takes no word of its own.
    let names = names.iter().filter_map(|name| name.split('[').next());
    CommandOption { names: names.map(Into::into).collect(), arity }
}

/// `update|upgrade  …` of commander, `exec  … [aliases: e]` of clap.
fn subcommand(entry: &str) -> Vec<String> {
    let names = entry.split(' ').next().unwrap_or_default().split('|');
    let bracket = entry.split_once("[alias").and_then(|(_, rest)| rest.split_once(']'));
    let aliases = bracket.map(|(aliases, _)| aliases.trim_start_matches("es").trim_start_matches(':'));
    names
        .chain(aliases.unwrap_or_default().split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(Into::into)
        .collect()
}

/// The table, one entry a line.
impl fmt::Display for Help {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for CommandOption { names, arity } in &self.options {
            writeln!(out, "  {}  {arity:?}", names.join(", "))?;
        }
        let subcommands: Vec<_> = self.subcommands.iter().map(|names| names.join("|")).collect();
        writeln!(out, "  subcommands: {}", subcommands.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::{Arity, Help, parse};

    const COMMANDER: &str = "\
Usage: tool [options] [command] [prompt]

Arguments:
  prompt                Your prompt

Options:
  --allow, --permit <names...>
      What to allow, for example with
      --print
  -d, --debug [filter]  Debug mode (e.g.
                        --model is no option here)
  --model <model>       The model
  -p, --print           Print and exit

Commands:
  mcp                   Manage servers
  update|upgrade [x]    Check for updates and
                        install
";

    const CLAP: &str = "\
WARNING: something else

A tool.

Usage: tool [OPTIONS] [PROMPT]
       tool [OPTIONS] <COMMAND> [ARGS]

Commands:
  exec   Run it [aliases: e, x]
  apply  Apply the latest difference to the working
         tree [alias: a]
  help   Print this message

Arguments:
  [PROMPT]
          Instructions. `-` means
          - stdin

Options:
  -c, --config <key=value>
          Override a value

      --enable <FEATURE>
          Enable a feature

  -i, --image <FILE>...
          Images

      --color[=<WHEN>]
          Colours

          Possible values:
          - on: always

      --oss
          Flag
";

    fn options(help: &Help) -> Vec<(String, Arity)> {
        help.options.iter().map(|option| (option.names.join(" "), option.arity)).collect()
    }

    #[test]
    fn commander() {
        let help = parse(COMMANDER);
        let expected = [
            ("--allow --permit", Arity::Many),
            ("-d --debug", Arity::Optional),
            ("--model", Arity::One),
            ("-p --print", Arity::Flag),
        ];
        assert_eq!(options(&help), expected.map(|(names, arity)| (names.to_owned(), arity)));
        assert_eq!(help.subcommands, [vec!["mcp"], vec!["update", "upgrade"]]);
    }

    #[test]
    fn clap() {
        let help = parse(CLAP);
        let expected = [
            ("-c --config", Arity::One),
            ("--enable", Arity::One),
            ("-i --image", Arity::Many),
            ("--color", Arity::Flag),
            ("--oss", Arity::Flag),
        ];
        assert_eq!(options(&help), expected.map(|(names, arity)| (names.to_owned(), arity)));
        assert_eq!(help.subcommands, [vec!["exec", "e", "x"], vec!["apply", "a"], vec!["help"]]);
    }
}
