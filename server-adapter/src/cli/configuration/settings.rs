//! The settings of the command, each declared once: here, in the server's options, and in the engine's configuration.

use std::io;
use std::net::ToSocketAddrs as _;
use std::path::PathBuf;
use std::time::Duration;

use deskfleet::limits::LOG_KEEP_SECONDS_MAX;
use deskfleet::settings::Form;
use deskfleet::{CommitDriver, CommitPhases, Config, settings};
use deskfleet_server::{NotificationOptions, ServerOptions, Tls};

use crate::cli::server_url::ServerUrl;

use super::hidden::HIDDEN;

/// Connections at once by default: five thousand agents with one address may have half of them.
const CONNECTIONS_MAX: usize = 12_288;

settings! {
    /// The settings of the command.
    #[derive(Debug, Clone)]
    pub(crate) struct Settings {
        /// The file of the store, seen from the folder of the process; with none everything is in memory, and gone at the end.
        pub(crate) data: Option<PathBuf> = Some(PathBuf::from("deskfleet.redb"));
        /// Copies of the store.
        pub(crate) backups: BackupSettings = BackupSettings::default();
        /// Address and port to listen on; one that other machines can reach needs a key in the store first.
        pub(crate) listen: String as "server.listen" = "127.0.0.1:8080".to_owned(),
            Form::Text("an address and port such as \"127.0.0.1:8080\"", is_address);
        /// What makes the server a node of a fleet.
        pub(crate) cluster: ClusterSettings = ClusterSettings::default();
        /// The options of the server.
        pub(crate) server: ServerOptions = server();
        /// The files of TLS.
        pub(crate) tls: TlsFiles = TlsFiles::default();
        /// What the server sends by itself.
        pub(crate) notifications: NotificationOptions as "" = NotificationOptions::default();
        /// The configuration of the engine.
        pub(crate) engine: Config as "" = engine();
    }
}

/// The least and the longest time between two backups, in milliseconds.
const BACKUPS_EVERY: (u64, u64) = (100, 366 * 24 * 60 * 60 * 1000);
/// The most backups that may be kept by number.
const BACKUPS_KEPT_MAX: u64 = 1_000_000;

settings! {
    /// Copies of the store.
    #[derive(Debug, Clone)]
    pub(crate) struct BackupSettings {
        /// The folder for the copies of the store that SIGUSR1 and `POST /operator/backups` ask for, and for those of `every`.
        pub(crate) folder: Option<PathBuf> = None;
        /// How often the server writes a copy by itself, counted from the newest one in the folder. It reads each copy again before it
        /// counts. With none it writes those that are asked for.
        pub(crate) every: Option<Duration> = None, Form::Time(BACKUPS_EVERY.0, BACKUPS_EVERY.1);
        /// How many copies stay in the folder: a good new one removes the oldest. With none all stay.
        pub(crate) keep: Option<usize> = None, Form::Count(1, BACKUPS_KEPT_MAX);
    }
}

