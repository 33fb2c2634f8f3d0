//! `cargo suite`: runs all tests. First those of the workspace; then it builds the npm package and runs its tests in Node, which
//! starts the other runtimes. Each part runs even if one before it fails.

#![expect(clippy::print_stderr, reason = "a command says what it does")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Builds the npm package.
const WASM_BUILD: &str = "deskfleet-wasm-build";

/// The tests of the npm package need this version of Node.
const NODE_MIN: u32 = 20;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    // Suites that start servers wait more than they work.
    let threads = (2 * processors).to_string();
    let test = |of: &[&str]| {
        let arguments = [&["test", "--all-features", "--no-fail-fast"], of].concat();
        let mut test = cargo(&root, &arguments);
        if std::env::var_os("RUST_TEST_THREADS").is_none() {
            test.env("RUST_TEST_THREADS", &threads);
        }
        run(test)
    };
    let mut skipped = String::new();
    // What builds the npm package is compiled alone, with the features that `cargo wasm` compiles it with, so that it is compiled once.
    let parts = [
        (
            "the workspace",
            test(&["--workspace", "--exclude", WASM_BUILD]),
        ),
        (
            "the builder of the npm package",
            test(&["--package", WASM_BUILD]),
        ),
        ("the npm package", npm_package(&root, &mut skipped)),
    ];
    let mut code = ExitCode::SUCCESS;
    for (part, result) in parts {
        match result {
            Ok(()) => eprintln!("suite: {part} passes"),
            Err(reason) => {
                eprintln!("suite: {part} fails: {reason}");
                code = ExitCode::FAILURE;
            }
        }
    }
    for line in skipped.lines() {
        eprintln!("suite: {line}");
    }
    code
}

/// Builds the package and runs its tests. Writes to `skipped` how many were skipped and the commands that install what they need.
fn npm_package(root: &Path, skipped: &mut String) -> Result<(), String> {
    check_node()?;
    run(cargo(root, &["wasm"]))?;
    let tests = root.join("wasm/tests");
    if !is_installed(&tests) {
        let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        run(command_in(&tests, "npm", &install))?;
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let transcripts = folder.path().join("transcripts");
    write_transcripts(&transcripts)?;
    let report = folder.path().join("skipped");
    // Node leaves one processor free by default, which is half of two; a browser waits more than it works.
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let at_once = format!("--test-concurrency={}", (processors - 1).max(2));
    // Without file names, Node runs all files `*.test.mjs` below the folder.
    let mut node = command_in(
        &tests,
        "node",
        &[
            "--test",
            &at_once,
            "--test-reporter=spec",
            "--test-reporter-destination=stdout",
        ],
    );
    node.arg("--test-reporter=./skipped.mjs");
    node.arg(format!("--test-reporter-destination={}", report.display()));
    node.env("DESKFLEET_TRANSCRIPTS", &transcripts);
    let result = run(node);
    *skipped = std::fs::read_to_string(&report).unwrap_or_default();
    result
}

/// Writes what the engine answers, with which that of the package is compared, by the example that the tests of the workspace have built.
fn write_transcripts(folder: &Path) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let example = program.with_file_name("examples").join("write_transcripts");
    let mut write = Command::new(example.with_extension(std::env::consts::EXE_EXTENSION));
    write.arg(folder);
    run(write)
}

/// Whether `npm ci` has run since the lock file changed.
fn is_installed(tests: &Path) -> bool {
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
    let missing = || format!("install Node {NODE_MIN} or newer with npm, and put it on the PATH");
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|_| missing())?;
    let version = String::from_utf8_lossy(&output.stdout);
    let major = version.trim().trim_start_matches('v').split('.').next();
    match major.and_then(|major| major.parse::<u32>().ok()) {
        Some(major) if major >= NODE_MIN => Ok(()),
        _ => Err(format!("{}; this is {}", missing(), version.trim())),
    }
}

fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root);
    command
}

fn command_in(folder: &Path, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command
}

/// Runs a command with inherited standard output and error.
fn run(mut command: Command) -> Result<(), String> {
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("suite: {shown}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}
