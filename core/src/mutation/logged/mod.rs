//! The bytes of mutations in the log that the nodes of a fleet share. `core/docs/log.md` describes them.

mod actions;
mod configure;
pub(crate) mod entry;
mod fields;
mod operator;
mod removal;
mod telemetry;
mod upkeep;
mod workspaces;

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
    Telemetry, TouchKeys,
};

/// How a mutation is written into the log. What the defaults are good for is never logged: each node does it for itself.
pub(crate) trait Logged: Sized {
    /// What the log calls it; `None`: it is never logged.
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

/// Declares the tags: the number of each, and the mutation that has it.
macro_rules! tags {
    ($($(#[doc = $doc:literal])+ $tag:ident = $number:literal: $mutation:ty,)+) => {
        /// What a mutation is called in the log. The numbers never change, and none is used again.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Tag {
            $($(#[doc = $doc])+ $tag = $number,)+
        }

        impl Tag {
            /// The tag of that number, if this version knows it.
            fn numbered(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$tag),)+
                    _ => None,
                }
            }

            /// The mutation with this tag and these bytes.
            fn decode(self, bytes: &[u8]) -> Result<Box<dyn AnyMutation>> {
                Ok(match self {
                    $(Self::$tag => Box::new(decode::<$mutation>(self, bytes)?),)+
                })
            }
        }
    };
}

tags! {
    /// Sets what the nodes share.
    Configure = 1: Configure,
    /// Starts a lifecycle action.
    Act = 2: Act,
    /// Ends an action as intended.
    CompleteAction = 3: CompleteAction,
    /// Ends an action as failed.
    FailAction = 4: FailAction,
    /// Writes the audit row of a refused call.
    AuditRefusal = 5: AuditRefusal,
    /// Places a litigation hold.
    PlaceHold = 6: PlaceHold,
    /// Releases a litigation hold.
    ReleaseHold = 7: ReleaseHold,
    /// Applies a part of an import.
    ImportWorkspaces = 8: ImportWorkspaces,
    /// Stores a new key.
    IssueKey = 9: IssueKey,
    /// Revokes a key.
    RevokeKey = 10: RevokeKey,
    /// Stores when keys were last used.
    TouchKeys = 11: TouchKeys,
    /// Creates or replaces a workspace.
    PutWorkspace = 12: PutWorkspace,
    /// Creates or replaces several workspaces.
    PutWorkspaces = 13: PutWorkspaces,
    /// Removes a workspace.
    RemoveWorkspace = 14: RemoveWorkspace,
    /// Appends telemetry to the queue.
    Telemetry = 15: Telemetry,
    /// Ends what is due.
    Settle = 16: Maintenance,
    /// Notes that a sweep begins.
    Sweep = 17: Maintenance,
    /// Removes workspaces that were terminated long ago.
    DropTerminated = 18: Maintenance,
    /// Removes old audit rows.
    DropAudit = 19: Maintenance,
    /// Removes old events.
    DropEvents = 20: Maintenance,
    /// Removes what is derived from telemetry and old.
    DropDerived = 21: Maintenance,
    /// Notes that a provider begins an attempt of an action.
    DispatchAction = 22: DispatchAction,
    /// Notes what a provider says of an action.
    NoteAction = 23: NoteAction,
    /// Takes a step of a removal of telemetry.
    RemoveTelemetry = 24: RemoveTelemetry,
    /// Writes the audit row of something that was handed out.
    AuditAccess = 25: AuditAccess,
}

/// The mutation of that type with these bytes, and no more.
pub(crate) fn decode<M: Mutation>(tag: Tag, bytes: &[u8]) -> Result<M> {
    let mut decoder = Decoder::new(bytes);
    let mutation = M::decode(tag, &mut decoder)?;
    decoder.end()?;
    Ok(mutation)
}

/// A mutation of whatever type, from the log.
pub(crate) trait AnyMutation: fmt::Debug + Send {
    /// Applies it as [`Mutation::apply`] does; what it returns is dropped, as no caller here waits for it.
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
