//! The engine for a Rust program: the same rules as over HTTP, without URLs. Where a call needs a key over HTTP, the
//! audit names the caller `host` here.

mod accepted;
mod actions;
mod batch;
mod export;
mod import;
mod keys;
mod monitoring;
mod query;
mod running;
mod telemetry;
mod workspaces;

use crate::domain::validation;
use crate::error::{EngineError, Result};

pub use accepted::{Accepted, AcceptedPosition};
pub use batch::{BatchFuture, RefusedBatch, TelemetryBatch};
pub use import::WorkspaceImport;
pub use workspaces::{WorkspaceList, WorkspacePage, WorkspaceQuery};

impl From<validation::Violation> for EngineError {
    fn from(violation: validation::Violation) -> Self {
        Self::invalid(violation.field, violation.message)
    }
}

/// The items of all pages, from the one that `token` names: `page` reads one, and returns the token of the next.
fn all_pages<T>(
    token: Option<String>,
    mut page: impl FnMut(Option<String>) -> Result<(Vec<T>, Option<String>)>,
) -> impl Iterator<Item = Result<T>> {
    let mut next = Some(token);
    let mut items = Vec::new().into_iter();
    std::iter::from_fn(move || {
        loop {
            if let Some(item) = items.next() {
                return Some(Ok(item));
            }
            match page(next.take()?) {
                Ok((read, token)) => {
                    items = read.into_iter();
                    next = token.map(Some);
                }
                Err(error) => return Some(Err(error)),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn all_pages_yields_every_item_and_ends_after_an_error() {
        let page = |token: Option<String>| match token.as_deref() {
            None => Ok((vec![1, 2], Some("empty".to_owned()))),
            Some("empty") => Ok((vec![], Some("last".to_owned()))),
            Some("last") => Ok((vec![3], None)),
            Some(_) => Err(EngineError::new(ErrorKind::InvalidParameter, "bad token")),
        };
        let all: Result<Vec<_>> = all_pages(None, page).collect();
        assert_eq!(all.unwrap(), [1, 2, 3]);
        let mut bad = all_pages(Some("other".to_owned()), page);
        assert!(bad.next().is_some_and(|item| item.is_err()));
        assert!(bad.next().is_none());
    }
}
