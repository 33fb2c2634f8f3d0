//! How a bulk upsert is cut into the parts that are committed at once.

use crate::limits::BULK_UPSERT_CHUNK;

/// Bytes of the texts of a workspace.
pub(crate) fn text_bytes(values: &[Option<&str>]) -> usize {
    values.iter().flatten().map(|text| text.len()).sum()
}

/// Whether this number of workspaces, or of bytes of texts, fills a part; `bytes_max` bounds the texts if given.
pub(crate) fn fills_part(workspaces: usize, text_bytes: usize, bytes_max: Option<usize>) -> bool {
    workspaces >= BULK_UPSERT_CHUNK || bytes_max.is_some_and(|max| text_bytes >= max)
}

/// The number of workspaces in the first part, of workspaces with texts of these lengths: all if they do not fill it.
pub(crate) fn part_length(
    text_bytes: impl Iterator<Item = usize>,
    bytes_max: Option<usize>,
) -> usize {
    let (mut count, mut bytes) = (0, 0);
    for more in text_bytes {
        count += 1;
        bytes += more;
        if fills_part(count, bytes, bytes_max) {
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
        let length = |text_bytes: &[usize]| part_length(text_bytes.iter().copied(), Some(700));
        assert_eq!(length(&[]), 0);
        assert_eq!(length(&[0; 999]), 999);
        assert_eq!(length(&[0; 1001]), BULK_UPSERT_CHUNK);
        assert_eq!(length(&[200; 5]), 4);
        assert_eq!(length(&[700; 2]), 1);
        assert_eq!(
            part_length([700; 1001].into_iter(), None),
            BULK_UPSERT_CHUNK
        );
    }
}
