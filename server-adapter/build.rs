//! Compresses for the binary: the OpenAPI document, to a tenth, the texts of the command, to an eighth, and the files of the console,
//! which browsers take so.

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
/// The page of the console, and the folder of what it loads; both below the folder of this crate. `console/README.md` says how they are made.
const PAGE: &str = "console/dist/index.html";
const FILES: &str = "console/dist/app";

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
        let content = fs::read(file)?;
        fs::write(out.join(format!("console-{number}.gz")), gzip(&content)?)?;
        let hash = Sha256::digest(&content).0;
        let hash = hash.first_chunk().copied().map_or(0, u64::from_be_bytes);
        // Proxies that compress or decompress keep a weak one.
        let tag = format!("W/\"{hash:016x}\"");
        let (path, content_type, kept) = (address(file)?, content_type(file)?, has_hash(file));
        writeln!(
            table,
            "File::new({path:?}, {content_type:?}, {tag:?}, {kept}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/console-{number}.gz\"))),"
        )
        .map_err(Error::other)?;
    }
    table.push_str("];\n");
    fs::write(out.join("console.rs"), table)
}

/// Whether the name of `file` ends with a hash of its content, as `wasm/tests/console/bundle.mjs` names it: `main-1fa9751c.js`.
fn has_hash(file: &Path) -> bool {
    let name = file.file_stem().and_then(|stem| stem.to_str());
    let hash = name.and_then(|name| name.rsplit_once('-'));
    hash.is_some_and(|(_, hash)| hash.len() == 8 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Adds the files below `folder` to `files`, in an order that is always the same.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            find(&entry, files)?;
        } else {
            files.push(entry);
        }
    }
    Ok(())
}

/// The path that the server sends `file` at: `/app/main.js`.
fn address(file: &Path) -> Result<String> {
    let names = file.components().skip(2).map(|name| {
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
