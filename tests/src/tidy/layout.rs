//! What may lie where: names of files, the root of the repository, unfinished work.

use super::tree::{Source, Tree, extension_of};

/// What may lie in the root. What git ignores is not looked at.
pub const TOP_LEVEL: &[&str] = &[
    ".cargo",
    ".ci",
    ".clippy.toml",
    ".config",
    ".git",
    ".gitattributes",
    ".github",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "RELEASING.md",
    "benches",
    "core",
    "fuzz",
    "rustfmt.toml",
    "server-adapter",
    "tests",
    "wasm",
];

/// Names that say nothing about what is inside.
const NAMELESS: [&str; 6] = ["util", "utils", "helper", "helpers", "common", "misc"];

/// The packages whose suites are one program each.
const PACKAGES_WITH_SUITES: [&str; 6] = [
    "tests",
    "server-adapter",
    "server-adapter/agent",
    "server-adapter/log-nats",
    "server-adapter/log-postgres",
    "server-adapter/provider",
];

/// Files without which the repository does not work.
const REQUIRED: [&str; 8] = [
    "Cargo.lock",
    "README.md",
    "CHANGELOG.md",
    ".ci/run",
    "core/docs/architecture.md",
    "core/docs/decisions.md",
    "core/docs/extending.md",
    "fuzz/Cargo.lock",
];

/// Entries of the root that are not on the list.
#[must_use]
pub fn top_level(names: &[String]) -> Vec<String> {
    let ignored = |name: &str| {
        name == "target" || name == "node_modules" || extension_of(name) == Some("redb")
    };
    names
        .iter()
        .filter(|name| !TOP_LEVEL.contains(&name.as_str()) && !ignored(name))
        .map(|name| format!("{name}: not on the list of the root; see TOP_LEVEL"))
        .collect()
}

/// Rust files, and folders of them, whose name says nothing.
#[must_use]
pub fn file_names(files: &[Source]) -> Vec<String> {
    let nameless = |path: &str| {
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        stem.split('/').any(|name| NAMELESS.contains(&name))
    };
    files
        .iter()
        .filter(|file| file.is_rust() && nameless(&file.path))
        .map(|file| format!("{}: name it after what it does", file.path))
        .collect()
}

/// Marks of unfinished work. They are spelt in two halves here, or this file would be caught.
#[must_use]
pub fn unfinished(files: &[Source]) -> Vec<String> {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
    ];
    let macros = [concat!("to", "do!"), concat!("unimpl", "emented!")];
    let mut violations = Vec::new();
    for file in files
        .iter()
        .filter(|file| extension_of(&file.path) != Some("lock"))
    {
        for (index, line) in file.text.lines().enumerate() {
            let marked = line
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| words.contains(&word));
            let stubbed = file.is_rust() && macros.iter().any(|name| line.contains(name));
            if marked || stubbed {
                violations.push(format!(
                    "{}:{}: finish it, or write an issue",
                    file.path,
                    index + 1
                ));
            }
        }
    }
    violations
}

/// Files that are missing.
#[must_use]
pub fn required_files(tree: &Tree) -> Vec<String> {
    REQUIRED
        .iter()
        .filter(|path| tree.file(path).is_none())
        .map(|path| format!("{path}: missing"))
        .collect()
}

/// Suites that no program has: they would never run.
#[must_use]
pub fn suites(files: &[Source]) -> Vec<String> {
    let named = |path: &str, line: &str| {
        let file = files.iter().find(|file| file.path == path);
        file.is_some_and(|file| file.text.lines().any(|found| found == line))
    };
    let of_file = |file: &Source, package: &str| {
        let folder = format!("{package}/tests/");
        let name = file.path.strip_prefix(&folder)?;
        let suite = name
            .strip_suffix(".rs")
            .filter(|name| !name.contains('/'))?;
        let program = format!("{folder}main.rs");
        let runs = suite == "main"
            || named(&program, &format!("mod {suite};"))
            || named(
                &format!("{package}/Cargo.toml"),
                &format!("path = \"tests/{name}\""),
            );
        (!runs).then(|| format!("{}: in no program; add it to {program}", file.path))
    };
    let of_file = |file| {
        PACKAGES_WITH_SUITES
            .into_iter()
            .find_map(|package| of_file(file, package))
    };
    files.iter().filter_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_folder_is_caught() {
        let names = ["core", "target", "deskfleet.redb", "scripts"].map(String::from);
        assert_eq!(top_level(&names).len(), 1);
    }

    #[test]
    fn a_planted_name_that_says_nothing_is_caught() {
        let planted = |path| file_names(&[Source::planted(path, "mod a;")]).len();
        assert_eq!(planted("core/src/store/helpers.rs"), 1);
        assert_eq!(planted("core/src/common/mod.rs"), 1);
        assert_eq!(planted("core/src/store/utility_of_records.rs"), 0);
    }

    #[test]
    fn a_planted_mark_of_unfinished_work_is_caught() {
        for text in [
            concat!("// TO", "DO: later"),
            concat!("fn f() { to", "do!() }"),
            concat!("// FIX", "ME"),
        ] {
            assert_eq!(
                unfinished(&[Source::planted("a.rs", text)]).len(),
                1,
                "{text}"
            );
        }
        assert!(unfinished(&[Source::planted("a.rs", "// a method for XXXL desktops")]).is_empty());
    }

    #[test]
    fn a_suite_that_no_program_has_is_caught() {
        let mut files = vec![
            Source::planted("tests/tests/main.rs", "mod a;"),
            Source::planted("tests/tests/a.rs", "#[test]"),
            Source::planted("tests/tests/b.rs", "#[test]"),
        ];
        assert_eq!(suites(&files).len(), 1);
        files.push(Source::planted("tests/Cargo.toml", "path = \"tests/b.rs\""));
        assert!(suites(&files).is_empty());
        files.push(Source::planted("server-adapter/tests/a.rs", "#[test]"));
        assert_eq!(suites(&files).len(), 1);
    }

    #[test]
    fn a_missing_file_is_caught() {
        assert_eq!(required_files(&Tree::default()).len(), REQUIRED.len());
    }
}
