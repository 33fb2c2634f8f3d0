//! The command `deskfleet-provider`.

use std::process::ExitCode;

fn main() -> ExitCode {
    deskfleet_provider::main(std::env::args_os().skip(1))
}
