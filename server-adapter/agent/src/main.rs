//! The command `deskfleet-agent`.

use std::process::ExitCode;

fn main() -> ExitCode {
    deskfleet_agent::main(std::env::args_os())
}
