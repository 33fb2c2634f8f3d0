//! The files that `cargo openapi` writes.

use std::path::Path;

use deskfleet_tests::openapi::FILES;

#[test]
fn written_files_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (path, text) in FILES {
        let written = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        assert!(
            written == text(),
            "{path} is out of date: run `cargo openapi`"
        );
    }
}
