//! The files of a store: the medium of redb, the checks of who may write, the reserve, and the file for damaged blocks.

pub mod backends;
pub(crate) mod damage;
pub(crate) mod file;
pub(crate) mod file_of_process;
pub(super) mod folder;
pub(super) mod medium;
pub(super) mod reserve;
mod watch;
