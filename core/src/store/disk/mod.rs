//! The files of a store and what is beside them: the medium that redb writes to, who may write there, and what is kept for damage.

pub mod backends;
pub(crate) mod damage;
pub(super) mod file;
mod file_of_process;
pub(super) mod folder;
pub(super) mod medium;
pub(super) mod reserve;
mod watch;
