//! Reads the repository as text and holds what no compiler holds: floors, confined crates, sizes, names, documents, words.
//!
//! Every check is a function from files to violations, so its own test can plant one. Tables of what is allowed are in
//! the module of the check; change the table, with its reason, when the house changes.

mod checklists;
mod circles;
mod code;
mod dependencies;
mod documents;
mod floors;
mod language;
mod layout;
mod pages;
mod sizes;
mod tree;
mod words;

pub use checklists::checklists;
pub use circles::{CIRCLE_FREE, KNOWN_CIRCLES, KnownCircle, circles};
pub use code::code_of;
pub use dependencies::dependencies;
pub use documents::{decisions, readme_commands};
pub use floors::{FLOORS, floors};
pub use language::{REFUSED_NAMES, REPLACED, UNCHECKED, language, names};
pub use layout::{TOP_LEVEL, file_names, required_files, suites, top_level, unfinished};
pub use pages::{links, page_tables};
pub use sizes::{FILE_LINES_MAX, sizes};
pub use tree::{Source, Tree};
pub use words::{CONFINED, Confined, EXEMPT, Exempt, FORBIDDEN, confined, forbidden};
