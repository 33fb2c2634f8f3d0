//! What the system says of the machine.

/// The name of this machine, as the system has it; empty where it has none.
#[must_use]
pub fn machine_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    name
}
