//! The bytes of upkeep that all nodes do at one position of the log.

use crate::error::Result;
use crate::mutation::{Derived, Maintenance, Span};
use crate::store::codec::{Decoder, Encoder, damaged};

use super::fields::{decode_all, encode_all};
use super::{Logged, Tag};

impl Logged for Maintenance {
    fn tag(&self) -> Option<Tag> {
        match self {
            Self::Settle(_) => Some(Tag::Settle),
            Self::Sweep(_) => Some(Tag::Sweep),
            Self::DropTerminated(..) => Some(Tag::DropTerminated),
            Self::DropDerived(..) => Some(Tag::DropDerived),
            Self::DropAudit(..) => Some(Tag::DropAudit),
            Self::DropEvents(_) => Some(Tag::DropEvents),
            Self::RemoveFiled | Self::Seal(_) | Self::RollUp(_) | Self::NoteCopy => None,
        }
    }

    fn encode(&self, to: &mut Encoder) {
        match self {
            Self::Settle(ids) => encode_ids(ids, to),
            Self::Sweep(time) => to.time(*time),
            Self::DropTerminated(ids, time) => {
                to.time(*time);
                encode_ids(ids, to);
            }
            Self::DropDerived(of, time, span) => {
                to.variant(&Derived::ALL, of);
                to.time(*time);
                encode_key(span.from.as_deref(), to);
                encode_key(span.before.as_deref(), to);
            }
            Self::DropAudit(time, after) => {
                to.time(*time);
                to.option(*after, Encoder::varint);
            }
            Self::DropEvents(below) => to.varint(*below),
            Self::RemoveFiled | Self::Seal(_) | Self::RollUp(_) | Self::NoteCopy => {}
        }
    }

    fn decode(tag: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(match tag {
            Tag::Settle => Self::Settle(decode_ids(from)?),
            Tag::Sweep => Self::Sweep(from.time()?),
            Tag::DropTerminated => {
                let time = from.time()?;
                Self::DropTerminated(decode_ids(from)?, time)
            }
            Tag::DropDerived => {
                let (of, time) = (from.variant(&Derived::ALL)?, from.time()?);
                let (from, before) = (decode_key(from)?, decode_key(from)?);
                Self::DropDerived(of, time, Span { from, before })
            }
            Tag::DropAudit => Self::DropAudit(from.time()?, from.option(Decoder::varint)?),
            Tag::DropEvents => Self::DropEvents(from.varint()?),
            Tag::Configure
            | Tag::Act
            | Tag::CompleteAction
            | Tag::FailAction
            | Tag::DispatchAction
            | Tag::NoteAction
            | Tag::AuditRefusal
            | Tag::AuditAccess
            | Tag::PlaceHold
            | Tag::ReleaseHold
            | Tag::ImportWorkspaces
            | Tag::IssueKey
            | Tag::RevokeKey
            | Tag::TouchKeys
            | Tag::PutWorkspace
            | Tag::PutWorkspaces
            | Tag::RemoveTelemetry
            | Tag::RemoveWorkspace
            | Tag::Telemetry => return Err(damaged()),
        })
    }
}

fn encode_ids(ids: &[String], to: &mut Encoder) {
    encode_all(ids, to, |id, to| to.text(id));
}

fn decode_ids(from: &mut Decoder<'_>) -> Result<Vec<String>> {
    decode_all(from, |from| Ok(from.text()?.to_owned()))
}

pub(super) fn encode_key(key: Option<&[u8]>, to: &mut Encoder) {
    to.option(key, |to, key| {
        to.count(key.len());
        to.raw(key);
    });
}

pub(super) fn decode_key(from: &mut Decoder<'_>) -> Result<Option<Vec<u8>>> {
    from.option(|from| {
        let length = from.count()?;
        Ok(from.raw(length)?.to_vec())
    })
}
