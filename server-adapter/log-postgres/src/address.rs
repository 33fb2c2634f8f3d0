//! The URL of a log in PostgreSQL, as libpq reads it, and what is given beside it.

use std::fmt;
use std::path::PathBuf;

use deskfleet::cluster::{LogError, LogErrorKind};
use deskfleet_client::tls::Identity;
use deskfleet_log_runtime::{FLEET_BYTES_MAX, read_file, unusable};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{self, Verification};

const DEFAULT_PORT: u16 = 5432;

/// What is given beside the URL of a log in PostgreSQL.
#[derive(Clone, Default)]
pub struct PostgresOptions {
    /// A file with the certificates in PEM that the server's is verified with. Without it they are those of the platform.
    pub ca: Option<PathBuf>,
    /// The certificate that is shown to servers that ask for one.
    pub identity: Option<Identity>,
    /// A file with the password in its only line. Comes before the password of the URL, which other users of the machine can see in
    /// the list of processes.
    pub credentials: Option<PathBuf>,
    /// The password where neither the file nor the URL has one: that of the environment variable `PGPASSWORD`.
    pub password: Option<String>,
    /// A file for the system and the timeline of the newest server that was used: an older server of the same system is refused then, also after a
    /// restart. Without it only until then.
    pub newest_server: Option<PathBuf>,
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("ca", &self.ca)
            .field("identity", &self.identity)
            .field("credentials", &self.credentials)
            .field("newest_server", &self.newest_server)
            .finish_non_exhaustive()
    }
}

/// Where a log is, and how it is reached.
pub(super) struct Address {
    /// The name of the fleet, `fleet` where the URL has none: several fleets can share a database.
    pub(super) fleet: String,
    /// The servers, of which one is the primary.
    pub(super) servers: Vec<Server>,
    /// Whether the operator vouches for what is acknowledged without a synchronous standby.
    pub(super) unchecked_sync: bool,
    pub(super) tls: MakeRustlsConnect,
}

/// One server.
#[derive(Clone)]
pub(super) struct Server {
    /// For messages: without user and password.
    pub(super) name: String,
    pub(super) config: Config,
}

impl Server {
    pub(super) fn unavailable(&self, message: &str) -> LogError {
        LogError::new(
            LogErrorKind::Unavailable,
            format!("{}: {message}", self.name),
        )
    }

    /// It would lose entries.
    pub(super) fn unfit(&self, message: &str) -> LogError {
        LogError::new(LogErrorKind::Unsafe, format!("{}: {message}", self.name))
    }
}

impl Address {
    pub(super) fn new(url: &str, options: &PostgresOptions) -> Result<Self, LogError> {
        let parts = Parts::parse(url)?;
        let mut config: Config = parts.url.parse().map_err(unreadable)?;
        if let Some(path) = &options.credentials {
            config.password(read_file(path)?.trim_end_matches(['\r', '\n']));
        } else if let (None, Some(password)) = (config.get_password(), &options.password) {
            config.password(password);
        }
        let fleet = parts.fleet.unwrap_or("fleet");
        if fleet.is_empty() || fleet.len() > FLEET_BYTES_MAX {
            return Err(unusable(format!(
                "the name of a fleet has 1 to {FLEET_BYTES_MAX} bytes"
            )));
        }
        let verification =
            Verification::new(parts.ssl_mode, options.ca.is_some()).ok_or_else(|| {
                unusable("sslmode is disable, prefer, require, verify-ca or verify-full")
            })?;
        let has_identity = options.identity.is_some();
        config.ssl_mode(match (parts.ssl_mode, verification) {
            (Some("disable"), _) if has_identity || options.ca.is_some() => {
                return Err(unusable(
                    "sslmode=disable has no TLS, and no use for --log-ca and --log-cert",
                ));
            }
            (Some("disable"), _) => SslMode::Disable,
            (None | Some("prefer"), Verification::None) if !has_identity => SslMode::Prefer,
            _ => SslMode::Require,
        });
        Ok(Self {
            fleet: fleet.to_owned(),
            unchecked_sync: parts.unchecked_sync,
            servers: servers(&config)?,
            tls: tls::connector(
                verification,
                options.ca.as_deref(),
                options.identity.as_ref(),
            )
            .map_err(|error| unusable(error.to_string()))?,
        })
    }
}

