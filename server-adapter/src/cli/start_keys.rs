//! The API keys that a server needs at its start.

use std::net::SocketAddr;
use std::path::Path;

use deskfleet::{Engine, NewKey, Scope};

use super::failure::Failure;
use super::output::{data, flush_log, log};
use super::systemd;

/// The location of the keys of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyPlace<'a> {
    /// The file of the store, `None` for memory.
    pub(crate) file: Option<&'a Path>,
    /// Whether the server is a node of a fleet, which has the keys in its log.
    pub(crate) is_node: bool,
    /// Whether it has credentials for the log.
    pub(crate) has_credentials: bool,
}

/// A server that other machines can reach, or whose standard output is the journal, needs a key that can be used, issued before the
/// start: the first key must not end up in the log of a service.
pub(crate) fn require(
    has_key: bool,
    address: SocketAddr,
    place: KeyPlace<'_>,
) -> Result<(), Failure> {
    let reason = if has_key {
        return Ok(());
    } else if !address.ip().to_canonical().is_loopback() {
        format!("{address} can be reached by other machines")
    } else if place.file.is_some() && systemd::stdout_is_the_journal() {
        "the journal is no place to print a first key".to_owned()
    } else {
        return Ok(());
    };
    let advice = match place.file {
        Some(file) => format!("Issue one first:\n  {}", command(file, place)),
        None => format!(
            "A store in memory has none: listen on 127.0.0.1:{}.",
            address.port()
        ),
    };
    Err(Failure(format!(
        "{reason}, and the store has no API key. {advice}"
    )))
}

fn command(file: &Path, place: KeyPlace<'_>) -> String {
    let log = match (place.is_node, place.has_credentials) {
        (false, _) => "",
        (true, false) => " --set cluster.log=URL",
        (true, true) => " --set cluster.log=URL --set cluster.log_credentials=FILE",
    };
    let create = if place.is_node || file.exists() {
        ""
    } else {
        " --create"
    };
    let file = file.display();
    format!("deskfleet keys issue --name admin --scope admin --data {file}{create}{log}")
}

/// On a store without keys: an admin key, shown once. It goes to standard output, away from the access log. It is a key only
/// after it was shown: a start that ends before leaves a store without keys, and the next one shows another. Where keys exist and
/// none administers, the log says how to make one. Returns whether there is a key that was shown.
pub(crate) fn issue_first(
    engine: &Engine,
    origin: &str,
    place: KeyPlace<'_>,
) -> Result<bool, Failure> {
    let (keys, now) = (engine.keys(), engine.now());
    if !keys.is_empty() {
        let administers = keys.iter().any(|key| {
            let live = key.revoked.is_none() && key.expires.is_none_or(|expires| now < expires);
            live && key.scopes.grant(Scope::Admin)
        });
        if let Some(file) = place.file.filter(|_| !administers) {
            log!(
                "The store has no key of the scope admin that can be used. To issue one, stop the server and run:\n  {}",
                command(file, place)
            );
        }
        return Ok(false);
    }
    let key = NewKey::new("admin", [Scope::Admin]);
    log!("The store's first key, for everything but ingest. It is shown only now; to try it:");
    flush_log();
    let issued = engine.issue_key_shown(key, |secret| {
        data(secret)?;
        data(format_args!(
            "curl -H 'X-Api-Key: {secret}' {origin}/api/Information/GetAllWorkSpaces"
        ))
    });
    if issued.is_err() && !engine.keys().is_empty() {
        log!("That is no key: another node that starts now has issued the first one.");
        return Ok(false);
    }
    issued?;
    Ok(true)
}
