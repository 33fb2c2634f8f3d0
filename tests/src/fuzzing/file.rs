//! Damaged files.

use std::sync::LazyLock;

use crate::panics::expect_redb_to_panic;

use super::image::{Image, filled, use_everything};

static FILLED: LazyLock<Vec<u8>> = LazyLock::new(|| filled().bytes());

/// Edits of a valid file: three bytes for a place, one for the edit (write the next byte, flip a bit, truncate the
/// file, copy a page over another), one as its operand. Whether the file is refused or opens, only redb may panic, and
/// the engine reports that as damage.
///
/// # Panics
/// When the engine does.
pub fn file(input: &[u8]) {
    expect_redb_to_panic();
    let mut bytes = FILLED.clone();
    for edit in input.chunks_exact(5) {
        let [high, middle, low, what, with] = *edit else {
            return;
        };
        let place = u32::from_be_bytes([0, high, middle, low]);
        let place = usize::try_from(place).unwrap_or(0) % bytes.len().max(1);
        match what % 4 {
            0 => {
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = with;
                }
            }
            1 => {
                if let Some(byte) = bytes.get_mut(place) {
                    *byte ^= 1 << (with % 8);
                }
            }
            2 if with == 0 => bytes.truncate(place),
            _ => copy_page(&mut bytes, place, with),
        }
    }
    use_everything(&Image::from_bytes(&bytes));
}

fn copy_page(bytes: &mut [u8], place: usize, with: u8) {
    const PAGE: usize = 4096;
    let (from, to) = (place / PAGE * PAGE, usize::from(with) * PAGE);
    if from + PAGE <= bytes.len() && to + PAGE <= bytes.len() {
        bytes.copy_within(from..from + PAGE, to);
    }
}
