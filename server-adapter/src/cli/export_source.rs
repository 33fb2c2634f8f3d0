//! Where an export reads, and why one ends early.

use std::io;

use deskfleet::Engine;

use super::client::Client;
use super::configuration::Configuration;
use super::failure::Failure;
use super::server_args::ServerArgs;
use super::store::open_read_only;

const WHEN_LOCKED: &str =
    "If that is a running server, export through it: --url http://HOST:PORT --key-file FILE";

/// Where the rows come from.
pub(super) enum Source {
    Store(Engine),
    Server(Box<Client>),
}

impl Source {
    pub(super) fn open(
        server: &ServerArgs,
        configuration: &Configuration,
    ) -> Result<Self, Failure> {
        Ok(match &server.url {
            Some(url) => Self::Server(Client::new(url.clone(), server)?.into()),
            None => Self::Store(open_read_only(configuration, WHEN_LOCKED)?),
        })
    }
}

/// Why an export ended before its last row.
pub(super) enum Unwritten {
    Rows(Failure),
    Output(io::Error),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
