//! The `squire` program.
fn main() {}
