//! The options that name a running server.

use std::path::PathBuf;

use clap::Args;

use super::server_url::ServerUrl;

/// The running server of a command that can do without the file of a store.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct ServerArgs {
    /// Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    pub(crate) url: Option<ServerUrl>,
    /// The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) key_file: Option<PathBuf>,
}
