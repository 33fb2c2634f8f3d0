//! A connection to the primary, and what is checked before it is used.

use std::error::Error as _;
use std::future::poll_fn;
use std::task::{Poll, ready};
use std::time::Duration;

use deskfleet::cluster::{LogError, LogErrorKind};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Connection, Error, Row, SimpleQueryMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Address, Server};
use crate::newest::{NewestServer, ServerMark};

/// For one server, from the first packet to the last check.
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// How long the other servers are waited for once one is found to be a primary: there may be a newer one.
const OTHERS_MAX: Duration = Duration::from_millis(100);
const VERSION_MIN: i32 = 120_000;

/// Sets up a session; returns what is checked. The server gives up a connection whose client is gone, which may hold the lock, and a
/// statement before the client does: then it is known that it did nothing. A commit that waits for its standbys ends by neither. A
/// warning says that such a commit did not wait, so no setting of the role may hide those.
const SET_UP: &str = "
SET client_min_messages = 'warning';
SET statement_timeout = '4s';
SET tcp_keepalives_idle = 3;
SET tcp_keepalives_interval = 1;
SET tcp_keepalives_count = 3;
SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') <> 'remote_apply';
SELECT current_setting('server_version_num'),
    current_setting('transaction_read_only'),
    current_setting('fsync'),
    current_setting('full_page_writes'),
    current_setting('synchronous_standby_names'),
    EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('df_head') AND attname = 'timeline'),
    CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END";

/// Apart from the rest, as an operator may have taken the right to call it away.
const SYSTEM: &str = "SELECT system_identifier FROM pg_control_system()";

/// Bodies are not compressed: the server would try it with each, and they are stored out of line anyway. `chained` is the position that the
/// chain of the head is of: a node of a version without chains moves the head alone. `timeline` is that of the server that appends.
const CREATE: &str = "
SELECT pg_advisory_xact_lock(7236270301);
CREATE TABLE IF NOT EXISTS df_head (stream text PRIMARY KEY, seq bigint NOT NULL, chain bytea, chained bigint, timeline bigint) WITH (fillfactor = 10);
CREATE TABLE IF NOT EXISTS df_log (
    stream text NOT NULL, seq bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    id bytea NOT NULL, body bytea NOT NULL, chain bytea,
    PRIMARY KEY (stream, seq), UNIQUE (stream, id));
ALTER TABLE df_head ADD COLUMN IF NOT EXISTS chain bytea;
ALTER TABLE df_head ADD COLUMN IF NOT EXISTS chained bigint;
ALTER TABLE df_head ADD COLUMN IF NOT EXISTS timeline bigint;
ALTER TABLE df_log ALTER body SET STORAGE EXTERNAL;
ALTER TABLE df_log ADD COLUMN IF NOT EXISTS chain bytea;
UPDATE df_head SET chained = seq WHERE chained IS NULL
    AND chain = (SELECT chain FROM df_log last WHERE last.stream = df_head.stream AND last.seq = df_head.seq);
CREATE TABLE IF NOT EXISTS df_node (
    stream text NOT NULL, node text NOT NULL, at timestamptz NOT NULL, report text NOT NULL,
    PRIMARY KEY (stream, node))";

/// Makes the head of the stream, or locks it and writes: such a commit waits for the standbys, so all that is visible from here on is
/// on one of them, also what a primary that crashed had not yet acknowledged.
const FENCE: &str = "INSERT INTO df_head (stream, seq, timeline) VALUES ($1, 0, $2)
    ON CONFLICT (stream) DO UPDATE SET timeline = coalesce(df_head.timeline, $2)";

/// A connection to the primary.
pub(super) struct Session {
    client: Client,
    /// Prepared.
    statement: Statement,
    /// For messages.
    server: String,
    /// One more with each failover.
    pub(super) timeline: u32,
    /// `None` where the server does not say which it is.
    pub(super) mark: Option<ServerMark>,
    /// The setting of the synchronous standbys, as it was at first.
    pub(super) standbys: String,
    driver: AbortHandle,
}

