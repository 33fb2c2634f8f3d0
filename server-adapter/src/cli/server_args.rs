//! The options that name a running server.

use clap::Args;

use super::client::Client;
use super::client_files::ClientFiles;
use super::failure::Failure;
use super::server_url::ServerUrl;

/// The running server of a command that can do without the file of a store.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct ServerArgs {
    /// Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    pub(crate) url: Option<ServerUrl>,
    #[command(flatten)]
    pub(crate) files: ClientFiles,
}

impl ServerArgs {
    /// A client of the server; `None` where the command is to use a file.
    pub(crate) fn client(&self) -> Result<Option<Client>, Failure> {
        let url = self.url.clone();
        url.map(|url| Client::new(url, &self.files)).transpose()
    }
}

/// The node that is asked.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct NodeArgs {
    /// The address of a node of the fleet, such as `http://127.0.0.1:8080`
    #[arg(long, value_name = "URL")]
    pub(crate) url: ServerUrl,
    #[command(flatten)]
    pub(crate) files: ClientFiles,
}
