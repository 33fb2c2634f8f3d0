//! Which format an import has: what its content type says, and its first bytes.

use super::Unreadable;

/// A byte order mark, which UTF-8 needs not.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// First bytes that are kept until they say what the format is: white space and the name of the first member.
const FIRST_BYTES_MAX: usize = 4096;

/// What the content type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declared {
    /// JSON: one document.
    Json,
    /// NDJSON.
    Lines,
    Csv,
    /// Nothing: the first bytes decide.
    Nothing,
}

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detected {
    Lines,
    Document,
    Csv,
}

/// The format of the text that begins with `first`; `None` while that is too short to tell.
pub(super) fn detect(
    first: &[u8],
    declared: Declared,
    is_whole: bool,
) -> Result<Option<Detected>, Unreadable> {
    let undecided = !is_whole && first.len() < FIRST_BYTES_MAX;
    if undecided && (first.len() < 3 || MARK.starts_with(first)) {
        return Ok(None);
    }
    match first {
        [0x1f, 0x8b, ..] => {
            let message = "The body is gzip-compressed: send Content-Encoding: gzip, or unpack it.";
            return Err(message.to_owned());
        }
        [b'P', b'K', 3, ..] => {
            let message =
                "The body is a zip archive, as spreadsheets are: unpack it, or save it as CSV.";
            return Err(message.to_owned());
        }
        [0xfd, b'7', b'z', ..] => return Err("The body is xz-compressed: unpack it.".to_owned()),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, ..] | [_, 0, ..] => {
            return Err("The body is UTF-16: save it as UTF-8.".to_owned());
        }
        _ => {}
    }
    let text = without_mark(first).trim_ascii_start();
    Ok(match (text, declared) {
        ([], _) if undecided => None,
        (_, Declared::Csv) => Some(Detected::Csv),
        ([b'[', ..], _) => Some(Detected::Document),
        ([b'{', members @ ..], _) => match is_page(members) {
            None if undecided => None,
            Some(true) => Some(Detected::Document),
            _ if declared == Declared::Json => return Err(not_a_document()),
            _ => Some(Detected::Lines),
        },
        (_, Declared::Json) => return Err(not_a_document()),
        ([], _) | (_, Declared::Lines) => Some(Detected::Lines),
        (_, Declared::Nothing) => Some(Detected::Csv),
    })
}

fn not_a_document() -> Unreadable {
    "The body must be a JSON array, or an object with the array workSpaces; send one object per line as application/x-ndjson."
        .to_owned()
}

/// Whether an object is a page of a list, by the name of its first member; `None` where that has not ended.
fn is_page(members: &[u8]) -> Option<bool> {
    const NAMES: [&[u8]; 3] = [b"workSpaces", b"nextToken", b"hasMore"];
    match members.trim_ascii_start() {
        [] => None,
        [b'"', name @ ..] => {
            let end = name.iter().position(|byte| *byte == b'"')?;
            let (name, _) = name.split_at(end);
            Some(NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)))
        }
        _ => Some(false),
    }
}

/// The text after its byte order mark.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}
