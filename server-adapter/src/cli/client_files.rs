//! The options of a client of a server.

use std::path::PathBuf;

use clap::Args;

/// The files that a client of a server needs.
#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ClientFiles {
    /// The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) key_file: Option<PathBuf>,
    /// The CAs that may have signed the server's certificate, in PEM; by default those of the system. TLS is only in a deskfleet
    /// that was built with the feature `tls`
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) ca: Option<PathBuf>,
    /// The certificate to show to a server that asks for one, in PEM
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub(crate) client_cert: Option<PathBuf>,
    /// The private key of --client-cert, in PEM without a passphrase
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(crate) client_key: Option<PathBuf>,
}
