//! Writes the native engine's responses to the conformance cases, one JSON object per line:
//! `cargo run -p deskfleet-tests --example write_transcripts -- PATH`.

use std::path::Path;

use deskfleet_tests::conformance::transcript::write_all;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: write_transcripts PATH")?;
    write_all(Path::new(&path))?;
    Ok(())
}
