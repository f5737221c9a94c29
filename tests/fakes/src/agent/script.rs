//! The script of an agent: steps separated by `;`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::signals;

/// One thing that the agent does. `listen` names what later traps receive, `trap-until` ends with the named one;
/// `read`, `window` and `terminal` log one read of stdin, the window's size, and whose the terminal is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Exit(u8),
    Signal(i32),
    Sleep(Duration),
    Print(String),
    Error(String),
    Stdin,
    Touch(PathBuf),
    Write(PathBuf, String),
    Remove(PathBuf),
    Replace { path: PathBuf, from: String, to: String },
    RenameSave(PathBuf, String),
    WaitFile(PathBuf),
    Trap(usize),
    TrapUntil(i32),
    Listen(Vec<i32>),
    Raise(i32),
    RaiseGroup(i32),
    Read,
    Raw,
    Window,
    Terminal,
    Stop,
}

/// The steps of a whole script, or which of them is wrong.
pub(crate) fn parse(script: &str) -> Result<Vec<Step>, String> {
    script
        .split(';')
        .map(str::trim_start)
        .filter(|step| !step.is_empty())
        .map(|step| parse_step(step).ok_or_else(|| format!("not a step: {step}")))
        .collect()
}

/// Words end at the first space; a text runs to the end of the step, trailing spaces and all.
fn parse_step(step: &str) -> Option<Step> {
    let (keyword, rest) = step.split_once(' ').unwrap_or((step, ""));
    let path = || Some(PathBuf::from(rest.trim())).filter(|path| !path.as_os_str().is_empty());
    let path_and_text = || {
        let (path, after) = rest.split_once(' ').unwrap_or((rest, ""));
        (!path.is_empty()).then(|| (PathBuf::from(path), text(after)))
    };
    Some(match keyword {
        "exit" => Step::Exit(number(rest)?),
        "signal" => Step::Signal(signals::number(rest.trim())?),
        "sleep" => Step::Sleep(Duration::from_millis(number(rest)?)),
        "print" => Step::Print(text(rest)),
        "error" => Step::Error(text(rest)),
        "stdin" => Step::Stdin,
        "touch" => Step::Touch(path()?),
        "write" => path_and_text().map(|(path, text)| Step::Write(path, text))?,
        "remove" => Step::Remove(path()?),
        "replace" => {
            let (path, change) = rest.split_once(' ')?;
            let (from, to) = change.split_once(' ')?;
            Step::Replace { path: path.into(), from: text(from), to: text(to) }
        }
        "rename-save" => path_and_text().map(|(path, text)| Step::RenameSave(path, text))?,
        "wait-file" => Step::WaitFile(path()?),
        "trap" => Step::Trap(number(rest)?),
        "trap-until" => Step::TrapUntil(signals::number(rest.trim())?),
        "listen" => Step::Listen(rest.split_whitespace().map(signals::number).collect::<Option<_>>()?),
        "raise" => Step::Raise(signals::number(rest.trim())?),
        "raise-group" => Step::RaiseGroup(signals::number(rest.trim())?),
        "read" => Step::Read,
        "raw" => Step::Raw,
        "window" => Step::Window,
        "terminal" => Step::Terminal,
        "stop" => Step::Stop,
        _ => return None,
    })
}

fn number<N: FromStr>(word: &str) -> Option<N> {
    word.trim().parse().ok()
}

fn text(escaped: &str) -> String {
    escaped.replace("\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_script_does_nothing() {
        assert_eq!(parse(""), Ok(vec![]));
        assert_eq!(parse(" ; "), Ok(vec![]));
    }

    #[test]
    fn steps_follow_each_other() {
        let steps = parse("print a b\\n; sleep 20 ;signal TERM; trap 2; stdin; stop; exit 7").unwrap();
        let expected = [
            Step::Print("a b\n".into()),
            Step::Sleep(Duration::from_millis(20)),
            Step::Signal(15),
            Step::Trap(2),
            Step::Stdin,
            Step::Stop,
            Step::Exit(7),
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn signals_have_names() {
        let steps = parse("listen INT SIGCONT; trap-until USR2; raise TSTP; raise-group HUP").unwrap();
        let expected = [Step::Listen(vec![2, 18]), Step::TrapUntil(12), Step::Raise(20), Step::RaiseGroup(1)];
        assert_eq!(steps, expected);
    }

    #[test]
    fn file_steps_take_a_path_first() {
        let steps = parse("touch /a b; write c d e; replace f g h i; rename-save j").unwrap();
        let expected = [
            Step::Touch("/a b".into()),
            Step::Write("c".into(), "d e".into()),
            Step::Replace { path: "f".into(), from: "g".into(), to: "h i".into() },
            Step::RenameSave("j".into(), String::new()),
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn a_wrong_step_is_named() {
        for step in ["dance", "exit 256", "signal NONE", "listen INT NONE", "touch", "replace a b"] {
            assert_eq!(parse(&format!("stdin; {step}")), Err(format!("not a step: {step}")));
        }
    }
}
