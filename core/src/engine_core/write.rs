//! A mutation in the form that the writer of the store takes.

use crate::error::Result;
#[cfg(feature = "cluster")]
use crate::error::{EngineError, ErrorKind};
use crate::model::WriteClass;
#[cfg(feature = "cluster")]
use crate::mutation::logged::{Tag, decode};
use crate::mutation::{Context, Mutation, Outcome, Telemetry};
#[cfg(feature = "cluster")]
use crate::store::codec::Encoder;

use crate::store::telemetry::arrivals::Arrivals;

use super::EngineCore;

/// A mutation and where its result goes.
pub(super) struct Write {
    pub(super) apply: Apply,
    pub(super) class: WriteClass,
    /// As [`Mutation::bytes`].
    pub(super) bytes: usize,
    /// Its entry in the log of a cluster.
    #[cfg(feature = "cluster")]
    pub(super) logged: Option<(Tag, Vec<u8>)>,
}

/// The outer error is the store's and fails the whole transaction, the inner one is a refusal.
type Apply = Box<dyn FnOnce(&mut Context<'_, '_>) -> Result<Outcome> + Send>;

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
            #[cfg(feature = "cluster")]
            logged: None,
        }
    }

    /// The same for the log: this node applies what the other nodes will read.
    #[cfg(feature = "cluster")]
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
        // A mutation that no node could read is not appended.
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
#[cfg(feature = "cluster")]
pub(super) fn not_logged() -> EngineError {
    let message = "a mutation of this node alone was to go into the log";
    EngineError::new(ErrorKind::Internal, message)
}

impl EngineCore {
    /// Accepted records as one write, or as several if the log takes no entry that long.
    pub(super) fn writes_of_telemetry(&self, arrivals: Arrivals) -> Vec<Write> {
        #[cfg(feature = "cluster")]
        if self.cluster().is_some() {
            let parts = Telemetry::in_parts(arrivals);
            return parts.map(|part| Write::logged(&part, |()| ())).collect();
        }
        vec![self.write_of(Telemetry::new(arrivals), |()| ())]
    }

    /// A mutation whose output goes to `keep`, as it is written here.
    #[cfg_attr(
        not(feature = "cluster"),
        expect(clippy::unused_self, reason = "a node writes through its log")
    )]
    pub(super) fn write_of<M: Mutation>(
        &self,
        mutation: M,
        keep: impl FnOnce(M::Output) + Send + 'static,
    ) -> Write {
        #[cfg(feature = "cluster")]
        if self.cluster().is_some() {
            return Write::logged(&mutation, keep);
        }
        Write::keeping(mutation, keep)
    }
}
