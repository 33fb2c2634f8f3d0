//! A workspace as stored.
//!
//! Value: flags (1 transition, 2 held, 4 plain, 8 known since); time since the state holds; with flag 8, ticks from when the inventory has the
//! workspace to that time; nine lengths in the order of the interface, 0
//! for null and else the length plus 1; the nine texts, one after the other; then, with flag 1, the transition.
//!
//! A page of workspaces is read often and written as JSON: one check shows that all texts are UTF-8, and the flag that none needs
//! an escape.

use crate::error::Result;
use crate::model::{Action, Situation, State, Workspace};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::timestamp::Timestamp;

const TRANSITION: u8 = 1;
const HELD: u8 = 2;
const PLAIN: u8 = 4;
const KNOWN_SINCE: u8 = 8;

/// An accepted action that has not ended, as stored with its workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transition<T = String> {
    /// Number of the action and of its audit row.
    pub(crate) id: u64,
    pub(crate) action: Action,
    pub(crate) requested_at: Timestamp,
    /// `None`: only the host ends it.
    pub(crate) due_at: Option<Timestamp>,
    /// The state it ends in.
    pub(crate) outcome: State,
    /// The new compute type it ends with.
    pub(crate) compute_type: Option<T>,
}

/// A workspace as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) workspace: Workspace,
    /// Since when `workspace.state` holds.
    pub(crate) state_since: Timestamp,
    /// Since when the inventory has it; [`Timestamp::MIN`] where that was not noted.
    pub(crate) known_since: Timestamp,
    pub(crate) held: bool,
    pub(crate) transition: Option<Transition>,
}

/// A workspace in its stored form; nothing is copied.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryRef<'a> {
    /// In the order of [`Workspace::FIELDS`].
    pub(crate) values: [Option<&'a str>; Workspace::FIELDS.len()],
    pub(crate) state_since: Timestamp,
    /// Since when the inventory has it; [`Timestamp::MIN`] where that was not noted.
    pub(crate) known_since: Timestamp,
    pub(crate) held: bool,
    /// Whether no value needs an escape in JSON.
    pub(crate) plain: bool,
    pub(crate) transition: Option<Transition<&'a str>>,
}

impl Transition<&str> {
    pub(crate) fn into_owned(self) -> Transition {
        Transition {
            id: self.id,
            action: self.action,
            requested_at: self.requested_at,
            due_at: self.due_at,
            outcome: self.outcome,
            compute_type: self.compute_type.map(str::to_owned),
        }
    }
}

impl<'a> EntryRef<'a> {
    /// Reads the value stored at the key `id`.
    pub(crate) fn decode(id: &'a [u8], value: &'a [u8]) -> Result<Self> {
        let mut decoder = Decoder::new(value);
        let flags = decoder.u8()?;
        let state_since = decoder.time()?;
        let mut known_since = Timestamp::MIN;
        if flags & KNOWN_SINCE != 0 {
            let ticks = state_since.ticks().wrapping_sub(decoder.signed()?);
            known_since = Timestamp::from_ticks(ticks);
        }
        let mut lengths = [0; Workspace::FIELDS.len() - 1];
        let mut total = 0_usize;
        for length in &mut lengths {
            *length = usize::try_from(decoder.varint()?).map_err(|_| damaged())?;
            total = total.saturating_add(length.saturating_sub(1));
        }
        let mut texts = std::str::from_utf8(decoder.raw(total)?).map_err(|_| damaged())?;
        let mut values = [None; Workspace::FIELDS.len()];
        let (first, rest) = values.split_first_mut().ok_or_else(damaged)?;
        *first = Some(std::str::from_utf8(id).map_err(|_| damaged())?);
        for (value, length) in rest.iter_mut().zip(lengths) {
            if let Some(length) = length.checked_sub(1) {
                let (text, others) = texts.split_at_checked(length).ok_or_else(damaged)?;
                *value = Some(text);
                texts = others;
            }
        }
        let transition = if flags & TRANSITION == 0 {
            None
        } else {
            Some(decode_transition(&mut decoder)?)
        };
        decoder.finish()?;
        Ok(Self {
            values,
            state_since,
            known_since,
            held: flags & HELD != 0,
            plain: flags & PLAIN != 0,
            transition,
        })
    }

    /// Ends the running action as intended, at the time `at`.
    pub(crate) fn finish_action(&mut self, at: Timestamp) {
        if let Some(ended) = self.transition.take() {
            let [.., compute_type, _, _, state] = &mut self.values;
            *state = Some(ended.outcome.as_str());
            *compute_type = ended.compute_type.or(*compute_type);
            self.state_since = at;
        }
    }

