//! The text and the example of every operation. An endpoint without one fails the generator.

mod actions;
mod information;
mod operator;
mod query;
mod service;
mod stats;

pub(super) use service::{Done, PAGES, Page, SERVICES, Service};

/// What an operation does, and one request of it that succeeds on the fleet of the examples.
#[derive(Debug)]
pub(super) struct Operation {
    /// The operation id.
    pub(super) id: &'static str,
    /// A few words, without a full stop.
    pub(super) summary: &'static str,
    /// What a caller must know, in Markdown. Scope, audit and refusals are added from the route table.
    pub(super) description: &'static str,
    /// What the success means.
    pub(super) done: &'static str,
    /// Path and query of the example; `{action}` is the number of the action that runs.
    pub(super) target: &'static str,
    /// Body of the example; empty where none is read.
    pub(super) body: &'static str,
}

/// An area of the interface.
#[derive(Debug)]
pub(super) struct Area {
    pub(super) tag: &'static str,
    /// The start of the paths of the area.
    pub(super) prefix: &'static str,
    pub(super) description: &'static str,
    pub(super) operations: &'static [Operation],
}

pub(super) const AREAS: [Area; 5] = [
    information::AREA,
    actions::AREA,
    stats::AREA,
    operator::AREA,
    query::AREA,
];

/// The area of a path, and the operation of that id.
pub(super) fn find(path: &str, id: &str) -> (&'static str, &'static Operation) {
    static ALL: [Area; 5] = AREAS;
    let area = ALL.iter().find(|area| path.starts_with(area.prefix));
    let area =
        area.unwrap_or_else(|| panic!("{path} is in no area of tests/src/openapi/operations/"));
    let found = area.operations.iter().find(|operation| operation.id == id);
    let found = found.unwrap_or_else(|| {
        panic!(
            "{id} has no text in tests/src/openapi/operations/{}.rs",
            area.tag
        )
    });
    (area.tag, found)
}
