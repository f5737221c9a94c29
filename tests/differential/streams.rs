//! What is read and written.

use super::Scenario;
use crate::support::{Place, Session};

pub(super) fn scenarios() -> Vec<Scenario> {
    // Every byte, in an order that a line or a block would not repeat.
    let bytes: Vec<u8> =
        (0_u32..1024 * 1024).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    let unread = bytes.clone();
    vec![
        Scenario::new("1 MiB through", Place::Pipes, "#!/bin/sh\nsha256sum; exit 3\n").act(move |session| {
            session.press(&bytes);
            session.close_stdin();
        }),
        Scenario::new("1 MiB that nobody reads", Place::Pipes, "print out; exit 3").act(move |session| {
            session.press(&unread);
        }),
        Scenario::new("an empty stdin", Place::Pipes, "stdin; exit 3").act(Session::close_stdin),
        Scenario::new("parts of stdin", Place::Pipes, "read; read; read; exit 3").act(|session| {
            for (count, part) in [&b"one"[..], b"two\n"].into_iter().enumerate() {
                session.press(part);
                session.until_reads(count + 1);
            }
            session.close_stdin();
        }),
        Scenario::new("Ctrl-D", Place::Terminal, "print ready; stdin; exit 3").act(|session| {
            session.until_shown("ready");
            session.press(b"abc\n\x04");
        }),
        Scenario::new("Ctrl-D within a line", Place::Terminal, "print ready; read; read; read; exit 3").act(
            |session| {
                session.until_shown("ready");
                session.press(b"ab\x04");
                session.until_reads(1);
                session.press(b"c\n");
                session.until_reads(2);
                session.press(b"\x04");
            },
        ),
        Scenario::new("keys before they are read", Place::Terminal, "wait-file <T>/go; read; exit 3").act(
            |session| {
                session.press(b"early\n");
                session.until_shown("early");
                session.go();
            },
        ),
        Scenario::new(
            "both outputs in turn",
            Place::Terminal,
            "print a; error b; print c\\n; error d; exit 3",
        ),
        Scenario::new("both outputs on pipes", Place::Pipes, "print a; error b; print c\\n; error d; exit 3"),
        Scenario::new(
            "1 MiB out",
            Place::Pipes,
            "#!/bin/sh\nhead -c 1048576 /dev/zero | tr '\\0' x; exit 3\n",
        ),
        Scenario::new("nobody reads", Place::Pipes, "#!/bin/sh\nread line; exec yes\n").act(|session| {
            session.without_readers();
            session.press(b"\n");
        }),
        Scenario::new(
            "nobody reads and the agent goes on",
            Place::Pipes,
            "#!/bin/sh\ntrap '' PIPE; echo x; echo y >&2; exit 3\n",
        )
        .act(Session::without_readers),
        Scenario::new("streams closed by the agent", Place::Pipes, "#!/bin/sh\nexec <&- >&- 2>&-; exit 3\n"),
        Scenario::new("output in pieces", Place::Terminal, "print 1; wait-file <T>/go; print 2; exit 3").act(
            |session| {
                session.until_shown("1");
                session.go();
            },
        ),
    ]
}