    /// `workSpId`.
    pub(crate) fn id(&self) -> &'a str {
        let [id, ..] = self.values;
        id.unwrap_or_default()
    }

    /// `computerName`.
    pub(crate) fn computer_name(&self) -> Option<&'a str> {
        let [_, computer_name, ..] = self.values;
        computer_name
    }

    /// `username`.
    pub(crate) fn username(&self) -> Option<&'a str> {
        let [.., username, _] = self.values;
        username
    }

    /// `state`.
    pub(crate) fn state(&self) -> Option<&'a str> {
        let [.., state] = self.values;
        state
    }

    /// `region`.
    pub(crate) fn region(&self) -> Option<&'a str> {
        let [_, _, _, region, ..] = self.values;
        region
    }

    /// `runningMode`.
    pub(crate) fn running_mode(&self) -> Option<&'a str> {
        let [.., running_mode, _, _, _, _] = self.values;
        running_mode
    }

    /// `computeTypeName`.
    pub(crate) fn compute_type(&self) -> Option<&'a str> {
        let [.., compute_type, _, _, _] = self.values;
        compute_type
    }

    pub(crate) fn into_entry(self) -> Entry {
        Entry {
            workspace: Workspace::of_values(self.values),
            state_since: self.state_since,
            known_since: self.known_since,
            held: self.held,
            transition: self.transition.map(Transition::into_owned),
        }
    }
}

fn decode_transition<'a>(decoder: &mut Decoder<'a>) -> Result<Transition<&'a str>> {
    Ok(Transition {
        id: decoder.varint()?,
        action: decoder.variant(Action::ALL)?,
        requested_at: decoder.time()?,
        due_at: decoder.option_time()?,
        outcome: decoder.variant(State::ALL)?,
        compute_type: decoder.option_text()?,
    })
}

impl Entry {
    /// The workspace as the rules of the actions see it.
    pub(crate) fn situation(&self) -> Situation<'_> {
        let workspace = &self.workspace;
        Situation {
            state: workspace.state.as_deref(),
            state_since: self.state_since,
            running_mode: workspace.running_mode.as_deref(),
            compute_type: workspace.compute_type_name.as_deref(),
            held: self.held,
            in_transition: self.transition.is_some(),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        let mut flags = 0;
        if self.transition.is_some() {
            flags |= TRANSITION;
        }
        if self.held {
            flags |= HELD;
        }
        if self.known_since != Timestamp::MIN {
            flags |= KNOWN_SINCE;
        }
        let values = self.workspace.values();
        let new_type = self
            .transition
            .as_ref()
            .and_then(|transition| transition.compute_type.as_deref());
        if values.into_iter().chain([new_type]).flatten().all(is_plain) {
            flags |= PLAIN;
        }
        encoder.u8(flags);
        encoder.time(self.state_since);
        if self.known_since != Timestamp::MIN {
            encoder.signed(self.state_since.ticks() - self.known_since.ticks());
        }
        for value in values.into_iter().skip(1) {
            encoder.count(value.map_or(0, |value| value.len() + 1));
        }
        for value in values.into_iter().skip(1).flatten() {
            encoder.raw(value.as_bytes());
        }
        if let Some(transition) = &self.transition {
            encoder.varint(transition.id);
            encoder.variant(Action::ALL, &transition.action);
            encoder.time(transition.requested_at);
            encoder.option_time(transition.due_at);
            encoder.variant(State::ALL, &transition.outcome);
            encoder.option_text(transition.compute_type.as_deref());
        }
        encoder.finish()
    }
}

/// Whether a text needs no escape in JSON.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_encodes_and_decodes_unchanged() {
        let entry = Entry {
            workspace: Workspace {
                id: "ws-1".into(),
                username: Some(String::new()),
                state: Some("UPDATING".into()),
                ..Workspace::default()
            },
            state_since: Timestamp::MIN,
            known_since: Timestamp::MAX,
            held: true,
            transition: Some(Transition {
                id: u64::MAX,
                action: Action::ChangeComputeType,
                requested_at: Timestamp::MAX,
                due_at: None,
                outcome: State::Error,
                compute_type: Some("POWER".into()),
            }),
        };
        let bytes = entry.encode();
        assert_eq!(
            EntryRef::decode(b"ws-1", &bytes).unwrap().into_entry(),
            entry
        );
        for length in 0..bytes.len() {
            assert!(EntryRef::decode(b"ws-1", &bytes[..length]).is_err());
        }
    }

    #[test]
    fn plain_flag_is_set_when_no_text_needs_an_escape() {
        for (text, plain) in [
            ("a ä/\u{7f}", true),
            ("\"", false),
            ("\\", false),
            ("\n", false),
            ("", true),
        ] {
            let entry = Entry {
                workspace: Workspace {
                    id: "ws-1".into(),
                    region: Some(text.into()),
                    ..Workspace::default()
                },
                state_since: Timestamp::UNIX_EPOCH,
                known_since: Timestamp::MIN,
                held: false,
                transition: None,
            };
            let bytes = entry.encode();
            assert_eq!(
                EntryRef::decode(b"ws-1", &bytes).unwrap().plain,
                plain,
                "{text:?}"
            );
            assert_eq!(
                serde_json::to_string(text).unwrap() == format!("\"{text}\""),
                plain
            );
        }
    }
}
