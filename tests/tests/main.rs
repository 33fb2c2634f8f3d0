//! All suites of the engine in one program, which is compiled and linked once; those that count panics are programs of their own.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod accepted;
mod action_batches;
mod archiving;
mod audit_growth;
mod audit_pages;
mod backup;
mod body_limits;
mod callbacks;
mod check;
mod clock_ahead;
mod cluster;
mod cluster_simulation;
mod conditions;
mod conformance;
mod crash;
mod damaged_rows;
mod damaged_segments;
mod dating;
mod desktops;
mod determinism;
mod dispatch;
mod entries;
mod event_log;
mod events;
mod export_formats;
mod exports;
mod failing_close;
mod failing_disk;
mod faults;
mod filing;
mod fleet_health;
mod fleet_settings;
mod floods;
mod foreign_writes;
mod format;
mod full_disk;
mod full_disk_export;
mod holds;
mod imports;
mod keeping;
mod key_rules;
mod log_entries;
mod lost_entries;
mod metrics;
mod model;
mod monitoring;
mod names;
mod nodes;
mod observers;
mod open;
mod openapi;
mod preview;
mod questions;
mod queue_damage;
mod queued_questions;
mod refused;
mod removal;
mod reporting;
mod rolling_upgrade;
mod rollups;
mod routes_page;
mod sealing;
mod secrets;
mod segments;
mod series;
mod simulation;
mod small_disk;
mod streamed;
mod tidy;
mod transports;
mod upkeep;
mod volatile;
mod writer;
