//! A mutation in the form that the writer of the store takes.

use crate::error::Result;
use crate::error::{EngineError, ErrorKind};
use crate::model::WriteClass;
use crate::mutation::logged::{Tag, decode};
use crate::mutation::{Context, Mutation, Outcome, Telemetry};
use crate::store::codec::Encoder;
use crate::store::writer::Ticket;

use crate::store::telemetry::arrivals::Arrivals;

use super::EngineCore;

/// What is pending.
pub(super) enum Submission {
    Write(Write),
    Telemetry(Arriving),
}

/// Pending telemetry.
pub(super) enum Arriving {
    /// A batch, accepted as a whole.
    Batch(Box<Arrivals>),
    /// The records that have gathered until the commit.
    Gathered,
}

/// A claim to an outcome.
pub(crate) type Claim = Ticket<Outcome>;

/// A mutation and where its result goes.
pub(super) struct Write {
    pub(super) apply: Apply,
    pub(super) class: WriteClass,
    /// As [`Mutation::bytes`].
    pub(super) bytes: usize,
    /// Its part of an entry of the log.
    pub(super) logged: Option<(Tag, Vec<u8>)>,
}

/// The outer error is the store's and fails the whole transaction, the inner one is a refusal.
type Apply = Box<dyn FnOnce(&mut Context<'_, '_>) -> Result<Outcome> + Send>;

/// Applies the writes in order; a refused one has no effect.
pub(super) fn apply_all(
    writes: Vec<Result<Write>>,
    context: &mut Context<'_, '_>,
) -> Result<Vec<Outcome>> {
    let apply = |write: Result<Write>| match write {
        Ok(write) => (write.apply)(context),
        Err(refusal) => Ok(Err(refusal)),
    };
    writes.into_iter().map(apply).collect()
}

impl Write {
    /// A write whose output goes to `keep`.
    pub(super) fn keeping<M: Mutation>(
        mutation: M,
        keep: impl FnOnce(M::Output) + Send + 'static,
    ) -> Self {
        Self {
            class: mutation.class(),
            bytes: mutation.bytes(),
            apply: Box::new(move |context| Ok(mutation.apply(context)?.map(keep))),
            logged: None,
        }
    }

    /// The same for a log: what is applied here is what other nodes, or this one after a crash, will read.
    pub(super) fn logged<M: Mutation>(
        mutation: &M,
        keep: impl FnOnce(M::Output) + Send + 'static,
    ) -> Self {
        let logged = mutation.tag().map(|tag| {
            let mut bytes = Encoder::default();
            mutation.encode(&mut bytes);
            (tag, bytes.finish())
        });
        let decoded = logged.as_ref().map(|(tag, bytes)| decode::<M>(*tag, bytes));
        // A mutation that could not be read is not appended.
        let logged = logged.filter(|_| matches!(decoded, Some(Ok(_))));
        Self {
            class: mutation.class(),
            bytes: mutation.bytes(),
            apply: Box::new(move |context| {
                let mutation = decoded.ok_or_else(not_logged)??;
                Ok(mutation.apply(context)?.map(keep))
            }),
            logged,
        }
    }
}

/// The error of a mutation of one node alone that was to be shared.
pub(super) fn not_logged() -> EngineError {
    let message = "a mutation of this node alone was to go into the log";
    EngineError::new(ErrorKind::Internal, message)
}

impl EngineCore {
    /// Accepted records as one write, or as several if the log takes no entry that long.
    pub(super) fn writes_of_telemetry(&self, arrivals: Arrivals) -> Vec<Write> {
        if self.cluster().is_some() {
            let parts = Telemetry::in_parts(arrivals);
            return parts.map(|part| Write::logged(&part, |()| ())).collect();
        }
        vec![self.write_of(Telemetry::new(arrivals), |()| ())]
    }

    /// A mutation whose output goes to `keep`, as it is written here.
    pub(super) fn write_of<M: Mutation>(
        &self,
        mutation: M,
        keep: impl FnOnce(M::Output) + Send + 'static,
    ) -> Write {
        if self.logs() {
            return Write::logged(&mutation, keep);
        }
        Write::keeping(mutation, keep)
    }
}
