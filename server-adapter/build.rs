//! Compresses for the binary: the OpenAPI document, to a tenth, the texts of the command, to an eighth, and the files of the console,
//! which browsers take as they are here.

use std::env::{var, var_os};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{Error, Result, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use sha2::{Digest as _, Sha256};

/// The folder of the shell completions and of the manual page.
const TEXTS: &str = "completions";
/// The page of the console, and the folder of what it loads; both below the folder of this crate.
const PAGE: &str = "console/index.html";
const FILES: &str = "console/app";

/// What the console is made of: the ends of names, with their content types.
const TYPES: [(&str, &str); 7] = [
    ("css", "text/css; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json; charset=utf-8"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain; charset=utf-8"),
];

/// The end of the names of type declarations, which no browser loads.
const TYPESCRIPT: &str = "ts";

fn main() -> Result<()> {
    let out = var_os("OUT_DIR").ok_or_else(|| Error::other("Cargo sets OUT_DIR"))?;
    let out = Path::new(&out);
    println!("cargo::rerun-if-changed=openapi.json");
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&fs::read("openapi.json")?)?;
    fs::write(out.join("openapi.json.deflate"), encoder.finish()?)?;
    println!("cargo::rerun-if-changed={TEXTS}");
    for entry in fs::read_dir(TEXTS)? {
        let (file, mut name) = (entry?.path(), OsString::new());
        name.push(file.file_name().unwrap_or_default());
        name.push(".gz");
        fs::write(out.join(name), gzip(&fs::read(file)?)?)?;
    }
    if var("CARGO_FEATURE_CONSOLE").is_ok() {
        console(out)?;
    }
    Ok(())
}

fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}

/// Writes `console.rs` into `out`, an array of `File`s, the page first, and beside it what the array includes.
fn console(out: &Path) -> Result<()> {
    // Of a folder Cargo looks at everything below it.
    println!("cargo::rerun-if-changed={PAGE}");
    println!("cargo::rerun-if-changed={FILES}");
    let mut files = vec![PathBuf::from(PAGE)];
    find(Path::new(FILES), &mut files)?;
    let mut table = format!("static FILES: [File; {}] = [\n", files.len());
    for (number, file) in files.iter().enumerate() {
        let content = match content_type(file)? {
            "text/javascript; charset=utf-8" | "text/css; charset=utf-8" => {
                without_comments(&fs::read_to_string(file)?).into_bytes()
            }
            _ => fs::read(file)?,
        };
        fs::write(out.join(format!("console-{number}.gz")), gzip(&content)?)?;
        let hash = Sha256::digest(&content).0;
        let hash = hash.first_chunk().copied().map_or(0, u64::from_be_bytes);
        // Proxies that compress or decompress keep a weak one.
        let tag = format!("W/\"{hash:016x}\"");
        let (path, content_type) = (address(file)?, content_type(file)?);
        writeln!(
            table,
            "File::new({path:?}, {content_type:?}, {tag:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/console-{number}.gz\"))),"
        )
        .map_err(Error::other)?;
    }
    table.push_str("];\n");
    fs::write(out.join("console.rs"), table)
}

/// The lines of a script or a style that a browser needs: comments that have lines of their own are a fifth of what would be sent. That
/// no text of a program looks like such a comment is held by the tests, which compare what is sent with the files.
fn without_comments(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut within = false;
    for line in source.lines() {
        let text = line.trim();
        // A notice of a licence begins with `/*!`. Behind a comment that ends within the line there is code.
        let end = text.find("*/").map(|at| at + 2);
        let begins = text.starts_with("/*") && !text.starts_with("/*!");
        if within || begins && end.is_none_or(|end| end == text.len()) {
            within = end.is_none();
        } else if !text.is_empty() && !text.starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Adds the files below `folder` that a browser may load to `files`, in an order that is always the same.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            find(&entry, files)?;
        } else if entry.extension().is_none_or(|end| end != TYPESCRIPT) {
            files.push(entry);
        }
    }
    Ok(())
}

/// The path that the server sends `file` at: `/app/main.js`.
fn address(file: &Path) -> Result<String> {
    let names = file.components().skip(1).map(|name| {
        let name = name.as_os_str().to_str().unwrap_or_default();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_plain = !name.starts_with('.') && !name.is_empty() && name.bytes().all(plain);
        let refused = || {
            Error::other(format!(
                "{}: a name has letters, digits, - _ and .",
                file.display()
            ))
        };
        is_plain.then(|| format!("/{name}")).ok_or_else(refused)
    });
    names.collect()
}

fn content_type(file: &Path) -> Result<&'static str> {
    let end = file.extension().unwrap_or_default();
    let found = TYPES.iter().find(|(name, _)| end == *name);
    let refused = || Error::other(format!("{}: of no type in TYPES", file.display()));
    found
        .map(|(_, content_type)| *content_type)
        .ok_or_else(refused)
}