settings! {
    /// What makes a server a node of a fleet, whose nodes share a log.
    #[derive(Debug, Clone)]
    pub(crate) struct ClusterSettings {
        /// The URL of the log that several nodes share; each serves the same fleet. With none the store is served alone. A password is
        /// better put into the file `log_credentials`; here it is shown as ***.
        pub(crate) log: Option<String> = None, Form::Text("a URL such as \"postgres://fleet@db.example.com/fleet\" or \"nats://n1.example.com\"", is_log_url);
        /// The file with the certificates, in PEM, that the servers of the log are verified with; with none those of the system.
        pub(crate) log_ca: Option<PathBuf> = None;
        /// The certificate, in PEM, that is shown to servers of the log that ask for one.
        pub(crate) log_cert: Option<PathBuf> = None;
        /// The private key of `log_cert`, in PEM without a passphrase.
        pub(crate) log_key: Option<PathBuf> = None;
        /// The file with the password for PostgreSQL, alone, or with the credentials for NATS.
        pub(crate) log_credentials: Option<PathBuf> = None;
        /// The age up to which entries stay in the log though all nodes have them, a year at most: a node that was away for less goes on without a
        /// copy of another. The longest time of all nodes counts. With none the last 10 000 entries stay.
        pub(crate) log_keep: Option<Duration> = None, Form::Time(1000, u64::from(LOG_KEEP_SECONDS_MAX) * 1000);
        /// The name of this node among all of them; with none that of the host.
        pub(crate) node: Option<String> = None, Form::Text("a name of at most 64 letters, digits, `-`, `_` and `.`", is_node_name);
        /// The folder that this node archives the log into, one for each node. Until its entries are archived the log keeps them. With none
        /// there is no archive.
        pub(crate) archive: Option<PathBuf> = None;
        /// The URL of another node, whose store is copied where there is none here, or the log no longer has what this one lacks.
        pub(crate) join: Option<String> = None, Form::Text("a URL such as \"http://node-2:8080\"", is_server_url);
        /// The file with an admin key of the fleet, for `join`.
        pub(crate) join_key_file: Option<PathBuf> = None;
        /// The file with the CAs, in PEM, that may have signed the certificate of the node of `join`; with none those of the system.
        pub(crate) join_ca: Option<PathBuf> = None;
        /// The certificate, in PEM, that is shown to the node of `join` where it asks for one.
        pub(crate) join_cert: Option<PathBuf> = None;
        /// The private key of `join_cert`, in PEM without a passphrase.
        pub(crate) join_key: Option<PathBuf> = None;
    }
}

impl ClusterSettings {
    /// A certificate without its key, or a key without its certificate.
    fn half_of_a_pair(&self) -> Option<(&'static str, &'static str)> {
        let pairs = [
            (
                ("cluster.log_cert", &self.log_cert),
                ("cluster.log_key", &self.log_key),
            ),
            (
                ("cluster.join_cert", &self.join_cert),
                ("cluster.join_key", &self.join_key),
            ),
        ];
        pairs.into_iter().find_map(
            |((cert, certificate), (key, file))| match (certificate, file) {
                (Some(_), None) => Some((cert, "needs the key of the certificate")),
                (None, Some(_)) => Some((key, "needs the certificate of the key")),
                (Some(_), Some(_)) | (None, None) => None,
            },
        )
    }
}

/// The longest name of a node, in bytes.
const NODE_NAME_MAX: usize = 64;

/// Whether `text` is the URL of a log, with the password itself if it has one.
fn is_log_url(text: &str) -> bool {
    let schemes = ["postgres://", "postgresql://", "nats://", "tls://"];
    let place = schemes.iter().find_map(|scheme| text.strip_prefix(scheme));
    place.is_some_and(|place| !place.is_empty()) && !text.contains(HIDDEN)
}

/// Whether a node may have that name.
pub(crate) fn is_node_name(name: &str) -> bool {
    let is_fit = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    (1..=NODE_NAME_MAX).contains(&name.len()) && name.as_bytes().iter().all(is_fit)
}

fn is_server_url(text: &str) -> bool {
    text.parse::<ServerUrl>().is_ok()
}

settings! {
    /// The files of TLS. SIGHUP reads them again.
    #[derive(Debug, Clone)]
    pub(crate) struct TlsFiles {
        /// The certificate of the server and those that signed it, in PEM; with it the server speaks TLS and nothing else.
        pub(crate) cert: Option<PathBuf> = None;
        /// The private key of the certificate, in PEM without a passphrase.
        pub(crate) key: Option<PathBuf> = None;
        /// The CAs of clients, in PEM; with it a client needs a certificate of one of them, beside its API key.
        pub(crate) client_ca: Option<PathBuf> = None;
    }
}

impl TlsFiles {
    /// Reads the files; `None` where TLS is not wanted.
    ///
    /// # Errors
    /// One sentence with the file and what to do.
    #[cfg(feature = "tls")]
    pub(crate) fn read(&self) -> io::Result<Option<Tls>> {
        let (Some(cert), Some(key)) = (&self.cert, &self.key) else {
            return Ok(None);
        };
        Tls::read(cert, key, self.client_ca.as_deref()).map(Some)
    }

