//! Writes what the native engine answers to the conformance cases, each a line of JSON:
//! `cargo run -p deskfleet-tests --example write_transcripts -- PATH`.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use deskfleet_tests::conformance::AREAS;
use deskfleet_tests::conformance::transcript::transcript;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: write_transcripts PATH")?;
    let mut file = BufWriter::new(File::create(path)?);
    for case in AREAS.iter().flat_map(|(_, cases)| cases()) {
        if let Some(transcript) = transcript(&case) {
            writeln!(file, "{transcript}")?;
        }
    }
    file.flush()?;
    Ok(())
}
