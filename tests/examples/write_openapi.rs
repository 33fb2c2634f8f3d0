//! Writes the files that are made from the engine's tables and types: `cargo openapi`.

#![expect(clippy::print_stdout, reason = "a command says what it does")]

use std::path::Path;

use deskfleet_tests::openapi::FILES;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (path, text) in FILES {
        std::fs::write(root.join(path), text())?;
        println!("{path}");
    }
    Ok(())
}
