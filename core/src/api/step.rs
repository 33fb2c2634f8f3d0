//! What a handler decides: the answer, or what it waits for.

use bytes::Bytes;
use http::Response;

use crate::engine_core::EngineCore;
use crate::mutation::{Mutation, Outcome};
use crate::store::writer::Ticket;
use crate::wire::body::LineErrors;
use crate::wire::problem::Problem;

use super::chunks::Chunks;

/// What a handler decides.
#[derive(Debug)]
pub(crate) enum Step {
    /// The answer.
    Done(Response<Bytes>),
    /// The answer with the first chunk of its body, and the rest.
    Streamed(Response<Bytes>, Chunks),
    /// The answer waits for these.
    Wait(Tickets, Then),
}

impl Step {
    /// The answer waits until these are durable.
    pub(super) fn write(core: &EngineCore, mutations: Vec<Mutation>, then: Then) -> Self {
        let tickets = mutations.into_iter().map(|mutation| core.submit(mutation));
        Self::Wait(Tickets::all(tickets.collect()), then)
    }
}

/// Claims to outcomes, in the order of the mutations.
#[derive(Debug)]
pub(crate) struct Tickets {
    first: Option<Ticket<Outcome>>,
    /// Most requests make one mutation, and an empty list costs nothing.
    rest: std::vec::IntoIter<Ticket<Outcome>>,
}

impl Tickets {
    pub(crate) fn one(ticket: Ticket<Outcome>) -> Self {
        Self {
            first: Some(ticket),
            rest: Vec::new().into_iter(),
        }
    }

    fn all(tickets: Vec<Ticket<Outcome>>) -> Self {
        Self {
            first: None,
            rest: tickets.into_iter(),
        }
    }
}

impl Iterator for Tickets {
    type Item = Ticket<Outcome>;

    fn next(&mut self) -> Option<Self::Item> {
        self.first.take().or_else(|| self.rest.next())
    }
}

/// The answer once everything is durable. Where a mutation was refused, the first refusal is the answer instead.
#[derive(Debug)]
pub(crate) enum Then {
    Empty,
    Removed(String),
    Workspace,
    /// The secret of the key.
    IssuedKey(String),
    Lines {
        done: &'static str,
        count: u64,
        errors: LineErrors,
    },
    /// The call was refused before; what is durable now is its audit row.
    Refused(Box<Problem>),
}
