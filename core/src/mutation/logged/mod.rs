//! The bytes of mutations in the log that the nodes of a fleet share. `core/docs/log.md` describes them.

pub(crate) mod entry;
mod fields;
pub(crate) mod replaying;

use std::fmt;

use crate::error::Result;
use crate::model::WriteClass;
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::telemetry::filing::Slice;

use super::configure::Configure;
use super::{
    Act, AuditAccess, AuditRefusal, CompleteAction, Context, DispatchAction, FailAction,
    ImportWorkspaces, IssueKey, Maintenance, Mutation, NoteAction, Outcome, PlaceHold,
    PutWorkspace, PutWorkspaces, ReleaseHold, RemoveTelemetry, RemoveWorkspace, RevokeKey,
    StartActionBatch, StopActionBatch, TakeLease, Telemetry, TouchKeys,
};
use fields::{LogField, fields};

/// How a mutation is written into the log. The defaults are those of mutations that are local to a node.
pub(crate) trait Logged: Sized {
    /// Its tag in the log; `None`: it is never logged.
    fn tag(&self) -> Option<Tag> {
        None
    }

    /// Appends its bytes.
    fn encode(&self, _to: &mut Encoder) {}

    /// Reads what [`Self::encode`] appended, of a mutation with that tag.
    fn decode(_tag: Tag, _from: &mut Decoder<'_>) -> Result<Self> {
        Err(damaged())
    }
}

impl Logged for Slice {}

/// Declares the mutations of the log: the tag of each, and its fields in order. `fields.rs` has the fields of a mutation that
/// lists none here.
macro_rules! log {
    (
        $($number:literal $name:ident $({ $($field:tt),+ })?,)+
        enum $many:ident {
            $($variant_number:literal $variant:ident($($value:ident),+),)+
            local $local:pat,
        }
    ) => {
        /// The tags of mutations in the log. The numbers never change, and none is used again.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Tag {
            $($name = $number,)+
            $($variant = $variant_number,)+
        }

        impl Tag {
            /// The tag of that number, if this version knows it.
            fn numbered(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    $($variant_number => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The mutation with this tag and these bytes.
            fn decode(self, bytes: &[u8]) -> Result<Box<dyn AnyMutation>> {
                Ok(match self {
                    $(Self::$name => Box::new(decode::<$name>(self, bytes)?),)+
                    $(Self::$variant)|+ => Box::new(decode::<$many>(self, bytes)?),
                })
            }

            /// A mutation with this tag, for tests.
            #[cfg(test)]
            fn sampled(self, random: &mut proptest::test_runner::TestRunner) -> tests::samples::Sample {
                use tests::samples::{Sample, Sampled};
                match self {
                    $(Self::$name => Sample::new($name::sampled(random)),)+
                    $(Self::$variant => {
                        $(let $value = Sampled::sampled(random);)+
                        Sample::new($many::$variant($($value),+))
                    })+
                }
            }
        }

        $($(fields!($name { $($field),+ });)?

        impl Logged for $name {
            fn tag(&self) -> Option<Tag> {
                Some(Tag::$name)
            }

            fn encode(&self, to: &mut Encoder) {
                self.write(to);
            }

            fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
                Self::read(from)
            }
        })+

        impl Logged for $many {
            fn tag(&self) -> Option<Tag> {
                match self {
                    $(Self::$variant(..) => Some(Tag::$variant),)+
                    $local => None,
                }
            }

            fn encode(&self, to: &mut Encoder) {
                match self {
                    $(Self::$variant($($value),+) => {
                        $($value.write(to);)+
                    })+
                    $local => {}
                }
            }

            fn decode(tag: Tag, from: &mut Decoder<'_>) -> Result<Self> {
                Ok(match tag {
                    $(Tag::$variant => {
                        $(let $value = LogField::read(from)?;)+
                        Self::$variant($($value),+)
                    })+
                    $(Tag::$name)|+ => return Err(damaged()),
                })
            }
        }
    };
}

log! {
    1 Configure { settings, founds },
    2 Act { request, by },
    3 CompleteAction { 0 },
    4 FailAction { id, state, detail },
    5 AuditRefusal { action, detail, workspace_id, requester, by },
    6 PlaceHold { id, matter, reason, by },
    7 ReleaseHold { id, by },
    8 ImportWorkspaces { records, counts, row, ends, by },
    9 IssueKey { hash, key, by },
    10 RevokeKey { id, force, by },
    11 TouchKeys { 0 },
    12 PutWorkspace { workspace, cancels_action, by },
    13 PutWorkspaces { 0 },
    14 RemoveWorkspace { id, by },
    15 Telemetry { 0 },
    22 DispatchAction { id, attempt },
    23 NoteAction { id, attempt, note },
    24 RemoveTelemetry,
    25 AuditAccess { action, detail, refused, by },
    26 StartActionBatch { request, by },
    27 StopActionBatch { id, by },
    29 TakeLease { provider, instance, seconds },
    enum Maintenance {
        16 Settle(ids),
        17 Sweep(time),
        18 DropTerminated(time, ids),
        19 DropAudit(time, after),
        20 DropEvents(below),
        21 DropDerived(of, time, span),
        28 AdvanceActionBatch(id),
        local Self::Keep(..) | Self::RemoveFiled | Self::Seal(_) | Self::NoteCopy | Self::NoteConditions(_),
    }
}

/// The mutation of that type with these bytes, and no more.
pub(crate) fn decode<M: Mutation>(tag: Tag, bytes: &[u8]) -> Result<M> {
    let mut decoder = Decoder::new(bytes);
    let mutation = M::decode(tag, &mut decoder)?;
    decoder.finish()?;
    Ok(mutation)
}

/// A mutation of any type, from the log.
pub(crate) trait AnyMutation: fmt::Debug + Send {
    /// Applies it as [`Mutation::apply`] does, and drops its result: no caller here waits for it.
    fn apply_any(self: Box<Self>, context: &mut Context<'_, '_>) -> Result<Outcome>;

    /// As [`Mutation::class`].
    fn class_any(&self) -> WriteClass;

    /// Appends its bytes again.
    fn encode_any(&self, to: &mut Encoder);
}

impl<M: Mutation> AnyMutation for M {
    fn apply_any(self: Box<Self>, context: &mut Context<'_, '_>) -> Result<Outcome> {
        Ok((*self).apply(context)?.map(drop))
    }

    fn class_any(&self) -> WriteClass {
        self.class()
    }

    fn encode_any(&self, to: &mut Encoder) {
        self.encode(to);
    }
}

#[cfg(test)]
mod tests;
