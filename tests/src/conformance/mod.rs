//! The conformance suite: the documents, row by row, as cases that run over any [`Transport`](crate::transport::Transport).

mod action_batches;
mod audit;
mod audit_list;
mod bodies;
pub mod case;
mod codings;
mod compute_types;
mod day;
mod dispatch;
pub mod documents;
mod endings;
mod fields;
pub mod fixtures;
mod holds;
mod imports;
mod key_limits;
mod key_list;
mod keys;
mod lifecycle;
mod matching;
mod methods;
mod negotiation;
mod operator;
mod paging;
mod problems;
mod query_advice;
mod query_columns;
mod query_events;
mod query_export;
mod query_fleet;
mod query_heatmap;
mod query_holds;
mod query_parameters;
mod query_preview;
mod query_processes;
mod query_series;
mod query_timeline;
mod query_top;
mod query_workspaces;
mod queue;
mod requests;
mod retention;
mod rules;
pub mod runner;
mod stops;
mod telemetry;
pub mod transcript;
mod users;

use case::Case;

/// An area: its name, and the function that makes its cases.
pub type Area = (&'static str, fn() -> Vec<Case>);

/// The areas, each with its cases.
pub const AREAS: &[Area] = &[
    ("action_batches", action_batches::cases),
    ("audit", audit::cases),
    ("audit_list", audit_list::cases),
    ("bodies", bodies::cases),
    ("codings", codings::cases),
    ("compute_types", compute_types::cases),
    ("day", day::cases),
    ("dispatch", dispatch::cases),
    ("endings", endings::cases),
    ("fields", fields::cases),
    ("holds", holds::cases),
    ("imports", imports::cases),
    ("key_limits", key_limits::cases),
    ("key_list", key_list::cases),
    ("keys", keys::cases),
    ("lifecycle", lifecycle::cases),
    ("methods", methods::cases),
    ("negotiation", negotiation::cases),
    ("operator", operator::cases),
    ("paging", paging::cases),
    ("problems", problems::cases),
    ("query_advice", query_advice::cases),
    ("query_columns", query_columns::cases),
    ("query_events", query_events::cases),
    ("query_export", query_export::cases),
    ("query_fleet", query_fleet::cases),
    ("query_heatmap", query_heatmap::cases),
    ("query_holds", query_holds::cases),
    ("query_parameters", query_parameters::cases),
    ("query_preview", query_preview::cases),
    ("query_processes", query_processes::cases),
    ("query_series", query_series::cases),
    ("query_timeline", query_timeline::cases),
    ("query_top", query_top::cases),
    ("query_workspaces", query_workspaces::cases),
    ("queue", queue::cases),
    ("requests", requests::cases),
    ("retention", retention::cases),
    ("rules", rules::cases),
    ("stops", stops::cases),
    ("telemetry", telemetry::cases),
    ("users", users::cases),
];

/// The cases of one area.
pub fn area(name: &str) -> Vec<Case> {
    let found = AREAS.iter().find(|(area, _)| *area == name);
    let (_, cases) = found.expect("an area of the suite");
    cases()
}

/// Every case.
pub fn cases() -> Vec<Case> {
    AREAS.iter().flat_map(|(_, cases)| cases()).collect()
}
