//! The options of the command line that are settings.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use deskfleet::settings::Value;
use deskfleet_server::is_host_name;

use super::cluster_args::ClusterArgs;
use super::configuration::{Overrides, is_address};

/// The store of a command, and the other settings.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct StoreFile {
    /// The file of the store; by default deskfleet.redb
    #[arg(long = "data", value_name = "FILE", id = "data", value_hint = ValueHint::FilePath)]
    file: Option<String>,
    /// The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Sets one setting, such as `limits.queue_records=50000`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl StoreFile {
    pub(crate) fn overrides(&self) -> Overrides {
        let data = self.file.clone().map(Value::Text);
        Overrides {
            file: self.config.clone(),
            set: self.set.clone(),
            options: data
                .map(|data| ("data", data, "--data"))
                .into_iter()
                .collect(),
        }
    }
}

/// The settings of a server that have options of their own.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct SettingArgs {
    #[command(flatten)]
    store: StoreFile,
    /// Keep everything in memory; it is gone at the end
    #[arg(long, conflicts_with = "data")]
    memory: bool,
    /// Address and port; by default 127.0.0.1:8080. One that other machines can reach needs a key in the store first
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<String>,
    /// No access log
    #[arg(long)]
    quiet: bool,
    /// Accept this host name; may be repeated. Without it a loopback address accepts no name but localhost, others any
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    hosts: Vec<String>,
    /// A proxy adds the source of each request as the last address in X-Forwarded-For; only where nobody can bypass the proxy
    #[arg(long)]
    proxied: bool,
    /// Speak TLS with this certificate: a PEM file, the certificate of the server first, then those that signed it. SIGHUP reads it
    /// again. Only in a deskfleet that was built with the feature `tls`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    tls_cert: Option<String>,
    /// The private key of the certificate: a PEM file without a passphrase
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    tls_key: Option<String>,
    /// Accept only clients with a certificate of a CA in this PEM file, beside their API keys
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    client_ca: Option<String>,
    /// On SIGUSR1 and POST /operator/backups write a consistent copy of the store into this folder, named after the time; requests
    /// are served meanwhile
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    backups: Option<String>,
    /// Connections at once; by default as many as files may be open, 12288 at most
    #[arg(long, value_name = "N", value_parser = number)]
    connections: Option<NonZeroU64>,
    /// Of them from one address, or from one IPv6 network of 64 bits; by default half. With --proxied: requests at once
    /// from one source, at most a quarter of `server.connections_served`
    #[arg(long, value_name = "N", value_parser = number)]
    connections_per_source: Option<NonZeroU64>,
    #[command(flatten)]
    cluster: ClusterArgs,
}

impl SettingArgs {
    pub(crate) fn overrides(&self) -> Overrides {
        let mut overrides = self.store.overrides();
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        let number = |number: Option<NonZeroU64>| Some(Value::Number(number?.get()));
        let hosts = (!self.hosts.is_empty()).then(|| Value::List(self.hosts.clone()));
        let memory = self.memory.then(|| Value::Text("none".to_owned()));
        let quiet = self.quiet.then(|| Value::Text("off".to_owned()));
        let proxied = self.proxied.then_some(Value::Boolean(true));
        let per_source = number(self.connections_per_source);
        let options = [
            ("data", memory, "--memory"),
            ("server.listen", text(&self.listen), "--listen"),
            ("log.format", quiet, "--quiet"),
            ("server.hosts", hosts, "--host"),
            ("server.proxied", proxied, "--proxied"),
            ("tls.cert", text(&self.tls_cert), "--tls-cert"),
            ("tls.key", text(&self.tls_key), "--tls-key"),
            ("tls.client_ca", text(&self.client_ca), "--client-ca"),
            ("backups.folder", text(&self.backups), "--backups"),
            (
                "server.connections_max",
                number(self.connections),
                "--connections",
            ),
            (
                "server.connections_per_source",
                per_source,
                "--connections-per-source",
            ),
        ];
        let given = options
            .into_iter()
            .filter_map(|(name, value, option)| Some((name, value?, option)));
        overrides.options.extend(given);
        overrides.options.extend(self.cluster.given());
        overrides
    }
}

/// A number of connections.
fn number(text: &str) -> Result<NonZeroU64, &'static str> {
    text.parse().map_err(|_| "not a whole number from 1")
}

/// An address such as `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
pub(super) fn address(text: &str) -> Result<String, &'static str> {
    if is_address(text) {
        return Ok(text.to_owned());
    }
    Err("not an address such as 127.0.0.1:8080")
}

/// A host name without port or path.
fn host(text: &str) -> Result<String, &'static str> {
    if is_host_name(text) {
        return Ok(text.to_owned());
    }
    Err("a host is a name such as fleet.example.com, without port or path")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: SettingArgs,
    }

    #[test]
    fn options_of_their_own_name_are_settings() {
        let line = "serve --memory --listen [::1]:0 --quiet --host a.example --host b --proxied --tls-cert c --tls-key k \
            --client-ca a --backups copies \
            --connections 7 --connections-per-source 3 --log postgres://db/fleet --node n1 --config c.toml \
            --set limits.uri_bytes=9";
        let line = line.split_whitespace();
        let overrides = Line::try_parse_from(line).unwrap().settings.overrides();
        let options = overrides.options.iter();
        let options = options.map(|(name, value, option)| format!("{option}: {name} = {value}"));
        assert_eq!(
            options.collect::<Vec<_>>(),
            [
                "--memory: data = \"none\"",
                "--listen: server.listen = \"[::1]:0\"",
                "--quiet: log.format = \"off\"",
                "--host: server.hosts = [\"a.example\", \"b\"]",
                "--proxied: server.proxied = true",
                "--tls-cert: tls.cert = \"c\"",
                "--tls-key: tls.key = \"k\"",
                "--client-ca: tls.client_ca = \"a\"",
                "--backups: backups.folder = \"copies\"",
                "--connections: server.connections_max = 7",
                "--connections-per-source: server.connections_per_source = 3",
                "--log: cluster.log = \"postgres://db/fleet\"",
                "--node: cluster.node = \"n1\"",
            ]
        );
        assert_eq!(overrides.file, Some("c.toml".into()));
        assert_eq!(overrides.set, ["limits.uri_bytes=9"]);
    }
}
