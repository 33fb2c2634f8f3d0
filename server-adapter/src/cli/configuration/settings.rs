//! The settings of the command, each declared once: here, in the server's options, and in the engine's configuration.

use std::net::ToSocketAddrs as _;
use std::path::PathBuf;

use deskfleet::settings::Form;
use deskfleet::{CommitDriver, CommitPhases, Config, settings};
use deskfleet_server::ServerOptions;

/// Connections at once by default: room for a thousand slow ones and everyone else. Each may hold a head of 64 KiB.
const CONNECTIONS_MAX: usize = 4096;

settings! {
    /// The settings of the command.
    #[derive(Debug, Clone)]
    pub(crate) struct Settings {
        /// The file of the store, seen from the folder of the process; with none everything is in memory, and gone at the end.
        pub(crate) data: Option<PathBuf> = Some(PathBuf::from("deskfleet.redb"));
        /// The folder for the copies of the store that SIGUSR1 and `POST /operator/backups` ask for.
        pub(crate) backups: Option<PathBuf> = None;
        /// Address and port to listen on; one that other machines can reach needs a key in the store first.
        pub(crate) listen: String as "server.listen" = "127.0.0.1:8080".to_owned(),
            Form::Text("an address and port such as \"127.0.0.1:8080\"", is_address);
        /// The options of the server.
        pub(crate) server: ServerOptions = server();
        /// The configuration of the engine.
        pub(crate) engine: Config as "" = engine();
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
    pub(super) fn unfit(&self) -> Option<(&'static str, &'static str)> {
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
        None
    }
}
