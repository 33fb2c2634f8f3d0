//! The files of the repository.

use std::fs;
use std::io;
use std::path::Path;

use super::code::code_of;

/// Folders that hold nothing of ours, or what is made of other files.
const SKIPPED: [&str; 7] = [
    "target",
    ".git",
    "node_modules",
    "pkg",
    "artifacts",
    "coverage",
    "dist",
];
/// Files read as text; everything in `.ci/` is read too.
const TEXT: [&str; 9] = [
    "rs", "md", "toml", "lock", "js", "mjs", "ts", "json", "html",
];

/// One text file.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// The text as it is.
    pub text: String,
    /// Of a Rust file, the text without comments and literals.
    pub code: String,
}

impl Source {
    /// A file that stands only in a test.
    #[must_use]
    pub fn planted(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code: if extension_of(path) == Some("rs") {
                code_of(text)
            } else {
                String::new()
            },
        }
    }

    /// Whether this is a Rust file.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        !self.code.is_empty()
    }
}

/// The text files of the repository and the names in its root.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The text files, in the order of their paths.
    pub files: Vec<Source>,
    /// What lies in the root.
    pub top_level: Vec<String>,
}

impl Tree {
    /// A tree that stands only in a test: paths with their texts.
    #[must_use]
    pub fn planted(files: &[(&str, &str)]) -> Self {
        let planted = |(path, text): &(&str, &str)| Source::planted(path, text);
        Self {
            files: files.iter().map(planted).collect(),
            top_level: Vec::new(),
        }
    }

    /// Reads the repository this crate belongs to.
    ///
    /// # Errors
    /// When a folder or a file cannot be read, or a text file is not UTF-8.
    pub fn of_this_repository() -> io::Result<Self> {
        Self::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
    }

    /// Reads the repository at `root`.
    ///
    /// # Errors
    /// When a folder or a file cannot be read, or a text file is not UTF-8.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.visit(root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        tree.top_level.sort();
        Ok(tree)
    }

    fn visit(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if prefix.is_empty() {
                self.top_level.push(name.clone());
            }
            if entry.file_type()?.is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    self.visit(&entry.path(), &format!("{path}/"))?;
                }
            } else if is_text(&path) {
                let text = fs::read_to_string(entry.path())?;
                self.files.push(Source::planted(&path, &text));
            }
        }
        Ok(())
    }

    /// The file at `path`.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&Source> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.is_rust())
    }
}

fn is_text(path: &str) -> bool {
    path.starts_with(".ci/")
        || extension_of(path).is_some_and(|extension| TEXT.contains(&extension))
}

pub(super) fn extension_of(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(_, extension)| extension)
}
