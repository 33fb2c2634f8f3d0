//! The bytes of holds, keys and audit rows.

use crate::error::Result;
use crate::model::{AuditAction, NewKey, Scopes};
use crate::mutation::{
    AuditAccess, AuditRefusal, IssueKey, PlaceHold, ReleaseHold, RevokeKey, TouchKeys,
};
use crate::store::codec::{Decoder, Encoder, damaged};

use super::fields::{
    decode_all, decode_bool, decode_caller, encode_all, encode_bool, encode_caller, owned,
};
use super::{Logged, Tag};

impl Logged for AuditRefusal {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::AuditRefusal)
    }

    fn encode(&self, to: &mut Encoder) {
        to.variant(&AuditAction::ALL, &self.action);
        to.text(&self.detail);
        to.option_text(self.workspace_id.as_deref());
        to.option_text(self.requester.as_deref());
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            action: from.variant(&AuditAction::ALL)?,
            detail: from.text()?.to_owned().into(),
            workspace_id: owned(from.option_text()?),
            requester: owned(from.option_text()?),
            by: decode_caller(from)?,
        })
    }
}

impl Logged for AuditAccess {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::AuditAccess)
    }

    fn encode(&self, to: &mut Encoder) {
        to.variant(&AuditAction::ALL, &self.action);
        to.option_text(self.detail.as_deref());
        to.option_text(self.refused.as_deref());
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            action: from.variant(&AuditAction::ALL)?,
            detail: owned(from.option_text()?),
            refused: owned(from.option_text()?).map(Into::into),
            by: decode_caller(from)?,
        })
    }
}

impl Logged for PlaceHold {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::PlaceHold)
    }

    fn encode(&self, to: &mut Encoder) {
        to.text(&self.id);
        to.text(&self.matter);
        to.option_text(self.reason.as_deref());
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            id: from.text()?.to_owned(),
            matter: from.text()?.to_owned(),
            reason: owned(from.option_text()?),
            by: decode_caller(from)?,
        })
    }
}

impl Logged for ReleaseHold {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::ReleaseHold)
    }

    fn encode(&self, to: &mut Encoder) {
        to.text(&self.id);
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            id: from.text()?.to_owned(),
            by: decode_caller(from)?,
        })
    }
}

impl Logged for IssueKey {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::IssueKey)
    }

    fn encode(&self, to: &mut Encoder) {
        to.raw(&self.hash);
        to.u8(self.key.scopes.bits());
        to.text(&self.key.name);
        to.option_time(self.key.expires);
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            hash: from.array()?,
            key: NewKey {
                scopes: decode_scopes(from)?,
                name: from.text()?.to_owned(),
                expires: from.option_time()?,
            },
            by: decode_caller(from)?,
        })
    }
}

/// None of them is dropped.
fn decode_scopes(from: &mut Decoder<'_>) -> Result<Scopes> {
    let bits = from.u8()?;
    let scopes = Scopes::from_bits(bits);
    if scopes.bits() != bits {
        return Err(damaged());
    }
    Ok(scopes)
}

impl Logged for RevokeKey {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::RevokeKey)
    }

    fn encode(&self, to: &mut Encoder) {
        to.varint(self.id);
        encode_bool(self.force, to);
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            id: from.varint()?,
            force: decode_bool(from)?,
            by: decode_caller(from)?,
        })
    }
}

impl Logged for TouchKeys {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::TouchKeys)
    }

    fn encode(&self, to: &mut Encoder) {
        encode_all(&self.0, to, |(id, used), to| {
            to.varint(*id);
            to.time(*used);
        });
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        let used = |from: &mut Decoder<'_>| Ok((from.varint()?, from.time()?));
        decode_all(from, used).map(Self)
    }
}
