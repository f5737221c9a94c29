//! Strings with references: written out they read as the same, plain text stays what it is, and values are put in once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire_strategies::Text;

fuzz_target!(|written: &str| {
    let plain = Text::plain(written);
    assert_eq!(plain.literal(), Some(written));
    assert_eq!(Text::parse(&plain.to_string()).expect("it is escaped").literal(), Some(written));

    let Ok(text) = Text::parse(written) else { return };
    assert_eq!(Text::parse(&text.to_string()).as_ref(), Ok(&text));
    if text.references().next().is_none() {
        assert_eq!(text.expand(|_| None).ok().as_deref(), text.literal());
    }
    // A value that looks like a reference is none.
    let value = "${env:HOME}";
    let expanded = text.expand(|_| Some(value.into())).expect("each has a value");
    let literal: usize = text.written_out().map(str::len).sum();
    assert!(expanded.len() >= text.references().count() * value.len(), "{expanded}");
    assert!(expanded.len() <= literal + text.references().count() * value.len(), "{expanded}");
});