/// A URL, and what tokio-postgres does not read of it.
struct Parts<'a> {
    url: String,
    fleet: Option<&'a str>,
    ssl_mode: Option<&'a str>,
    unchecked_sync: bool,
}

impl<'a> Parts<'a> {
    fn parse(url: &'a str) -> Result<Self, LogError> {
        let rest = ["postgres://", "postgresql://"]
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
            .ok_or_else(|| unusable("it begins with postgres://"))?;
        let (user, hosts) = rest.split_once('@').unwrap_or(("", rest));
        // Else a part of a password would be taken for a host, and be named in messages.
        if hosts.contains('@') {
            return Err(unusable("an @ within it is written %40"));
        }
        let (hosts, query) = hosts.split_once('?').unwrap_or((hosts, ""));
        let mut parts = Self {
            url: format!("postgres://{user}@{hosts}?"),
            fleet: None,
            ssl_mode: None,
            unchecked_sync: false,
        };
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("fleet", fleet)) => parts.fleet = Some(fleet),
                Some(("sslmode", mode)) => parts.ssl_mode = Some(mode),
                Some(("unchecked_sync", "yes")) => parts.unchecked_sync = true,
                Some(("sslrootcert", _)) => {
                    return Err(unusable(
                        "in place of sslrootcert give the file with --log-ca",
                    ));
                }
                Some(("sslcert" | "sslkey", _)) => {
                    return Err(unusable(
                        "in place of sslcert and sslkey give the files with --log-cert and --log-key",
                    ));
                }
                // The primary is searched for whatever it says.
                Some(("target_session_attrs", "any" | "read-write" | "primary")) => {}
                Some(("target_session_attrs", _)) => {
                    return Err(unusable(
                        "target_session_attrs is read-write: a log is appended to",
                    ));
                }
                _ => {
                    parts.url.push_str(parameter);
                    parts.url.push('&');
                }
            }
        }
        Ok(parts)
    }
}

/// A configuration for each server: tokio-postgres would try them one after the other, and wait for one that is stopped.
fn servers(config: &Config) -> Result<Vec<Server>, LogError> {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    let ports = config.get_ports();
    let count = hosts.len().max(addresses.len());
    let uneven = |len: usize| len > 1 && len != count;
    if count == 0 || uneven(ports.len()) || uneven(hosts.len()) || uneven(addresses.len()) {
        return Err(unusable("it has a host for each port"));
    }
    let server = |index: usize| {
        let port = ports.get(index).or_else(|| ports.first());
        let port = port.copied().unwrap_or(DEFAULT_PORT);
        let mut own = Config::new();
        own.port(port);
        own.ssl_mode(config.get_ssl_mode());
        own.ssl_negotiation(config.get_ssl_negotiation());
        own.channel_binding(config.get_channel_binding());
        own.application_name(config.get_application_name().unwrap_or("deskfleet"));
        config.get_user().map(|user| own.user(user));
        config.get_password().map(|password| own.password(password));
        config.get_dbname().map(|name| own.dbname(name));
        config.get_options().map(|options| own.options(options));
        let address = addresses.get(index).inspect(|address| {
            own.hostaddr(**address);
        });
        let name = match hosts.get(index) {
            Some(Host::Tcp(host)) => {
                own.host(host);
                format!("{host}:{port}")
            }
            #[cfg(unix)]
            Some(Host::Unix(path)) => {
                // As libpq does: a socket of this machine is not encrypted.
                own.host_path(path).ssl_mode(SslMode::Disable);
                format!("{}:{port}", path.display())
            }
            None => format!(
                "{}:{port}",
                address.map(ToString::to_string).unwrap_or_default()
            ),
        };
        Server { name, config: own }
    };
    Ok((0..count).map(server).collect())
}

/// The cause names parameters, and no values.
fn unreadable(error: tokio_postgres::Error) -> LogError {
    let cause = error.into_source().map(|cause| cause.to_string());
    unusable(cause.unwrap_or_default())
}
