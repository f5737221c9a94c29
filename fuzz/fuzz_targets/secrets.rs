//! `secrets.toml`: an edit changes the one secret that it is told to, and what can't be read is not edited.

#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use squire::secrets::{NewSource, Secret, Secrets, Source, remove, set};

const NEW: &str = "fuzz.new-one";

fuzz_target!(|text: &str| {
    let Ok(before) = Secrets::of(text.as_bytes(), PathBuf::from("secrets.toml")) else {
        // It may be TOML all the same; then an edit must still leave TOML.
        return;
    };
    assert_eq!(told(&before.all), told(&read(text).all));
    if before.all.iter().any(|secret| secret.name == NEW || NEW.starts_with(&format!("{}.", secret.name))) {
        return;
    }
    let Ok(edited) = set(text, NEW, &NewSource::Environment("FUZZ".into()), &["a".into()]) else { return };
    let mut after = read(&edited).all;
    let position = after.iter().position(|secret| secret.name == NEW).expect("it was written");
    let new = after.remove(position);
    assert_eq!(new.source, Source::Environment("FUZZ".into()));
    assert_eq!(told(&after), told(&before.all), "{}", edited.as_str());

    let taken_out = remove(&edited, NEW).expect("it is there");
    assert_eq!(told(&read(&taken_out).all), told(&before.all), "{}", taken_out.as_str());

    for secret in &before.all {
        let less = remove(text, &secret.name).unwrap_or_else(|error| panic!("{}: {error:#}", secret.name));
        let others: Vec<Secret> =
            before.all.iter().filter(|other| other.name != secret.name).cloned().collect();
        assert_eq!(
            told(&read(&less).all),
            told(&others),
            "{} of\n{text}\nbecame\n{}",
            secret.name,
            less.as_str()
        );
    }
});

fn read(text: &str) -> Secrets {
    Secrets::of(text.as_bytes(), PathBuf::from("secrets.toml"))
        .unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// All of them but their places, by their names: an edit moves what comes behind it.
fn told(secrets: &[Secret]) -> Vec<(String, String)> {
    let servers = |secret: &Secret| {
        let names = secret
            .servers
            .as_ref()
            .map(|names| names.iter().map(|name| name.value.clone()).collect::<Vec<_>>());
        format!("{:?} {names:?}", secret.source)
    };
    let mut told: Vec<_> = secrets.iter().map(|secret| (secret.name.clone(), servers(secret))).collect();
    told.sort();
    told
}
