//! Runs every test there is: `cargo suite`. First those of the workspace, then the npm package is built and its tests run in
//! Node. A part that fails does not keep the next from running.

#![expect(clippy::print_stderr, reason = "a command says what it does")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What the tests of the npm package need of Node.
const NODE_MIN: u32 = 20;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let workspace = cargo(&root, &["test", "--workspace", "--all-features"]);
    let parts = [
        ("the workspace", run(workspace)),
        ("the npm package", npm_package(&root)),
    ];
    let mut code = ExitCode::SUCCESS;
    for (part, result) in parts {
        match result {
            Ok(()) => eprintln!("suite: {part} passes"),
            Err(said) => {
                eprintln!("suite: {part} fails: {said}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn npm_package(root: &Path) -> Result<(), String> {
    check_node()?;
    run(cargo(root, &["wasm"]))?;
    let tests = root.join("wasm/tests");
    if !installed(&tests) {
        run(within(&tests, "npm", &["ci", "--no-audit", "--no-fund"]))?;
    }
    // Without arguments, all files `*.test.mjs` below the folder.
    run(within(&tests, "node", &["--test"]))
}

/// Whether what `npm ci` installs is there, of the lock file as it is now.
fn installed(tests: &Path) -> bool {
    let modified = |name: &str| tests.join(name).metadata().and_then(|file| file.modified());
    let lock = modified("package-lock.json");
    let marker = modified("node_modules/.package-lock.json");
    match (lock, marker) {
        (Ok(lock), Ok(marker)) => marker >= lock,
        (Err(_), _) => true,
        (Ok(_), Err(_)) => false,
    }
}

fn check_node() -> Result<(), String> {
    let missing = || format!("it needs Node {NODE_MIN} or newer, with npm, on the PATH");
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|_| missing())?;
    let version = String::from_utf8_lossy(&output.stdout);
    let major = version.trim().trim_start_matches('v').split('.').next();
    match major.and_then(|major| major.parse::<u32>().ok()) {
        Some(major) if major >= NODE_MIN => Ok(()),
        _ => Err(format!("{}; here is {}", missing(), version.trim())),
    }
}

fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root);
    command
}

fn within(folder: &Path, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command
}

/// Runs a command; what it prints goes where ours does.
fn run(mut command: Command) -> Result<(), String> {
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("suite: {shown}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}
