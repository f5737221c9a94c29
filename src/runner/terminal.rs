//! Puts the terminal back after an agent that a signal ended: such an agent could not do it itself.

use std::io::stdin;

use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use crate::output::Output;

/// Ends what agents switch on. The order matters: keyboard modes belong to the screen that they were set on, so the
/// alternate one is left behind them; the cursor is saved first (`ESC 7`), as leaving the screen restores it, which
/// then moves nothing where the agent was on the main screen.
const MODES_OFF: &str = concat!(
    "\x1b[?2026l",                                             // synchronized output
    "\x1b[<u\x1b[>4;0m",                                       // kitty keyboard, modifyOtherKeys
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l", // mouse
    "\x1b[?1004l\x1b[?2004l",                                  // focus, bracketed paste
    "\x1b7\x1b[?1049l",                                        // alternate screen
    "\x1b[?1l\x1b>\x1b[?7h\x1b[?25h\x1b[0m", // cursor keys, keypad, wrapping, cursor, colours
);

/// The terminal's attributes from before the agent.
pub(super) struct Terminal(Option<Termios>);

impl Terminal {
    /// Nothing, where stdin is no terminal.
    pub(super) fn remember() -> Self {
        Self(tcgetattr(stdin()).ok())
    }

    /// A terminal that was left as it was found is not touched, nor one that belongs to another job meanwhile.
    pub(super) fn restore(&self, output: Output) {
        let Some(before) = &self.0 else { return };
        let ours = tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp());
        let left_changed = tcgetattr(stdin()).is_ok_and(|now| !same(&now, before));
        if ours && left_changed {
            output.terminal(MODES_OFF);
            // Input that came for the agent is no input for the shell.
            let _ = tcsetattr(stdin(), OptionalActions::Flush, before);
        }
    }
}

fn same(one: &Termios, other: &Termios) -> bool {
    let modes = |termios: &Termios| {
        (termios.input_modes, termios.output_modes, termios.control_modes, termios.local_modes)
    };
    modes(one) == modes(other)
}
