//! A log in tables of PostgreSQL.
//!
//! Entries are ordered by a lock on the head of their stream, which is held until the commit: so positions have no gap, and become
//! visible in their order. Everything is read from the primary: a standby may lag what was read before.

mod address;
mod newest;
mod session;
mod statements;
mod tls;

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use bytes::Bytes;
use deskfleet::locks::lock;
use deskfleet::{
    Timestamp,
    cluster::{Appended, Chain, EntryId, LogBounds, LogEntry, LogError, LogErrorKind, NodeReport},
};
use deskfleet_log_runtime::{LogClient, ServedLog};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql};

use address::Address;
pub use address::PostgresOptions;
use newest::NewestServer;
use session::Session;
use statements::{APPEND, BOUNDS, FORGET, READ, REPORT, REPORTS, RESTORE, RESUME, STANDBYS, TRIM};

/// After this time a statement has failed: the primary, or the way to it, is gone, or it waits for its standbys.
const STATEMENT_MAX: Duration = Duration::from_secs(5);
/// How often a waiting read looks again. Not NOTIFY: it takes a lock of the whole server at each commit.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The longest body of an entry: the servers, standbys too, must write it within the longest time of a statement.
pub const BODY_BYTES_MAX: usize = 64 << 20;
/// The most bytes of bodies that one read returns: they must arrive within [`STATEMENT_MAX`].
const READ_BYTES_MAX: usize = 4 << 20;
/// How many entries one statement removes.
const TRIM_ENTRIES: i64 = 256;
/// Between two looks at the settings of the server.
const WATCH_INTERVAL: Duration = Duration::from_secs(10);
/// Before an entry is appended again that may have been.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The same after a refusal.
const REFUSED_INTERVAL: Duration = Duration::from_millis(200);

/// A log in a database of PostgreSQL 12 or later, shared by all that open the same URL with the same name of a fleet.
pub type PostgresLog = ServedLog<PostgresClient>;

/// Connects, makes the tables where they are missing, and checks the settings that an acknowledged entry depends on.
///
/// `url` is one of libpq, `postgres://USER@HOST:PORT,HOST:PORT/DATABASE?sslmode=verify-full&fleet=NAME`. With several hosts the
/// primary among them is taken, again after each failover. With `unchecked_sync=yes` nothing warns of a server without standbys.
///
/// # Errors
/// [`LogErrorKind::Unsafe`] where the URL cannot be used or the server would lose acknowledged entries,
/// [`LogErrorKind::Unavailable`] where there is no primary to connect to. No message has the user or the password.
pub fn open(url: &str, options: &PostgresOptions) -> Result<PostgresLog, LogError> {
    let client = Arc::new(PostgresClient {
        address: Address::new(url, options)?,
        appends: Lane::new(APPEND),
        others: Lane::new(READ),
        timeline: AtomicU32::new(0),
        newest: Arc::new(NewestServer::read(options.newest_server.clone())?),
        warning: StdMutex::default(),
    });
    ServedLog::open(async move {
        client.session(&client.appends, deadline()).await?;
        tokio::spawn(watch(Arc::clone(&client)));
        Ok(client)
    })
}

/// Two connections to the primary, one of which is for appends only. One that is lost is replaced at the next use. The server must not
/// be reached through a pool that changes connections between statements.
pub struct PostgresClient {
    address: Address,
    appends: Lane,
    /// Another connection: an append never waits for a body that is read.
    others: Lane,
    /// That of the last primary.
    timeline: AtomicU32,
    newest: Arc<NewestServer>,
    /// Of the primary as it is set up.
    warning: StdMutex<Option<String>>,
}

impl fmt::Debug for PostgresClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresClient")
            .field("fleet", &self.address.fleet)
            .finish_non_exhaustive()
    }
}

impl LogClient for PostgresClient {
    fn fleet(&self) -> &str {
        &self.address.fleet
    }

    /// An entry that may have been appended is appended again for as long as there is time: over a failover it comes to one answer.
    async fn append(&self, id: EntryId, body: Bytes) -> Result<Appended, LogError> {
        let end = deadline();
        let mut unknown = None;
        loop {
            let error = match self.append_once(id, &body, end).await {
                Err(error) if unknown.is_some() || error.kind == LogErrorKind::Unknown => error,
                appended => return appended,
            };
            // After a takeover nodes restore entries meanwhile, one at a time.
            let pause = if error.kind == LogErrorKind::Unavailable {
                REFUSED_INTERVAL
            } else {
                RETRY_INTERVAL
            };
            let first = unknown.get_or_insert(error);
            if Instant::now() + pause >= end {
                return Err(first.clone());
            }
            sleep(pause).await;
        }
    }

