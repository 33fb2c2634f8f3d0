//! Who may read the spool: it has names of users and of processes.

use std::io;
use std::path::Path;

/// Lets only the owner into a folder.
#[cfg(unix)]
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    set_mode(folder, 0o700)
}

/// Lets the agent read a file that root has put into its folder.
#[cfg(unix)]
pub(crate) fn make_readable(file: &Path) -> io::Result<()> {
    set_mode(file, 0o644)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

/// Files have the rights of the folder that they are made in.
#[cfg(not(unix))]
pub(crate) fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Files have the rights of the folder that they are made in.
#[cfg(not(unix))]
pub(crate) fn make_readable(_: &Path) -> io::Result<()> {
    Ok(())
}
