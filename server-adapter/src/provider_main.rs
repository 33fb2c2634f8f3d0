//! The command `deskfleet-provider`: makes the actions happen that a server has accepted.
//!
//! Human text goes to standard error, data to standard output. Exit codes: 0 done, 1 failed, 2 wrong usage.

use std::process::ExitCode;

fn main() -> ExitCode {
    deskfleet_server::provider::main(std::env::args_os().skip(1))
}
