//! A mutation as the writer of the store takes it.

use crate::error::Result;
use crate::mutation::{Context, Mutation, Outcome};

/// A mutation with a place for what it returns.
pub(super) struct Write {
    pub(super) apply: Apply,
    /// Whether it gives space or takes rights back, and so goes on when little space is left.
    pub(super) relieves: bool,
}

/// The outer error is the store's and fails the whole transaction, the inner one is a refusal.
type Apply = Box<dyn FnOnce(&mut Context<'_, '_>) -> Result<Outcome> + Send>;

impl Write {
    /// A write that nobody waits for by itself.
    pub(super) fn of(mutation: impl Mutation<Output = ()>) -> Self {
        Self::keeping(mutation, |()| ())
    }

    /// A write whose output goes to `keep`.
    pub(super) fn keeping<M: Mutation>(
        mutation: M,
        keep: impl FnOnce(M::Output) + Send + 'static,
    ) -> Self {
        Self {
            relieves: M::RELIEVES,
            apply: Box::new(move |context| Ok(mutation.apply(context)?.map(keep))),
        }
    }
}
