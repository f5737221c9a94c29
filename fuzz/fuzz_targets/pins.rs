//! Records of what servers define, poisoned: what is read writes itself again, and what differs is shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire::trust::pins::{Record, differences};

fuzz_target!(|data: &[u8]| {
    let Ok(record) = Record::read(data) else { return };
    let text = record.text();
    let again = Record::read(text.as_bytes()).expect("what was written reads");
    assert_eq!(again.text(), text);
    let _ = differences(&record.believed, &record.differing);
});
