//! Syncing the folder of a file.

use std::fs::File;
use std::io;
use std::path::Path;

/// The folder of a file.
#[must_use]
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes a new name in the folder of `file` durable, if the system supports that.
///
/// # Errors
/// Those of syncing the folder.
pub fn sync_folder_of(file: &Path) -> io::Result<()> {
    let synced = File::open(folder_of(file)).map_or(Ok(()), |folder| folder.sync_all());
    match synced.as_ref().map_err(io::Error::kind) {
        Err(io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => Ok(()),
        Ok(()) | Err(_) => synced,
    }
}
