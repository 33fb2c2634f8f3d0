//! The bytes of what begins and ends actions.

use crate::error::Result;
use crate::model::{Action, ActionRequest, Attempt, FailedState};
use crate::mutation::{Act, CompleteAction, DispatchAction, FailAction, NoteAction};
use crate::store::codec::{Decoder, Encoder, damaged};

use super::fields::{decode_caller, encode_caller, owned};
use super::{Logged, Tag};

impl Logged for Act {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::Act)
    }

    fn encode(&self, to: &mut Encoder) {
        let request = &self.request;
        to.variant(Action::ALL, &request.action);
        to.option_text(request.workspace_id.as_deref());
        to.option_text(request.sam_account.as_deref());
        to.option_text(request.requester.as_deref());
        to.option_text(request.compute_type.as_deref());
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            request: ActionRequest {
                action: from.variant(Action::ALL)?,
                workspace_id: owned(from.option_text()?),
                sam_account: owned(from.option_text()?),
                requester: owned(from.option_text()?),
                compute_type: owned(from.option_text()?),
            },
            by: decode_caller(from)?,
        })
    }
}

impl Logged for CompleteAction {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::CompleteAction)
    }

    fn encode(&self, to: &mut Encoder) {
        to.varint(self.0);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self(from.varint()?))
    }
}

/// In the order of their numbers in the log.
const FAILED_STATES: [FailedState; 2] = [FailedState::Error, FailedState::Unhealthy];

impl Logged for FailAction {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::FailAction)
    }

    fn encode(&self, to: &mut Encoder) {
        to.varint(self.id);
        to.variant(&FAILED_STATES, &self.state);
        to.option_text(self.detail.as_deref());
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            id: from.varint()?,
            state: from.variant(&FAILED_STATES)?,
            detail: owned(from.option_text()?),
        })
    }
}

impl Logged for DispatchAction {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::DispatchAction)
    }

    fn encode(&self, to: &mut Encoder) {
        to.varint(self.id);
        to.varint(self.attempt.number.into());
        to.text(&self.attempt.provider);
        to.option_text(self.attempt.instance.as_deref());
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            id: from.varint()?,
            attempt: Attempt {
                number: attempt(from)?,
                provider: from.text()?.to_owned(),
                instance: owned(from.option_text()?),
            },
        })
    }
}

impl Logged for NoteAction {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::NoteAction)
    }

    fn encode(&self, to: &mut Encoder) {
        to.varint(self.id);
        to.varint(self.attempt.into());
        to.text(&self.note);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            id: from.varint()?,
            attempt: attempt(from)?,
            note: from.text()?.to_owned(),
        })
    }
}

/// The number of an attempt.
fn attempt(from: &mut Decoder<'_>) -> Result<u32> {
    u32::try_from(from.varint()?).map_err(|_| damaged())
}
