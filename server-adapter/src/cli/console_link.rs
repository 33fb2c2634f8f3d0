//! The link that signs a browser in to the console.

use deskfleet_server::ServerHandle;

use super::failure::Failure;
use super::output::{data, flush_log, log};

/// Prints a link with a new one-time code, on standard output as a first key is, away from the access log.
pub(crate) fn print(server: &ServerHandle, origin: &str) -> Result<(), Failure> {
    let code = server.console_code();
    let code = code.map_err(|error| Failure::caused("cannot make a code", &error))?;
    log!(
        "To sign in to the console, open this link in a browser within 30 minutes. It works once:"
    );
    flush_log();
    data(format_args!("Console: {origin}/#code={code}"))
}
