//! The console: a web page for operators, and its sign-in. `console/README.md` describes the page.

pub(crate) mod codes;
pub(crate) mod files;
pub(crate) mod session;
