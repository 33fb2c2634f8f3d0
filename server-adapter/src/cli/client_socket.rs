//! The connection of a command to a server.

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// The time within which an address must accept a connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Connects to the first address that accepts. The connection ends if the other machine is gone, however long a response may
/// take.
pub(crate) fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_MAX) {
            Ok(socket) => {
                #[cfg(unix)]
                probe_when_idle(&socket)?;
                return Ok(socket);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Makes the system probe an idle connection three times, after half a minute.
#[cfg(unix)]
fn probe_when_idle(socket: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    sockopt::set_socket_keepalive(socket, true)?;
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        sockopt::set_tcp_keepidle(socket, Duration::from_secs(30))?;
        sockopt::set_tcp_keepintvl(socket, Duration::from_secs(10))?;
        sockopt::set_tcp_keepcnt(socket, 3)?;
    }
    Ok(())
}