/// A connection to a server that is a primary.
struct Primary {
    client: Client,
    driver: AbortHandle,
    server: Server,
    timeline: u32,
    mark: Option<ServerMark>,
    has_tables: bool,
    /// The setting of the synchronous ones.
    standbys: String,
}

impl Session {
    /// Connects to all servers at once, and takes the primary: after a failover that of the last, should an earlier one be back.
    ///
    /// # Errors
    /// The refusal of each server, where none is a primary of `timeline` or later.
    pub(super) async fn open(
        address: &Address,
        timeline: u32,
        newest: &NewestServer,
        statement: &str,
    ) -> Result<Self, LogError> {
        let Primary {
            client,
            driver,
            server,
            timeline,
            mark,
            has_tables,
            standbys,
        } = Primary::find(address, timeline, newest).await?;
        let set_up = async {
            if !has_tables {
                client.batch_execute(CREATE).await?;
            }
            client
                .execute(FENCE, &[&address.fleet, &i64::from(timeline)])
                .await?;
            client.prepare(statement).await
        };
        let statement = set_up
            .await
            .map_err(|error| server.unavailable(&message(&error)))?;
        Ok(Self {
            client,
            statement,
            server: server.name,
            timeline,
            mark,
            standbys,
            driver,
        })
    }

    /// What the operator should know of a server with this setting of synchronous standbys.
    pub(super) fn warning_of(&self, address: &Address, standbys: &str) -> Option<String> {
        (standbys.is_empty() && !address.unchecked_sync).then(|| {
            format!(
                "{}: synchronous_standby_names is empty: what is acknowledged is on one server only and lost with it; where its storage is \
                 replicated, say so with ?unchecked_sync=yes",
                self.server
            )
        })
    }

    /// Whether the connection is lost.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs a statement, the prepared one where there is none. Where it takes too long the connection ends, and with it what is pending
    /// for it.
    pub(super) async fn query(
        &self,
        sql: Option<&str>,
        parameters: &[&(dyn ToSql + Sync)],
        end: Instant,
    ) -> Result<Vec<Row>, LogError> {
        let rows = async {
            match sql {
                Some(sql) => self.client.query(sql, parameters).await,
                None => self.client.query(&self.statement, parameters).await,
            }
        };
        if let Ok(rows) = timeout_at(end, rows).await {
            return rows.map_err(|error| {
                LogError::new(
                    kind(&error),
                    format!("{}: {}", self.server, message(&error)),
                )
            });
        }
        self.driver.abort();
        let message = format!(
            "{}: no response in time: it cannot be reached, or none of its synchronous standbys is connected",
            self.server
        );
        Err(LogError::new(LogErrorKind::Unknown, message))
    }
}

