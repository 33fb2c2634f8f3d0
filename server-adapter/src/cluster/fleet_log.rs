//! The log that a URL names.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use deskfleet::cluster::{
    Appended, Chain, EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind, NodeReport,
};
use deskfleet::limits::LOG_BODY_BYTES_MIN;
use deskfleet_client::tls::Identity;

use crate::locks::{lock, try_lock};
use crate::metrics::Metrics;

/// The options beside the URL of a log.
#[derive(Debug, Clone, Default)]
pub struct LogOptions {
    /// A PEM file with the CA certificates for the servers of the log; by default those of the system.
    pub ca: Option<PathBuf>,
    /// The certificate that is shown to servers of the log that ask for one.
    pub identity: Option<Identity>,
    /// A file with the password or the credentials for the log.
    pub credentials: Option<PathBuf>,
    /// A file in which a log of PostgreSQL keeps the newest server that it used, to refuse an older one after a restart too.
    pub newest_server: Option<PathBuf>,
}

/// Receives what the operator should know about the servers of the log.
type Warned = Box<dyn Fn(&str) + Send + Sync>;

/// The log at a URL. It connects when it is first needed, and retries while that fails. Clones share the connection.
#[derive(Clone)]
pub struct FleetLog(Arc<Inner>);

struct Inner {
    url: String,
    options: LogOptions,
    metrics: Metrics,
    warned: Warned,
    connected: OnceLock<Box<dyn Log>>,
    /// Locked while connecting.
    connecting: Mutex<()>,
    /// The entry that was appended last, if it may be in the log.
    undecided: Mutex<Option<EntryId>>,
}

impl FleetLog {
    /// Connects to the log; if it cannot be reached now, the first use does. Appends are counted in `metrics`.
    ///
    /// # Errors
    /// [`LogErrorKind::Unsafe`] where the URL cannot be used, or the log would lose acknowledged entries.
    pub fn open(
        url: &str,
        options: LogOptions,
        metrics: Metrics,
        warned: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, LogError> {
        let log = Self(Arc::new(Inner {
            url: url.to_owned(),
            options,
            metrics,
            warned: Box::new(warned),
            connected: OnceLock::new(),
            connecting: Mutex::default(),
            undecided: Mutex::default(),
        }));
        match log.0.connected() {
            Err(error) if error.kind == LogErrorKind::Unsafe => Err(error),
            _ => Ok(log),
        }
    }
}

impl Inner {
    fn connected(&self) -> Result<&dyn Log, LogError> {
        if let Some(log) = self.connected.get() {
            return Ok(&**log);
        }
        // Connecting takes long if a server does not respond, so one thread at a time tries it.
        let Some(_connecting) = try_lock(&self.connecting) else {
            let message = "the log is being connected to";
            return Err(LogError::new(LogErrorKind::Unavailable, message));
        };
        let (log, warnings) = connect(&self.url, &self.options)?;
        for warning in warnings {
            (self.warned)(&warning);
        }
        Ok(&**self.connected.get_or_init(|| log))
    }
}

/// The log, and what the operator should know about it.
type Connected = (Box<dyn Log>, Vec<String>);

#[cfg_attr(
    not(any(feature = "postgres", feature = "nats")),
    expect(unused_variables, reason = "there is none to connect to")
)]
fn connect(url: &str, options: &LogOptions) -> Result<Connected, LogError> {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    match scheme {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => {
            let options = deskfleet_log_postgres::PostgresOptions {
                ca: options.ca.clone(),
                identity: options.identity.clone(),
                credentials: options.credentials.clone(),
                password: std::env::var("PGPASSWORD").ok(),
                newest_server: options.newest_server.clone(),
            };
            let log = deskfleet_log_postgres::open(url, &options)?;
            let warnings = log.warnings();
            Ok((Box::new(log), warnings))
        }
        #[cfg(feature = "nats")]
        Some("nats" | "tls") => {
            let options = deskfleet_log_nats::NatsOptions {
                ca: options.ca.clone(),
                identity: options.identity.clone(),
                credentials: options.credentials.clone(),
                ..deskfleet_log_nats::NatsOptions::default()
            };
            let log = deskfleet_log_nats::open(url, &options)?;
            let warnings = [log.client().notices(), &log.warnings()].concat();
            Ok((Box::new(log), warnings))
        }
        _ => {
            let message = format!(
                "this program cannot use a log at {}://",
                scheme.unwrap_or_default()
            );
            Err(LogError::new(LogErrorKind::Unsafe, message))
        }
    }
}

impl FleetLog {
    /// Makes a call, and records whether the log responded, be it with a refusal.
    fn call<T>(&self, of: impl FnOnce(&dyn Log) -> Result<T, LogError>) -> Result<T, LogError> {
        self.0.metrics.log_asked();
        let done = self.0.connected().and_then(of);
        let is_response =
            |error: &LogError| matches!(error.kind, LogErrorKind::Trimmed | LogErrorKind::Unsafe);
        if done.as_ref().err().is_none_or(is_response) {
            self.0.metrics.log_heard();
        }
        done
    }
}

impl Log for FleetLog {
    /// Refused at once while the log is silent: a call would hold up all writes for as long as it takes. An entry that may be in the log already
    /// is appended again all the same.
    fn append(&self, id: EntryId, body: &[u8]) -> Result<Appended, LogError> {
        let mut undecided = lock(&self.0.undecided);
        let is_again = undecided.take() == Some(id);
        drop(undecided);
        let standing = self.0.metrics.standing();
        if !is_again && standing.is_some_and(|standing| standing.refuses_writes()) {
            let message = "the log has not responded for more than a second";
            return Err(LogError::new(LogErrorKind::Unavailable, message));
        }
        let begun = Instant::now();
        let appended = self.call(|log| log.append(id, body));
        self.0.metrics.appended(begun.elapsed(), appended.is_ok());
        if matches!(&appended, Err(error) if error.kind == LogErrorKind::Unknown) {
            *lock(&self.0.undecided) = Some(id);
        }
        appended
    }

    /// Before the first connection it returns what every such log takes at least.
    fn body_max(&self) -> usize {
        match self.0.connected.get() {
            Some(log) => log.body_max(),
            #[cfg(feature = "postgres")]
            None if self.0.url.starts_with("postgres") => deskfleet_log_postgres::BODY_BYTES_MAX,
            None => LOG_BODY_BYTES_MIN,
        }
    }

    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        self.call(|log| log.read(from, bytes_max, patience))
    }

    fn bounds(&self, seen: u64) -> Result<LogBounds, LogError> {
        self.call(|log| log.bounds(seen))
    }

    /// It may take minutes, in which the log does respond.
    fn trim(&self, below: u64) -> Result<(), LogError> {
        self.0.connected()?.trim(below)
    }

    fn report(&self, node: &str, report: &str) -> Result<(), LogError> {
        self.call(|log| log.report(node, report))
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        self.call(<dyn Log>::reports)
    }

    fn forget(&self, node: &str) -> Result<(), LogError> {
        self.call(|log| log.forget(node))
    }

    fn restore(&self, before: &Chain, entry: &LogEntry) -> Result<bool, LogError> {
        self.call(|log| log.restore(before, entry))
    }

    fn resume(&self, takeover: u64) -> Result<(), LogError> {
        self.call(|log| log.resume(takeover))
    }

    fn warnings(&self) -> Vec<String> {
        let log = self.0.connected.get();
        log.map_or_else(Vec::new, |log| log.warnings())
    }
}

impl fmt::Debug for FleetLog {
    /// The URL is left out, because it may have a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetLog").finish_non_exhaustive()
    }
}
