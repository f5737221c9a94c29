//! Approvals: one that is read says the same again, and its digest is that of its own declaration.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire::trust::approvals::Approval;
use squire::trust::digest::digest;

fuzz_target!(|data: &[u8]| {
    // The engine can't guess a digest: one that is asked for is filled in.
    let filled = filled(data);
    let Ok(approval) = Approval::read(filled.as_deref().unwrap_or(data)) else { return };
    assert_eq!(approval.digest, digest(&approval.declaration));
    let again = Approval::read(approval.text().as_bytes()).expect("its own text is read");
    assert_eq!(again, approval);
    let mut other = approval.clone();
    other.declaration.insert("one more".into(), true.into());
    if other.declaration != approval.declaration {
        assert!(
            Approval::read(other.text().as_bytes()).is_err(),
            "another declaration passes for the approved one"
        );
    }
});

fn filled(data: &[u8]) -> Option<Vec<u8>> {
    let mut value: serde_json::Value = serde_json::from_slice(data).ok()?;
    let declared = digest(value.get("declaration")?.as_object()?);
    *value.get_mut("digest")? = declared.into();
    serde_json::to_vec(&value).ok()
}
