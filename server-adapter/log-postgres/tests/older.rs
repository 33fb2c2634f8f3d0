//! The log in PostgreSQL as an earlier version left it.

use std::time::Duration;

use deskfleet::cluster::{EntryId, Log as _};
use deskfleet_log_postgres::PostgresLog;

use crate::contract::open;
use crate::servers::postgres::Postgres;

fn id(number: u8) -> EntryId {
    EntryId([number; 16])
}

/// The tables of the version before chains, and an entry as it was appended there.
const OLDER_TABLES: &str = "
CREATE TABLE df_head (stream text PRIMARY KEY, seq bigint NOT NULL);
CREATE TABLE df_log (
    stream text NOT NULL, seq bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    id bytea NOT NULL, body bytea NOT NULL, PRIMARY KEY (stream, seq), UNIQUE (stream, id))";

fn older_append(postgres: &Postgres, stream: &str, position: u64) {
    postgres.sql(&format!(
        "INSERT INTO df_head VALUES ('{stream}', 0) ON CONFLICT DO NOTHING;
        UPDATE df_head SET seq = {position} WHERE stream = '{stream}';
        INSERT INTO df_log (stream, seq, id, body)
        VALUES ('{stream}', {position}, decode(lpad('{position}', 32, 'f'), 'hex'), 'older')"
    ));
}

#[test]
fn before_an_entry_of_a_version_without_chains_comes_the_one_before() {
    let Some(postgres) = Postgres::start_alone() else {
        return;
    };
    let positions = |log: &PostgresLog, from| {
        let read = log.read(from, 1, Duration::ZERO).unwrap();
        read.iter()
            .map(|entry| (entry.position, entry.chain.is_some()))
            .collect::<Vec<_>>()
    };
    postgres.sql(OLDER_TABLES);
    older_append(&postgres, "began", 1);
    older_append(&postgres, "began", 2);
    let began = open(&format!("{}&fleet=began", postgres.url()));
    assert_eq!(began.append(id(1), b"newer").unwrap().chain, None);
    assert_eq!(positions(&began, 1), [(1, false)]);
    assert_eq!(positions(&began, 3), [(2, false), (3, false)]);
    assert_eq!(positions(&began, 4), []);

    // One that has chains, and does not say of which entry the last one is.
    let chained = open(&format!("{}&fleet=chained", postgres.url()));
    assert!(chained.append(id(1), b"newer").unwrap().chain.is_some());
    drop(chained);
    postgres.sql("ALTER TABLE df_head DROP COLUMN chained, DROP COLUMN timeline");
    let chained = open(&format!("{}&fleet=chained", postgres.url()));
    assert!(chained.append(id(2), b"newer").unwrap().chain.is_some());

    // Such a node may still run beside newer ones.
    let mixed = open(&format!("{}&fleet=mixed", postgres.url()));
    assert!(mixed.append(id(1), b"newer").unwrap().chain.is_some());
    assert!(mixed.append(id(2), b"newer").unwrap().chain.is_some());
    older_append(&postgres, "mixed", 3);
    assert_eq!(mixed.append(id(3), b"newer").unwrap().chain, None);
    assert_eq!(positions(&mixed, 2), [(2, true)]);
    assert_eq!(positions(&mixed, 3), [(2, true), (3, false)]);
    assert_eq!(positions(&mixed, 4), [(3, false), (4, false)]);
}
