//! The options that name a running server.

use std::path::PathBuf;

use clap::Args;

use super::server_url::ServerUrl;

/// The running server of a command that can do without the file of a store.
#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ServerArgs {
    /// Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    pub(crate) url: Option<ServerUrl>,
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
