//! Runs every test there is: `cargo suite`. First those of the workspace, then the npm package is built and its tests run, in
//! Node and in the runtimes that Node starts. A part that fails does not keep the next from running.

#![expect(clippy::print_stderr, reason = "a command says what it does")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use deskfleet_tests::conformance::transcript::write_all;

/// What the tests of the npm package need of Node.
const NODE_MIN: u32 = 20;
const BROWSERS: [Browser; 2] = [
    Browser {
        package: "chromium",
        places: &[
            "/usr/bin/chromium",
            "/usr/bin/chromium-browser",
            "/usr/bin/google-chrome",
        ],
        variable: "DESKFLEET_CHROMIUM",
    },
    Browser {
        package: "firefox-esr",
        places: &["/usr/bin/firefox-esr", "/usr/bin/firefox"],
        variable: "DESKFLEET_FIREFOX",
    },
];
/// With the value `debian`, what is missing is installed from Debian's packages; see `wasm/README.md`.
const TOOLCHAIN: &str = "DESKFLEET_WASM_TOOLCHAIN";

struct Browser {
    /// What Debian calls it.
    package: &'static str,
    places: &'static [&'static str],
    /// Names one of its kind that is elsewhere.
    variable: &'static str,
}

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
        let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        run(within(&tests, "npm", &install))?;
    }
    for browser in &BROWSERS {
        browser.find();
    }
    let transcripts = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    write_all(transcripts.path()).map_err(|error| format!("no transcripts: {error}"))?;
    // Without names, all files `*.test.mjs` below the folder.
    let mut node = within(&tests, "node", &["--test", "--test-reporter=spec"]);
    node.env("DESKFLEET_TRANSCRIPTS", transcripts.path());
    run(node)
}

impl Browser {
    fn is_there(&self) -> bool {
        std::env::var_os(self.variable).is_some()
            || self.places.iter().any(|place| Path::new(place).exists())
    }

    /// Sees to it: without it its tests are skipped, or fail where all runtimes are required.
    fn find(&self) {
        if self.is_there() {
            return;
        }
        let Self {
            package, variable, ..
        } = self;
        if std::env::var(TOOLCHAIN).is_ok_and(|choice| choice == "debian") {
            let install = ["install", "--yes", "--no-install-recommends", package];
            // A fresh machine has no lists of packages yet.
            let _ = apt(&install)
                .or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
                .inspect_err(|said| eprintln!("suite: {said}"));
        }
        if !self.is_there() {
            eprintln!(
                "suite: {package} is not installed, so the tests in it cannot run. On Debian, as root:\n\n    apt-get install \
                 {package}\n\nor name another browser of its kind in {variable}."
            );
        }
    }
}

fn apt(arguments: &[&str]) -> Result<(), String> {
    let mut apt = Command::new("apt-get");
    apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    apt.stdout(Stdio::null());
    run(apt)
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
