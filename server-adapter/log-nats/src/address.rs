//! The URL of a log in NATS, and what is given beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_nats::{ConnectError, ConnectErrorKind, ConnectOptions, ServerAddr};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use deskfleet::cluster::LogError;
use deskfleet_client::tls::{Identity, client_config};
use deskfleet_log_runtime::{FLEET_BYTES_MAX, read_file, unusable};
use http::HeaderValue;
use tokio_rustls::TlsConnector;

/// After three of them without a response the connection is replaced: before the engine has given up.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// A server that was stopped still accepts connections.
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// A server that was stopped may pass on what it had received: until the others have given up the connection to it, after a minute and a
/// half.
pub(super) const DUPLICATE_WINDOW: Duration = Duration::from_secs(5 * 60);
const RECONNECT_INTERVAL: Duration = Duration::from_millis(100);

/// What is given beside the URL of a log in NATS.
#[derive(Debug, Clone, Default)]
pub struct NatsOptions {
    /// A file with the certificates in PEM that the servers' are verified with; TLS is then required. Without it they are those of
    /// the platform.
    pub ca: Option<PathBuf>,
    /// The certificate that is shown to servers that ask for one.
    pub identity: Option<Identity>,
    /// A file of credentials as `nsc` writes it, or one with `USER:PASSWORD` in its only line.
    pub credentials: Option<PathBuf>,
    /// For how long the servers recognise an entry by its id, 100 ms at least; without it five minutes. A stream keeps what it was made
    /// with.
    pub duplicate_window: Option<Duration>,
}

/// Where a log is, and how it is reached.
pub(super) struct Address {
    pub(super) fleet: String,
    pub(super) servers: Vec<ServerAddr>,
    /// The servers, for messages.
    pub(super) names: String,
    pub(super) sync: SyncCheck,
    /// For how long the servers recognise an entry by its id.
    pub(super) duplicate_window: Duration,
    /// Without the servers.
    pub(super) connect: ConnectOptions,
}

/// How it is known that the servers write to the disk before they acknowledge.
pub(super) struct SyncCheck {
    pub(super) monitors: Vec<Monitor>,
    /// Whether the operator vouches for it.
    pub(super) unchecked: bool,
}

/// The monitoring endpoint of a server.
pub(super) struct Monitor {
    /// `HOST:PORT`
    pub(super) authority: String,
    /// Where it is reached over TLS.
    pub(super) tls: Option<TlsConnector>,
    /// The user and the password of the log, for a proxy that asks for one: over TLS alone.
    pub(super) authorization: Option<HeaderValue>,
}

/// What `--log-credentials` has.
enum Credentials {
    /// As `nsc` writes it.
    Jwt(String),
    Password(String, String),
}

impl Credentials {
    fn read(path: &Path) -> Result<Self, LogError> {
        let text = read_file(path)?;
        if text.contains("BEGIN NATS USER JWT") {
            return Ok(Self::Jwt(text));
        }
        let line = text.trim_end_matches(['\r', '\n']);
        let (user, password) = line.split_once(':').ok_or_else(|| unreadable(path))?;
        Ok(Self::Password(user.to_owned(), password.to_owned()))
    }

    fn basic(&self) -> Option<HeaderValue> {
        let Self::Password(user, password) = self else {
            return None;
        };
        let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
        let mut value = HeaderValue::try_from(format!("Basic {encoded}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// The cause could have a part of the text.
fn unreadable(path: &Path) -> LogError {
    unusable(format!(
        "{} is neither a .creds file nor a line USER:PASSWORD",
        path.display()
    ))
}

impl SyncCheck {
    /// A reminder for the operator who vouches for it.
    pub(super) fn notice(&self) -> Option<String> {
        let notice = "it was not checked that the NATS servers have `sync_interval: always`: without it a loss of power loses acknowledged entries";
        self.unchecked.then(|| notice.to_owned())
    }
}

impl Address {
    pub(super) fn new(url: &str, options: &NatsOptions) -> Result<Self, LogError> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let requires_tls = match scheme {
            "nats" => options.ca.is_some() || options.identity.is_some(),
            "tls" => true,
            _ => return Err(unusable("it begins with nats:// or tls://")),
        };
        let (names, query) = rest.split_once('?').unwrap_or((rest, ""));
        let names = names.trim_end_matches('/');
        if rest.contains('@') {
            return Err(unusable(
                "user and password are given in a file, with --log-credentials",
            ));
        }
        let credentials = options.credentials.as_deref().map(Credentials::read);
        let credentials = credentials.transpose()?;
        let mut fleet = "fleet";
        let mut monitors: Vec<&str> = Vec::new();
        let mut unchecked_sync = false;
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("fleet", name)) => fleet = name,
                Some(("monitor", addresses)) => monitors.extend(addresses.split(',')),
                Some(("unchecked_sync", "yes")) => unchecked_sync = true,
                _ => {
                    return Err(unusable(
                        "after ? it has fleet=NAME, monitor=http://HOST:PORT,... (or https) or unchecked_sync=yes",
                    ));
                }
            }
        }
        if !is_token(fleet) || fleet.len() > FLEET_BYTES_MAX {
            return Err(unusable(format!(
                "the name of a fleet has 1 to {FLEET_BYTES_MAX} letters, digits, - and _"
            )));
        }
        let server = |name: &str| {
            let address = format!("{scheme}://{name}").parse();
            address.map_err(|_| unusable(format!("{name:?} is not HOST:PORT")))
        };
        Ok(Self {
            fleet: fleet.to_owned(),
            servers: names.split(',').map(server).collect::<Result<_, _>>()?,
            names: names.to_owned(),
            sync: SyncCheck {
                monitors: monitors
                    .into_iter()
                    .map(|address| Monitor::new(address, options, credentials.as_ref()))
                    .collect::<Result<_, _>>()?,
                unchecked: unchecked_sync,
            },
            duplicate_window: options.duplicate_window.unwrap_or(DUPLICATE_WINDOW),
            connect: connect_options(options, credentials, requires_tls)?,
        })
    }
}

