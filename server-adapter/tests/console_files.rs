//! The files of the console as they are written: nothing is loaded from elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/console");

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(FOLDER).join(file)).unwrap()
}

/// Every file of the console, from its folder.
fn files() -> Vec<String> {
    fn find(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap().path();
            if entry.is_dir() {
                find(&entry, found);
            } else {
                found.push(entry);
            }
        }
    }
    let mut found = vec![Path::new(FOLDER).join("index.html")];
    find(&Path::new(FOLDER).join("app"), &mut found);
    let relative = found.iter().map(|file| file.strip_prefix(FOLDER).unwrap());
    relative
        .map(|file| file.to_str().unwrap().to_owned())
        .collect()
}

fn is_of(file: &str, extension: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|its| its == extension)
}

/// The lines of a script or a style that are not within a comment of their own.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| {
        let line = line.trim_start();
        !["//", "/*", "*", "<!--"]
            .iter()
            .any(|mark| line.starts_with(mark))
    })
}

#[test]
fn files_name_no_other_origin() {
    for file in files() {
        if is_of(&file, "png") {
            continue;
        }
        let text = read(&file);
        for line in code(&text) {
            // The names of namespaces, which nothing loads.
            let line = line.replace("http://www.w3.org/", "");
            for forbidden in ["http://", "https://", "\"//", "url(//"] {
                assert!(!line.contains(forbidden), "{file}: {line}");
            }
        }
    }
}

/// The server has them below `/`, the npm package in its own folder.
#[test]
fn addresses_are_relative() {
    for file in files() {
        if is_of(&file, "html") || is_of(&file, "css") {
            let text = read(&file);
            for absolute in ["href=\"/", "src=\"/", "url(/", "url(\"/"] {
                assert!(!text.contains(absolute), "{file}: {absolute}");
            }
        }
    }
}