impl Primary {
    async fn find(
        address: &Address,
        timeline: u32,
        newest: &NewestServer,
    ) -> Result<Self, LogError> {
        let mut attempts = JoinSet::new();
        for server in address.servers.clone() {
            let tls = address.tls.clone();
            attempts.spawn(async move {
                let attempt = timeout(CONNECT_MAX, Self::connect(&server, tls)).await;
                attempt.unwrap_or_else(|_| Err(server.unavailable("it does not respond")))
            });
        }
        let mut found: Option<Self> = None;
        let mut errors = Vec::new();
        let mut end = Instant::now() + 2 * CONNECT_MAX;
        while let Ok(Some(Ok(attempt))) = timeout_at(end, attempts.join_next()).await {
            match attempt {
                Ok(primary) if primary.timeline < timeline => {
                    errors.push(primary.server.unavailable("another server took its place"));
                }
                Ok(primary) if newest.is_later_than(primary.mark) => {
                    let file = newest.file();
                    let message = format!("another server took its place, as {file} says");
                    errors.push(primary.server.unavailable(&message));
                }
                Ok(primary) => {
                    end = end.min(Instant::now() + OTHERS_MAX);
                    let is_later = |other: &Self| other.timeline < primary.timeline;
                    if found.as_ref().is_none_or(is_later) {
                        found = Some(primary);
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        found.ok_or_else(|| all_of(&errors))
    }

    async fn connect(server: &Server, tls: MakeRustlsConnect) -> Result<Self, LogError> {
        let (client, connection) = server
            .config
            .connect(tls)
            .await
            .map_err(|error| server.unavailable(&refused(&error)))?;
        let driver = tokio::spawn(drive(connection)).abort_handle();
        let messages = client
            .simple_query(SET_UP)
            .await
            .map_err(|error| server.unavailable(&message(&error)))?;
        let mut row = None;
        for message in &messages {
            if let SimpleQueryMessage::Row(last) = message {
                row = Some(last);
            }
        }
        let value = |column| row.and_then(|row| row.get(column)).unwrap_or_default();
        if value(0).parse().unwrap_or(0) < VERSION_MIN {
            return Err(server.unfit("it must be PostgreSQL 12 or later"));
        }
        if value(6).is_empty() {
            return Err(server.unavailable("it is a standby in recovery, not the primary"));
        }
        if value(1) == "on" {
            return Err(server.unavailable("it is read-only (default_transaction_read_only)"));
        }
        for (column, setting) in [(2, "fsync"), (3, "full_page_writes")] {
            if value(column) != "on" {
                return Err(server.unfit(&format!(
                    "{setting} is {}: a loss of power would lose acknowledged entries; set it to on",
                    value(column)
                )));
            }
        }
        let timeline = u32::from_str_radix(value(6), 16).unwrap_or(0);
        let messages = client.simple_query(SYSTEM).await.unwrap_or_default();
        let system = messages.iter().find_map(|message| {
            if let SimpleQueryMessage::Row(row) = message {
                return row.get(0)?.parse().ok();
            }
            None
        });
        Ok(Self {
            timeline,
            mark: system.map(|system| (system, timeline)),
            has_tables: value(5) == "t",
            standbys: value(4).to_owned(),
            server: server.clone(),
            client,
            driver,
        })
    }
}

/// Reads and writes until the connection ends. It ends also where the wait for the standbys was cancelled: the server would then
/// acknowledge a commit that it alone has.
async fn drive<S, T>(mut connection: Connection<S, T>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    poll_fn(|context| {
        loop {
            match ready!(connection.poll_message(context)) {
                Some(Ok(AsyncMessage::Notice(notice)))
                    if notice.routine() == Some("SyncRepWaitForLSN") =>
                {
                    return Poll::Ready(());
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Poll::Ready(()),
            }
        }
    })
    .await;
}

/// Whether the server reports that it rolled the statement back. That a row is there already means that another connection appends the
/// same entry: a statement sees the tables as they were before it waited.
fn kind(error: &Error) -> LogErrorKind {
    let did_nothing = error.as_db_error().is_some_and(|error| {
        let code = error.code().code();
        let is_unclear = code.starts_with("08") || code.starts_with("57P") || code == "40003";
        let is_known = error.code() == &SqlState::UNIQUE_VIOLATION;
        error.parsed_severity() == Some(Severity::Error) && !is_unclear && !is_known
    });
    if did_nothing {
        LogErrorKind::Unavailable
    } else {
        LogErrorKind::Unknown
    }
}

/// What a server says to a client that it does not know yet names the user: not here.
fn refused(error: &Error) -> String {
    let Some(code) = error.code().map(SqlState::code) else {
        return message(error);
    };
    let reason = match code {
        "3D000" => "there is no such database",
        "57P03" => "it is starting up or shutting down",
        "53300" => "it has too many connections",
        code if code.starts_with("28") => {
            "it does not accept the user or the password, or asks for a certificate (--log-cert)"
        }
        _ => "it refuses the connection",
    };
    format!("{reason} (SQLSTATE {code})")
}

fn message(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => format!("{} (SQLSTATE {})", error.message(), error.code().code()),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}

fn all_of(errors: &[LogError]) -> LogError {
    let is_unsafe = errors
        .iter()
        .any(|error| error.kind == LogErrorKind::Unsafe);
    let kind = if is_unsafe {
        LogErrorKind::Unsafe
    } else {
        LogErrorKind::Unavailable
    };
    let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    LogError::new(kind, messages.join("; "))
}
