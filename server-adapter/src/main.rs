//! The command `deskfleet`: serves a store, and looks after its file.
//!
//! Human text goes to standard error, data to standard output. Exit codes: 0 done, 1 failed, 2 wrong usage.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os().skip(1))
}