    fn body_max(&self) -> usize {
        BODY_BYTES_MAX
    }

    async fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        let end = Instant::now() + patience;
        loop {
            let entries = self.read_once(from, bytes_max).await?;
            let now = Instant::now();
            if !entries.is_empty() || now >= end {
                return Ok(entries);
            }
            sleep(POLL_INTERVAL.min(end - now)).await;
        }
    }

    /// The number of a takeover is the timeline of the server.
    async fn bounds(&self, _seen: u64) -> Result<LogBounds, LogError> {
        let session = self.session(&self.others, deadline()).await?;
        let timeline = i64::from(session.timeline);
        let rows = self.query_on(&session, Some(BOUNDS), &[&timeline]).await?;
        let row = rows.first().ok_or_else(no_head)?;
        let last = position(get(row, 0)?);
        Ok(LogBounds {
            first: get::<Option<i64>>(row, 1)?.map_or(last + 1, position),
            last,
            takeover: get::<Option<bool>>(row, 2)?
                .unwrap_or(false)
                .then_some(session.timeline.into()),
        })
    }

    async fn trim(&self, below: u64) -> Result<(), LogError> {
        // Those that are appended meanwhile stay.
        let below = number(below.min(self.bounds(0).await?.last + 1));
        let parameters: [&(dyn ToSql + Sync); 2] = [&below, &TRIM_ENTRIES];
        while !self.query(Some(TRIM), &parameters).await?.is_empty() {}
        Ok(())
    }

    async fn report(&self, node: String, report: String) -> Result<(), LogError> {
        self.query(Some(REPORT), &[&node, &report]).await.map(drop)
    }

    async fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        let rows = self.query(Some(REPORTS), &[]).await?;
        let report = |row: &Row| {
            Ok(NodeReport {
                node: get(row, 0)?,
                at: time(get(row, 1)?),
                report: get(row, 2)?,
            })
        };
        rows.iter().map(report).collect()
    }

    async fn forget(&self, node: String) -> Result<(), LogError> {
        self.query(Some(FORGET), &[&node]).await.map(drop)
    }

    async fn restore(&self, before: Chain, entry: LogEntry) -> Result<bool, LogError> {
        let microseconds = entry.at.ticks() / 10;
        let parameters: [&(dyn ToSql + Sync); 6] = [
            &number(entry.position),
            &microseconds,
            &entry.id.0.as_slice(),
            &entry.body,
            &entry.chain.as_ref().map(<[u8; 16]>::as_slice),
            &before.as_slice(),
        ];
        let restored = self.query(Some(RESTORE), &parameters).await?;
        Ok(!restored.is_empty())
    }

    async fn resume(&self, takeover: u64) -> Result<(), LogError> {
        let session = self.session(&self.others, deadline()).await?;
        if u64::from(session.timeline) == takeover {
            let timeline = i64::from(session.timeline);
            self.query_on(&session, Some(RESUME), &[&timeline]).await?;
        }
        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        lock(&self.warning).clone().into_iter().collect()
    }
}

/// A connection, made when it is used, and the statement that is prepared on it.
struct Lane {
    statement: &'static str,
    session: Mutex<Option<Arc<Session>>>,
}

impl Lane {
    fn new(statement: &'static str) -> Self {
        Self {
            statement,
            session: Mutex::default(),
        }
    }
}

impl PostgresClient {
    async fn append_once(
        &self,
        id: EntryId,
        body: &[u8],
        end: Instant,
    ) -> Result<Appended, LogError> {
        let session = self.session(&self.appends, end).await?;
        let (stream, timeline) = (&self.address.fleet, i64::from(session.timeline));
        let parameters: [&(dyn ToSql + Sync); 4] = [stream, &id.0.as_slice(), &body, &timeline];
        let rows = session.query(None, &parameters, end).await?;
        let row = rows.first().ok_or_else(no_head)?;
        let Some(seq) = get(row, 0)? else {
            let message = "another server took over, and nothing is appended until the nodes have restored what it lacks";
            return Err(LogError::new(LogErrorKind::Unavailable, message));
        };
        Ok(Appended {
            position: position(seq),
            at: get::<Option<i64>>(row, 1)?.map(time),
            chain: chain(row, 2)?,
        })
    }

