//! Page tokens: opaque, made of where the last page ended, so that nothing is kept between two pages and what is added
//! or removed in the meantime neither doubles nor hides a record.
//!
//! Bytes, in base64url without padding: version, list, position, first 4 bytes of the SHA-256 of all before.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::error::EngineError;
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

/// A token that continues `list` after the workspace `id`.
pub(crate) fn after_workspace(list: List, id: &str) -> String {
    encode(list, id.as_bytes())
}

/// The workspace after which `token` continues `list`; `None` when it is not a token of that list.
pub(crate) fn workspace_of(list: List, token: &str) -> Option<String> {
    String::from_utf8(decode(list, token)?).ok()
}

/// Where a page of history ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HistoryPosition {
    /// Filed time and time of receipt of the last record.
    pub(crate) order: (Timestamp, Timestamp),
    /// How many records of just these times the pages so far have shown.
    pub(crate) shown: u32,
}

/// A token that continues the history of `stream` after `position`.
pub(crate) fn after_record(stream: Stream, position: HistoryPosition) -> String {
    let (filed_at, received_at) = position.order;
    let mut bytes = filed_at.ticks().to_le_bytes().to_vec();
    bytes.extend_from_slice(&received_at.ticks().to_le_bytes());
    bytes.extend_from_slice(&position.shown.to_le_bytes());
    encode(List::History(stream), &bytes)
}

/// The position after which `token` continues the history of `stream`.
pub(crate) fn record_of(stream: Stream, token: &str) -> Option<HistoryPosition> {
    let bytes = decode(List::History(stream), token)?;
    let (filed_at, rest) = bytes.split_first_chunk()?;
    let (received_at, rest) = rest.split_first_chunk()?;
    let time = |bytes: &[u8; 8]| Timestamp::from_ticks(i64::from_le_bytes(*bytes));
    Some(HistoryPosition {
        order: (time(filed_at), time(received_at)),
        shown: u32::from_le_bytes(rest.try_into().ok()?),
    })
}

/// A token that continues the audit before the row of that number.
pub(crate) fn before_row(id: u64) -> String {
    encode(List::Audit, &id.to_le_bytes())
}

/// The number of the row before which `token` continues the audit.
pub(crate) fn row_of(token: &str) -> Option<u64> {
    let bytes = decode(List::Audit, token)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// A token that continues the rows of `question` after `place`, in the order that `name` stands for.
pub(crate) fn after_place(question: Question, name: &[u8], place: &[u8]) -> String {
    encode(List::Rows(question), &[name, place].concat())
}

/// The place after which `token` continues the rows of `question` in that order.
pub(crate) fn place_of(question: Question, name: &[u8], token: &str) -> Option<Vec<u8>> {
    let bytes = decode(List::Rows(question), token)?;
    bytes.strip_prefix(name).map(<[u8]>::to_vec)
}

/// The refusal of a token that is not one of the list's.
pub(crate) fn bad_token() -> EngineError {
    EngineError::invalid("nextToken", "The value is not a token of this endpoint.")
}

/// A token that continues the event log after the event of that number.
pub(crate) fn after_event(id: u64) -> String {
    encode(List::Events, &id.to_le_bytes())
}

/// The number of the event after which `token` continues the event log.
pub(crate) fn event_of(token: &str) -> Option<u64> {
    let bytes = decode(List::Events, token)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// A token that continues the outbox after the action of that number.
pub(crate) fn after_action(id: u64) -> String {
    encode(List::Actions, &id.to_le_bytes())
}

/// The number of the action after which `token` continues the outbox.
pub(crate) fn action_of(token: &str) -> Option<u64> {
    let bytes = decode(List::Actions, token)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
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

    #[test]
    fn a_token_continues_only_its_own_list() {
        let token = after_workspace(List::All, "ws-1");
        assert_eq!(workspace_of(List::All, &token).as_deref(), Some("ws-1"));
        assert_eq!(workspace_of(List::OnHold, &token), None);
        assert_eq!(workspace_of(List::Filtered, &token), None);
        assert_eq!(record_of(Stream::Stats, &token), None);
    }

    #[test]
    fn every_change_of_a_token_is_noticed() {
        let token = after_workspace(List::All, "ws-1");
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
    fn the_longest_id_fits() {
        let id = "\u{10ffff}".repeat(WORKSPACE_ID_MAX);
        let token = after_workspace(List::OnHold, &id);
        assert!(token.len() <= PAGE_TOKEN_MAX);
        assert_eq!(workspace_of(List::OnHold, &token), Some(id));
    }

    #[test]
    fn a_history_position_survives() {
        let position = HistoryPosition {
            order: (Timestamp::MIN, Timestamp::MAX),
            shown: 7,
        };
        let token = after_record(Stream::Startup, position);
        assert_eq!(record_of(Stream::Startup, &token), Some(position));
        assert_eq!(record_of(Stream::Processes, &token), None);
    }
}
