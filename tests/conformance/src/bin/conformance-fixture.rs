//! The server under test.

fn main() -> std::io::Result<()> {
    squire_conformance::fixture::serve()
}
