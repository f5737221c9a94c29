//! Foreign names become legal ones, each another (cases B05, B06, B07, B09).

use sha2::{Digest, Sha256};
use squire_strategies::Name;

use crate::files::hexadecimal;

/// The length of the longest name, and of what tells two apart that would be one.
const LONGEST: usize = 32;
const MARK: usize = 5;

/// The name that a foreign one becomes: itself where it is legal and no other has it; else cleaned, and where that is
/// cut off or taken, with a mark made of the foreign name. The same names in the same order give the same result.
pub fn legal(foreign: &str, taken: &[Name]) -> Name {
    let is_free = |name: &Name| !taken.iter().any(|other| other.collides(name));
    let cleaned = cleaned(foreign);
    let plain = (cleaned.len() <= LONGEST).then(|| Name::parse(&cleaned).ok()).flatten();
    if let Some(plain) = plain.filter(is_free) {
        return plain;
    }
    let mut marks = (0_u32..).map(|round| {
        let digest = Sha256::digest(format!("{foreign}\n{round}"));
        hexadecimal(digest.get(..MARK.div_ceil(2)).unwrap_or_default())
    });
    let short =
        cleaned.get(..cleaned.len().min(LONGEST - MARK - 1)).unwrap_or_default().trim_end_matches(['-', '_']);
    let marked =
        |mark: String| Name::parse(&format!("{short}-{}", mark.get(..MARK).unwrap_or_default())).ok();
    marks.find_map(|mark| marked(mark).filter(is_free)).unwrap_or_else(Name::squire)
}

fn cleaned(foreign: &str) -> String {
    let mut cleaned = String::new();
    for character in foreign.chars() {
        let legal = if character.is_ascii_alphanumeric() || character == '_' { character } else { '-' };
        let doubled = matches!(legal, '-' | '_') && cleaned.ends_with(['-', '_']);
        if !doubled {
            cleaned.push(legal);
        }
    }
    let trimmed = cleaned.trim_matches(['-', '_']);
    let is_letter = trimmed.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_reserved = Name::RESERVED.contains(&trimmed);
    if is_letter && !is_reserved {
        trimmed.to_owned()
    } else {
        format!("mcp-{trimmed}").trim_end_matches('-').to_owned()
    }
}