    #[cfg(not(feature = "tls"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as with the feature"
    )]
    pub(crate) fn read(&self) -> io::Result<Option<Tls>> {
        Ok(None)
    }

    /// The setting that does not suit the others or this program, and why.
    fn unfit(&self, has_tls: bool) -> Option<(&'static str, &'static str)> {
        let files = [
            ("tls.cert", &self.cert),
            ("tls.key", &self.key),
            ("tls.client_ca", &self.client_ca),
        ];
        let (set, _) = files.into_iter().find(|(_, file)| file.is_some())?;
        if !has_tls {
            return Some((
                set,
                "needs a deskfleet with TLS; build it with\n  cargo build --release -p deskfleet-server --features tls",
            ));
        }
        match (&self.cert, &self.key) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => Some((
                set,
                "needs the key of the certificate: --tls-key or tls.key",
            )),
            _ => Some((set, "needs a certificate: --tls-cert or tls.cert")),
        }
    }
}

/// Fewer connections are served where fewer files may be open.
fn server() -> ServerOptions {
    ServerOptions {
        connections_max: CONNECTIONS_MAX,
        ..ServerOptions::default()
    }
}

/// Untrusted clients write to the store of a server, and many share the cost of a second sync.
fn engine() -> Config {
    let mut config = Config::default();
    config.commit_phases = CommitPhases::Two;
    config.commit_driver = CommitDriver::Thread;
    config
}

/// Whether `text` is an address such as `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
pub(crate) fn is_address(text: &str) -> bool {
    let mut addresses = text.to_socket_addrs().into_iter().flatten();
    addresses.next().is_some()
}

impl Settings {
    /// The name of a setting that suits other programs than this one, and what to set instead.
    pub(super) fn unfit(&self) -> Option<(String, String)> {
        let own = self.unfit_of_server();
        own.map(|(name, reason)| (name.to_owned(), reason.to_owned()))
            .or_else(|| self.notifications.check().err())
    }

    fn unfit_of_server(&self) -> Option<(&'static str, &'static str)> {
        if self.engine.commit_driver == CommitDriver::Host {
            return Some((
                "commit_driver",
                "is \"host\", for programs that commit themselves; expected \"thread\" or \"caller\"",
            ));
        }
        if self.server.maintain_every.is_none() {
            return Some((
                "server.maintain_every",
                "is \"none\", for programs that call maintain themselves; expected a time such as \"1s\"",
            ));
        }
        if self.backups.every.is_some() && self.backups.folder.is_none() {
            return Some((
                "backups.every",
                "needs a folder to write into: --backups or backups.folder",
            ));
        }
        if self.cluster.archive.is_some() && self.cluster.log.is_none() {
            return Some((
                "cluster.archive",
                "needs the log that it archives: --log or cluster.log",
            ));
        }
        let url = self.cluster.log.as_deref().unwrap_or_default();
        if url.starts_with("postgres") && !cfg!(feature = "postgres") {
            return Some((
                "cluster.log",
                "is a log in PostgreSQL, which needs a deskfleet that is built with `--features postgres`",
            ));
        }
        let is_nats = url.starts_with("nats") || url.starts_with("tls");
        if is_nats && !cfg!(feature = "nats") {
            return Some((
                "cluster.log",
                "is a log in NATS JetStream, which needs a deskfleet that is built with `--features nats`",
            ));
        }
        self.cluster
            .half_of_a_pair()
            .or_else(|| self.tls.unfit(cfg!(feature = "tls")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_of_tls_needs_a_build_with_it() {
        let mut tls = TlsFiles::default();
        assert_eq!(tls.unfit(false), None);
        tls.key = Some("key.pem".into());
        let (name, reason) = tls.unfit(false).unwrap_or_default();
        assert_eq!(name, "tls.key");
        assert!(reason.contains("--features tls"), "{reason}");
    }
}
