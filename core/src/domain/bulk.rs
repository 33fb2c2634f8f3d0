//! How a bulk upsert is cut into the parts that are committed at once.

use crate::limits::{BULK_UPSERT_BYTES, BULK_UPSERT_CHUNK};

/// Bytes of the texts of a workspace.
pub(crate) fn text_bytes(values: &[Option<&str>]) -> usize {
    values.iter().flatten().map(|text| text.len()).sum()
}

/// Whether that many workspaces with texts of that many bytes fill a part.
pub(crate) fn fills_part(workspaces: usize, text_bytes: usize) -> bool {
    workspaces >= BULK_UPSERT_CHUNK || text_bytes >= BULK_UPSERT_BYTES
}

/// How many workspaces the first part has, of those whose texts have these bytes: all of them where they do not fill it.
pub(crate) fn part_length(text_bytes: impl Iterator<Item = usize>) -> usize {
    let (mut count, mut bytes) = (0, 0);
    for more in text_bytes {
        count += 1;
        bytes += more;
        if fills_part(count, bytes) {
            break;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_ends_at_a_thousand_workspaces_or_before_that_where_their_texts_are_long() {
        assert_eq!(part_length([].into_iter()), 0);
        assert_eq!(part_length([20; 999].into_iter()), 999);
        assert_eq!(part_length([20; 1001].into_iter()), BULK_UPSERT_CHUNK);
        // The longest that one may be: 64 and nine times 256 code points, of four bytes each.
        let longest = 4 * (64 + 9 * 256);
        let count = part_length([longest; 1000].into_iter());
        assert_eq!(count, BULK_UPSERT_BYTES.div_ceil(longest));
        assert_eq!(part_length([BULK_UPSERT_BYTES; 2].into_iter()), 1);
    }
}
