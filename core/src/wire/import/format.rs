//! Which format an import has: what its content type says, and its first bytes.

use super::Unreadable;

/// A byte order mark, which UTF-8 needs not.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// First bytes of white space that are kept until they say what the format is.
const FIRST_BYTES_MAX: usize = 4096;

/// What the content type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declared {
    /// JSON: one document, which has a record.
    Json,
    /// NDJSON.
    Lines,
    Csv,
    /// Nothing: the first bytes decide.
    Nothing,
}

/// Whether the text that begins with `first` is CSV, and else JSON; `None` while that is too short to say.
pub(super) fn is_csv(
    first: &[u8],
    declared: Declared,
    is_whole: bool,
) -> Result<Option<bool>, Unreadable> {
    let undecided = !is_whole && first.len() < FIRST_BYTES_MAX;
    if undecided && (first.len() < 3 || MARK.starts_with(first)) {
        return Ok(None);
    }
    if let Some(message) = not_text(first) {
        return Err(message.to_owned());
    }
    let text = without_mark(first).trim_ascii_start();
    Ok(match (text, declared) {
        ([], _) if undecided => None,
        (_, Declared::Csv) => Some(true),
        // A record separator begins each text of `jq --seq`.
        ([] | [b'[' | b'{' | 0x1e, ..], _) | (_, Declared::Json | Declared::Lines) => Some(false),
        (_, Declared::Nothing) => Some(true),
    })
}

/// A sentence about a text whose first three bytes, or all of which, say that it is no text in UTF-8.
pub(crate) fn not_text(first: &[u8]) -> Option<&'static str> {
    Some(match first {
        [0x1f, 0x8b, ..] => {
            "The body is gzip-compressed: send Content-Encoding: gzip, or unpack it."
        }
        [b'P', b'K', 3, ..] => {
            "The body is a zip archive, as spreadsheets are: unpack it, or save it as CSV."
        }
        [0xfd, b'7', b'z', ..] => "The body is xz-compressed: unpack it.",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, ..] | [_, 0, ..] => {
            "The body is UTF-16: save it as UTF-8."
        }
        _ => return None,
    })
}

/// The text after its byte order mark.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}
