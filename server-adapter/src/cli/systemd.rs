//! The service manager systemd: notifications to it (`sd_notify`), and the socket that it hands over (socket activation).

use std::io;
use std::net::TcpListener;

/// Reports `state`, such as `READY=1`, to the service manager that started this process; without one it does nothing.
#[cfg(target_os = "linux")]
pub(crate) fn notify(state: &str) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else {
        return Ok(());
    };
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(abstract_name) => SocketAddr::from_abstract_name(abstract_name)?,
        None => SocketAddr::from_pathname(&name)?,
    };
    let sent = UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    debug_assert_eq!(sent, state.len(), "a datagram is sent whole");
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn notify(_state: &str) -> io::Result<()> {
    Ok(())
}

/// Whether standard output is the journal, which many users can read.
#[cfg(target_os = "linux")]
pub(crate) fn stdout_is_the_journal() -> bool {
    let Ok(about) = rustix::fs::fstat(io::stdout()) else {
        return false;
    };
    // Processes far below a service have the variable too, and another standard output.
    std::env::var_os("JOURNAL_STREAM")
        .is_some_and(|journal| journal == *format!("{}:{}", about.st_dev, about.st_ino))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn stdout_is_the_journal() -> bool {
    false
}

/// The listening socket that the service manager opened for this process, if it did. Call it before there are threads: it takes
/// variables out of the environment.
pub(crate) fn listener() -> io::Result<Option<TcpListener>> {
    let listener = listenfd::ListenFd::from_env().take_tcp_listener(0)?;
    if let Some(listener) = &listener {
        listener.set_nonblocking(true)?;
    }
    Ok(listener)
}
