//! The options of the command line that make a server a node of a fleet.

use clap::{Args, ValueHint};
use deskfleet::settings::Value;

/// The settings of a node that have options of their own.
#[derive(Debug, PartialEq, Eq, Args)]
#[command(next_help_heading = "Several nodes")]
pub(crate) struct ClusterArgs {
    /// The log that several nodes share, such as `postgres://fleet@db.example.com/fleet` or `nats://n1.example.com`: each serves the same
    /// fleet. Other users of the machine can read a password here; put it into --log-credentials
    // Checked with the other settings, whose messages have no passwords.
    #[arg(long, value_name = "URL")]
    log: Option<String>,
    /// The certificates, in PEM, that the servers of the log are verified with; by default those of the system
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    log_ca: Option<String>,
    /// The certificate, in PEM, that is shown to servers of the log that ask for one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    log_cert: Option<String>,
    /// The private key of --log-cert, in PEM without a passphrase
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    log_key: Option<String>,
    /// The password for PostgreSQL, alone in its file, or the credentials for NATS
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    log_credentials: Option<String>,
    /// The name of this node among all of them; by default that of the host
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// The folder that this node archives the log into, one for each node: with a backup, `deskfleet cluster restore` makes the store of any
    /// later time from it
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    archive: Option<String>,
    /// Another node, such as `http://node-2:8080`, whose store is copied where there is none here, or the log no longer has what this
    /// one lacks
    #[arg(long, value_name = "URL")]
    join: Option<String>,
    /// The file with an admin key of the fleet, for --join
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    join_key_file: Option<String>,
    /// The CAs that may have signed the certificate of the node of --join, in PEM; by default those of the system
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    join_ca: Option<String>,
    /// The certificate, in PEM, that is shown to the node of --join where it asks for one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    join_cert: Option<String>,
    /// The private key of --join-cert, in PEM without a passphrase
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    join_key: Option<String>,
}

impl ClusterArgs {
    /// The settings that are given: name, value, option.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, Value, &'static str)> + '_ {
        [
            ("cluster.log", &self.log, "--log"),
            ("cluster.log_ca", &self.log_ca, "--log-ca"),
            ("cluster.log_cert", &self.log_cert, "--log-cert"),
            ("cluster.log_key", &self.log_key, "--log-key"),
            (
                "cluster.log_credentials",
                &self.log_credentials,
                "--log-credentials",
            ),
            ("cluster.node", &self.node, "--node"),
            ("cluster.archive", &self.archive, "--archive"),
            ("cluster.join", &self.join, "--join"),
            (
                "cluster.join_key_file",
                &self.join_key_file,
                "--join-key-file",
            ),
            ("cluster.join_ca", &self.join_ca, "--join-ca"),
            ("cluster.join_cert", &self.join_cert, "--join-cert"),
            ("cluster.join_key", &self.join_key, "--join-key"),
        ]
        .into_iter()
        .filter_map(|(name, text, option)| Some((name, Value::Text(text.clone()?), option)))
    }
}