fn is_token(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.bytes().all(is_allowed)
}

impl Monitor {
    fn new(
        address: &str,
        options: &NatsOptions,
        credentials: Option<&Credentials>,
    ) -> Result<Self, LogError> {
        let (scheme, authority) = address.split_once("://").unwrap_or_default();
        let authority = authority.trim_end_matches('/');
        let is_known = matches!(scheme, "http" | "https");
        if !is_known || !authority.contains(':') || authority.contains('/') {
            return Err(unusable(
                "an address of `monitor` is not http://HOST:PORT or https://HOST:PORT, that of a server's monitoring",
            ));
        }
        let tls = (scheme == "https").then(|| {
            let config = client_config(options.ca.as_deref(), options.identity.as_ref());
            config.map(|config| TlsConnector::from(Arc::new(config)))
        });
        let credentials = credentials.filter(|_| tls.is_some());
        Ok(Self {
            authorization: credentials.and_then(Credentials::basic),
            authority: authority.to_owned(),
            tls: tls
                .transpose()
                .map_err(|error| unusable(error.to_string()))?,
        })
    }

    /// The host alone, of an IPv6 address without its brackets.
    pub(super) fn host(&self) -> &str {
        let (host, _) = self.authority.rsplit_once(':').unwrap_or_default();
        host.trim_start_matches('[').trim_end_matches(']')
    }
}

fn connect_options(
    options: &NatsOptions,
    credentials: Option<Credentials>,
    requires_tls: bool,
) -> Result<ConnectOptions, LogError> {
    let mut connect = ConnectOptions::new()
        .name("deskfleet")
        .require_tls(requires_tls)
        .ping_interval(PING_INTERVAL)
        .connection_timeout(CONNECT_MAX)
        .reconnect_delay_callback(|_| RECONNECT_INTERVAL);
    if let Some(ca) = &options.ca {
        read_file(ca)?;
        connect = connect.add_root_certificates(ca.clone());
    }
    if let Some(identity) = &options.identity {
        // NATS reads them at each connect; files that cannot be used are refused now.
        client_config(options.ca.as_deref(), Some(identity))
            .map_err(|error| unusable(error.to_string()))?;
        let Identity { certificate, key } = identity;
        connect = connect.add_client_certificate(certificate.clone(), key.clone());
    }
    match options.credentials.as_deref().zip(credentials) {
        None => Ok(connect),
        Some((path, Credentials::Jwt(text))) => {
            connect.credentials(&text).map_err(|_| unreadable(path))
        }
        Some((_, Credentials::Password(user, password))) => {
            Ok(connect.user_and_password(user, password))
        }
    }
}

/// The cause of a refusal could name the user.
pub(super) fn connect_failure(error: &ConnectError) -> String {
    let kind = error.kind();
    if kind == ConnectErrorKind::Authentication || kind == ConnectErrorKind::AuthorizationViolation
    {
        return "it refuses the credentials, which --log-credentials gives".to_owned();
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_sent_to_monitoring_over_tls_alone() {
        let folder = tempfile::tempdir().unwrap();
        let credentials = |text: &str| {
            let path = folder.path().join("credentials");
            std::fs::write(&path, text).unwrap();
            Some(path)
        };
        let jwt = "-----BEGIN NATS USER JWT-----\n";
        for (text, scheme, expected) in [
            ("fleet:a:b\n", "https", Some("Basic ZmxlZXQ6YTpi")),
            ("fleet:a:b\n", "http", None),
            (jwt, "https", None),
        ] {
            let options = NatsOptions {
                credentials: credentials(text),
                ..NatsOptions::default()
            };
            let given = options.credentials.as_deref().map(Credentials::read);
            let given = given.transpose().unwrap();
            let address = format!("{scheme}://n1.example.com:8222");
            let monitor = Monitor::new(&address, &options, given.as_ref()).unwrap();
            let sent = monitor.authorization.as_ref();
            assert_eq!(
                sent.map(|value| value.to_str().unwrap()),
                expected,
                "{text}"
            );
            assert!(sent.is_none_or(HeaderValue::is_sensitive));
        }
    }
}
