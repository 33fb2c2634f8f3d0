//! Entries of the log that the nodes of a fleet share.

use deskfleet::{ErrorKind, logged_mutations};

/// `input` as the body of an entry: it is refused, or its mutations are read, which make an entry that holds the same.
///
/// # Panics
/// When the mutations of the second entry are others.
pub fn log_entry(input: &[u8]) {
    match logged_mutations(input) {
        Ok(mutations) => {
            // Format 1, rules 1.
            let mut body = vec![1, 1, 0];
            for (tag, bytes, _) in &mutations {
                body.push(*tag);
                push_varint(&mut body, bytes.len());
                body.extend_from_slice(bytes);
            }
            let again = logged_mutations(&body).expect("an entry of mutations that were read");
            assert_eq!(again, mutations);
        }
        Err(error) => {
            let is_known = matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::NewerFormat);
            assert!(is_known, "{error}");
        }
    }
}

fn push_varint(body: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        body.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    body.push(value.to_le_bytes()[0]);
}
