//! The client that the suite watches: `conformance-client URL`.

fn main() -> std::io::Result<()> {
    let url =
        std::env::args().nth(1).ok_or_else(|| std::io::Error::other("the address of a server is missing"))?;
    squire_conformance::client::show(&url)
}
