//! Page tokens: opaque, with the position at which the last page ended. Nothing is kept between two pages, and a change in the
//! meantime neither doubles nor hides a record.
//!
//! Bytes, in base64url without padding: version, list, position, first 4 bytes of the SHA-256 of all before.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::error::{EngineError, Result};
use crate::limits::PAGE_TOKEN_MAX;
use crate::model::{Question, Stream};
use crate::timestamp::Timestamp;

const VERSION: u8 = 1;
const CHECK_BYTES: usize = 4;

/// The list a token continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    All,
    OnHold,
    Filtered,
    History(Stream),
    Audit,
    Rows(Question),
    Events,
    Actions,
}

impl List {
    fn number(self) -> u8 {
        match self {
            Self::All => 1,
            Self::OnHold => 2,
            Self::Filtered => 3,
            // The streams take the numbers from here on.
            Self::History(stream) => 3 + stream.number(),
            Self::Audit => 0,
            Self::Rows(question) => question.number(),
            Self::Events => 31,
            Self::Actions => 30,
        }
    }
}

/// The position at which a page ended, as bytes in its token.
pub(crate) trait Position: Sized {
    fn to_bytes(&self) -> Vec<u8>;

    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

/// The number of a row, an event or an action.
impl Position for u64 {
    fn to_bytes(&self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self::from_le_bytes(bytes.try_into().ok()?))
    }
}

/// The id of a workspace.
impl Position for String {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_utf8(bytes.to_vec()).ok()
    }
}

/// The name of an order and a place in it.
impl Position for Vec<u8> {
    fn to_bytes(&self) -> Vec<u8> {
        self.clone()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

/// The position at which a page of history ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HistoryPosition {
    /// Filed time and time of receipt of the last record.
    pub(crate) order: (Timestamp, Timestamp),
    /// The number of records with exactly these times that the pages so far have shown.
    pub(crate) shown: u32,
}

impl Position for HistoryPosition {
    fn to_bytes(&self) -> Vec<u8> {
        let (filed_at, received_at) = self.order;
        let mut bytes = filed_at.ticks().to_le_bytes().to_vec();
        bytes.extend_from_slice(&received_at.ticks().to_le_bytes());
        bytes.extend_from_slice(&self.shown.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (filed_at, rest) = take_time(bytes)?;
        let (received_at, rest) = take_time(rest)?;
        Some(Self {
            order: (filed_at, received_at),
            shown: u32::from_le_bytes(rest.try_into().ok()?),
        })
    }
}

/// The time at the start of a position, and what follows it.
pub(crate) fn take_time(bytes: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (ticks, rest) = bytes.split_first_chunk()?;
    Some((Timestamp::from_ticks(i64::from_le_bytes(*ticks)), rest))
}

/// The token that continues `list` after `position`.
pub(crate) fn token(list: List, position: &impl Position) -> String {
    encode(list, &position.to_bytes())
}

/// The position after which `token` continues `list`.
///
/// # Errors
/// A token that is not one of the list's.
pub(crate) fn position<P: Position>(list: List, token: Option<&str>) -> Result<Option<P>> {
    let read = |token| decode(list, token).and_then(|bytes| P::from_bytes(&bytes));
    let bad_token =
        || EngineError::invalid("nextToken", "The value is not a token of this endpoint.");
    token
        .map(|token| read(token).ok_or_else(bad_token))
        .transpose()
}

fn encode(list: List, position: &[u8]) -> String {
    let mut bytes = vec![VERSION, list.number()];
    bytes.extend_from_slice(position);
    let check = check(&bytes);
    bytes.extend_from_slice(&check);
    URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(list: List, token: &str) -> Option<Vec<u8>> {
    if token.len() > PAGE_TOKEN_MAX {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (body, stored) = bytes.split_last_chunk::<CHECK_BYTES>()?;
    let ours = check(body) == *stored;
    let position = body.strip_prefix(&[VERSION, list.number()])?;
    ours.then(|| position.to_vec())
}

/// Distinguishes a token of ours from text that merely decodes; it is no secret.
fn check(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let [a, b, c, d, ..] = Sha256::digest(bytes).0;
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use crate::limits::WORKSPACE_ID_MAX;

    use super::*;

    fn workspace_of(list: List, text: &str) -> Option<String> {
        position(list, Some(text)).ok()?
    }

    fn token_after(id: &str) -> String {
        token(List::All, &id.to_owned())
    }

    #[test]
    fn token_continues_only_its_own_list() {
        let token = token_after("ws-1");
        assert_eq!(workspace_of(List::All, &token).as_deref(), Some("ws-1"));
        assert_eq!(workspace_of(List::OnHold, &token), None);
        assert_eq!(workspace_of(List::Filtered, &token), None);
        assert_eq!(workspace_of(List::History(Stream::Stats), &token), None);
    }

    #[test]
    fn changed_token_is_refused() {
        let token = token_after("ws-1");
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(workspace_of(List::All, &changed), None, "{changed}");
        }
        for bad in ["", "A", "====", "dG9rZW4", &"A".repeat(513)] {
            assert_eq!(workspace_of(List::All, bad), None);
        }
    }

    #[test]
    fn token_of_the_longest_id_fits() {
        let id = "\u{10ffff}".repeat(WORKSPACE_ID_MAX);
        let token = token(List::OnHold, &id);
        assert!(token.len() <= PAGE_TOKEN_MAX);
        assert_eq!(workspace_of(List::OnHold, &token), Some(id));
    }

    #[test]
    fn history_position_equals_the_one_read_from_its_token() {
        let written = HistoryPosition {
            order: (Timestamp::MIN, Timestamp::MAX),
            shown: 7,
        };
        let token = token(List::History(Stream::Startup), &written);
        let read = |stream| position(List::History(stream), Some(&token)).ok();
        assert_eq!(read(Stream::Startup), Some(Some(written)));
        assert_eq!(read(Stream::Processes), None);
    }
}
