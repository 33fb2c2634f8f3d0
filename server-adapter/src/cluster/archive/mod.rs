//! An archive of the log in a folder: the files, what writes them and what reads them.

mod archiver;
mod file;
mod folder;
mod reading;
#[cfg(test)]
mod tests;
mod writing;

pub use archiver::{Archive, ArchiveThread};
pub use file::ArchiveError;
pub use reading::ArchiveLog;
