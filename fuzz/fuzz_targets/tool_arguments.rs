//! A server's schema, and behind a NUL words of the user, one a line: arguments or sentences, and never anything else.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use squire::arguments::{from_words, usage};

fuzz_target!(|input: &[u8]| {
    let cut = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (schema, words) = (&input[..cut], input.get(cut + 1..).unwrap_or_default());
    let Ok(schema) = serde_json::from_slice::<Value>(schema) else { return };
    let words: Vec<String> = String::from_utf8_lossy(words).split('\n').map(str::to_owned).collect();
    let names = |word: &String| word.split_once('=').map(|(name, _)| name.to_owned());
    match from_words(&words, &schema) {
        Ok(arguments) => {
            let arguments = arguments.as_object().unwrap();
            assert!(words.iter().all(|word| names(word).is_some_and(|name| arguments.contains_key(&name))));
            assert_eq!(arguments.len(), words.len(), "one for each word");
        }
        Err(sentences) => {
            assert!(!sentences.is_empty());
            assert!(sentences.iter().all(|sentence| !sentence.contains('\u{1b}')), "printable");
        }
    }
    assert!(!usage(&schema).contains('\u{1b}'), "printable");
});