    async fn read_once(&self, from: u64, bytes_max: usize) -> Result<Vec<LogEntry>, LogError> {
        let bytes_max = i64::try_from(bytes_max.min(READ_BYTES_MAX)).unwrap_or(i64::MAX);
        let rows = self.query(None, &[&number(from), &bytes_max]).await?;
        let head = position(get(rows.first().ok_or_else(no_head)?, 0)?);
        let mut entries = Vec::with_capacity(rows.len());
        for row in &rows {
            let Some(seq) = get::<Option<i64>>(row, 1)? else {
                break;
            };
            let id: &[u8] = get(row, 3)?;
            entries.push(LogEntry {
                position: position(seq),
                at: time(get(row, 2)?),
                id: EntryId(id.try_into().map_err(|_| foreign())?),
                body: get(row, 4)?,
                chain: chain(row, 5)?,
            });
        }
        let first = entries.first().map(|entry| entry.position);
        if from <= head && first.is_none_or(|first| first > from) {
            let message = format!(
                "the entries before {} were removed",
                first.unwrap_or(head + 1)
            );
            return Err(LogError::new(LogErrorKind::Trimmed, message));
        }
        Ok(entries)
    }

    /// Runs a statement that can be run again, the prepared one where there is none; its first parameter is the stream.
    async fn query(
        &self,
        sql: Option<&str>,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, LogError> {
        let session = self.session(&self.others, deadline()).await?;
        self.query_on(&session, sql, parameters).await
    }

    async fn query_on(
        &self,
        session: &Session,
        sql: Option<&str>,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, LogError> {
        let stream: &(dyn ToSql + Sync) = &self.address.fleet;
        let parameters = [&[stream], parameters].concat();
        let rows = session.query(sql, &parameters, deadline()).await;
        rows.map_err(|error| LogError {
            kind: LogErrorKind::Unavailable,
            ..error
        })
    }

    /// The connection of `lane`, or a new one where it is lost.
    async fn session(&self, lane: &Lane, end: Instant) -> Result<Arc<Session>, LogError> {
        let opened = timeout_at(end, async {
            let mut session = lane.session.lock().await;
            let timeline = self.timeline.load(Ordering::Relaxed);
            let is_usable =
                |session: &&Arc<Session>| !session.is_closed() && session.timeline >= timeline;
            if let Some(session) = session.as_ref().filter(is_usable) {
                return Ok(Arc::clone(session));
            }
            let newest = &self.newest;
            let opened = Session::open(&self.address, timeline, newest, lane.statement).await?;
            let (newest, mark) = (Arc::clone(newest), opened.mark);
            let kept =
                spawn_blocking(move || newest.keep(mark).map_err(|error| (newest.file(), error)));
            self.timeline.fetch_max(opened.timeline, Ordering::Relaxed);
            let warning = opened.warning_of(&self.address, &opened.standbys);
            // It is known as long as this node runs.
            let unkept = kept.await.ok().and_then(Result::err).map(|(file, error)| {
                format!("which server is the newest cannot be written to {file}: {error}; after a restart this node could take an older one for it")
            });
            *lock(&self.warning) = warning.or(unkept);
            Ok(Arc::clone(session.insert(Arc::new(opened))))
        });
        let late = || LogError::new(LogErrorKind::Unavailable, "no server of the log responds");
        opened.await.unwrap_or_else(|_| Err(late()))
    }
}

/// Looks now and then whether the server is still set up as it was when it was connected to.
async fn watch(client: Arc<PostgresClient>) {
    loop {
        sleep(WATCH_INTERVAL).await;
        // Where it cannot be asked, the next connection shows it.
        let Ok(rows) = client.query(Some(STANDBYS), &[]).await else {
            continue;
        };
        let standbys = rows.first().and_then(|row| get::<String>(row, 0).ok());
        let session = client.others.session.lock().await.clone();
        if let (Some(standbys), Some(session)) = (standbys, session) {
            *lock(&client.warning) = session.warning_of(&client.address, &standbys);
        }
    }
}

fn deadline() -> Instant {
    Instant::now() + STATEMENT_MAX
}

fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, LogError> {
    row.try_get(column).map_err(|_| foreign())
}

/// Entries that an earlier version appended have none, and those after them.
fn chain(row: &Row, column: usize) -> Result<Option<Chain>, LogError> {
    let chain: Option<&[u8]> = get(row, column)?;
    let array = chain.map(|chain| chain.try_into().map_err(|_| foreign()));
    array.transpose()
}

fn position(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or(0)
}

/// With room for what statements add.
fn number(position: u64) -> i64 {
    i64::try_from(position).map_or(i64::MAX / 2, |seq| seq.min(i64::MAX / 2))
}

fn time(microseconds: i64) -> Timestamp {
    Timestamp::from_ticks(microseconds.saturating_mul(10))
}

fn no_head() -> LogError {
    let message = "the row of the fleet in the table df_head is gone";
    LogError::new(LogErrorKind::Unsafe, message)
}

fn foreign() -> LogError {
    let message = "the tables df_head, df_log and df_node are not those of deskfleet";
    LogError::new(LogErrorKind::Unsafe, message)
}
