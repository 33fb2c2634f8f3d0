//! Submitted writes without an outcome yet.

use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker, ready};

use crate::domain::bulk;
use crate::error::Result;
use crate::locks::lock;
use crate::model::Workspace;
use crate::mutation::{Mutation, Outcome, PutWorkspaces};

use super::write::{Claim, Submission};
use super::{EngineCore, lost};

/// A claim to the outcome of a write that returns a `T`.
#[derive(Debug)]
pub(crate) struct PendingWrite<T> {
    pub(crate) claim: Claim,
    pub(crate) output: Output<T>,
}

/// Where a write stores its result until it is durable.
#[derive(Debug)]
pub(crate) struct Output<T>(Arc<Mutex<Option<T>>>);

impl<T> Output<T> {
    /// The result before the write is durable.
    pub(crate) fn known(value: T) -> Self {
        Self(Arc::new(Mutex::new(Some(value))))
    }

    /// Where a write stores its result, and the same for its caller.
    pub(super) fn unknown() -> (Arc<Mutex<Option<T>>>, Self) {
        let output = Arc::new(Mutex::new(None));
        (Arc::clone(&output), Self(output))
    }

    /// The result of the write, once its outcome is there.
    pub(crate) fn take(self) -> Result<T> {
        lock(&self.0).take().ok_or_else(lost)
    }
}

impl EngineCore {
    /// Queues a mutation for the next commit and keeps its result for the caller.
    pub(crate) fn submit<M: Mutation>(&self, mutation: M) -> PendingWrite<M::Output> {
        let (kept, output) = Output::unknown();
        let write = self.write_of(mutation, move |returned| *lock(&kept) = Some(returned));
        PendingWrite {
            claim: self.commits.submit(Submission::Write(write)),
            output,
        }
    }

    /// Blocks until the write is durable or refused.
    pub(crate) fn wait_for<T>(&self, mut pending: PendingWrite<T>) -> Result<T> {
        self.wait(&mut pending.claim)?;
        pending.output.take()
    }

    /// Bytes of texts at which a part of a bulk upsert ends, as an entry of the log takes them; unbounded without a log.
    pub(crate) fn bulk_bytes_max(&self) -> Option<usize> {
        if self.cluster().is_some() {
            return Some(crate::limits::BULK_UPSERT_BYTES);
        }
        None
    }

    /// Submits any number of workspaces, each part of them as one mutation.
    pub(crate) fn submit_workspaces(&self, workspaces: Vec<Workspace>) -> Outcomes {
        let parts = in_parts(workspaces, self.bulk_bytes_max());
        Outcomes::all(parts.map(|part| self.submit(part).claim).collect())
    }

    /// Submits a mutation and blocks until it is durable or refused.
    pub(crate) fn run<M: Mutation>(&self, mutation: M) -> Result<M::Output> {
        if self.logs() && mutation.tag().is_none() {
            return self.run_apart(mutation);
        }
        self.wait_for(self.submit(mutation))
    }
}

/// The parts of a bulk upsert. Each has memory of its own: `Vec::split_off` would copy the rest once for each part, and leave each
/// with the memory of the whole.
fn in_parts(
    workspaces: Vec<Workspace>,
    bytes_max: Option<usize>,
) -> impl Iterator<Item = PutWorkspaces> {
    let mut rest = workspaces.into_iter();
    std::iter::from_fn(move || {
        let sizes = rest.as_slice().iter();
        let sizes = sizes.map(|each| bulk::text_bytes(&each.values()));
        let count = bulk::part_length(sizes, bytes_max);
        let part: Vec<_> = rest.by_ref().take(count).collect();
        (!part.is_empty()).then_some(PutWorkspaces(part))
    })
}

/// The outcomes of one response, in the order of submission.
#[derive(Debug)]
pub(crate) struct Outcomes {
    next: Option<Claim>,
    /// Most requests make one write, and an empty list has no cost.
    rest: std::vec::IntoIter<Claim>,
    /// Whether a part is durable already, for the error if another part fails.
    part: bool,
    result: Outcome,
}

impl Outcomes {
    pub(crate) fn one(claim: Claim) -> Self {
        Self {
            next: Some(claim),
            rest: Vec::new().into_iter(),
            part: false,
            result: Ok(()),
        }
    }

    pub(crate) fn all(claims: Vec<Claim>) -> Self {
        let mut rest = claims.into_iter();
        Self {
            next: rest.next(),
            rest,
            part: false,
            result: Ok(()),
        }
    }

    /// Whether outcomes are missing.
    pub(crate) fn is_pending(&self) -> bool {
        self.next.is_some()
    }

    /// Blocks until all outcomes are there; returns the first error.
    pub(crate) fn wait(mut self, core: &EngineCore) -> Outcome {
        while let Some(claim) = &mut self.next {
            let outcome = core.wait(claim);
            self.add_outcome(outcome);
        }
        self.result
    }

    /// As [`Self::wait`], for a future.
    pub(crate) fn poll(&mut self, core: &EngineCore, waker: &Waker) -> Poll<Outcome> {
        while let Some(claim) = &mut self.next {
            let outcome = ready!(core.poll(claim, waker));
            self.add_outcome(outcome);
        }
        Poll::Ready(std::mem::replace(&mut self.result, Ok(())))
    }

    fn add_outcome(&mut self, outcome: Outcome) {
        if self.result.is_ok() {
            let part = self.part;
            self.result = outcome.map_err(|error| if part { error.after_a_part() } else { error });
        }
        self.part = true;
        self.next = self.rest.next();
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::BULK_UPSERT_CHUNK;

    use super::*;

    #[test]
    fn parts_of_a_bulk_upsert_take_the_memory_of_their_own_workspaces() {
        let workspace = |number: usize| Workspace {
            id: number.to_string(),
            ..Workspace::default()
        };
        for count in [0, 1, BULK_UPSERT_CHUNK, 5 * BULK_UPSERT_CHUNK + 1] {
            let parts: Vec<_> = in_parts((0..count).map(workspace).collect(), None).collect();
            assert_eq!(parts.len(), count.div_ceil(BULK_UPSERT_CHUNK));
            let kept: usize = parts
                .iter()
                .map(|PutWorkspaces(part)| part.capacity())
                .sum();
            assert_eq!(kept, count);
            let all = parts.iter().flat_map(|PutWorkspaces(part)| part);
            assert!(all.eq(&(0..count).map(workspace).collect::<Vec<_>>()));
        }
    }
}
