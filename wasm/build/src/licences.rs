//! The licences of the crates that are compiled into the module.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Result;
use crate::toolchain::stdout_of;

/// The beginnings of the names of files with licences, in small letters.
const NAMES: [&str; 6] = [
    "licence",
    "license",
    "copying",
    "copyright",
    "notice",
    "unlicense",
];

const HEAD: &str = "deskfleet.wasm contains the crates below and Rust's standard library, which is licensed under MIT or Apache-2.0, \
    copyright the Rust Project contributors. The texts of the licences follow, each after the names of the crates that have it.\n\n";

/// A crate from a registry.
struct Crate {
    /// With the version.
    name: String,
    /// As an SPDX expression.
    license: String,
    folder: PathBuf,
}

/// Lists the crates from a registry whose manifests are among `manifests`, with the texts of their licences.
///
/// # Errors
///
/// A crate has no text of its licence or is not in Cargo's metadata, or Cargo cannot be run.
pub(crate) fn text(root: &Path, manifests: &BTreeSet<PathBuf>) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata = stdout_of(
        Command::new(cargo)
            .args(["metadata", "--locked", "--format-version=1"])
            .current_dir(root),
    )?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let crates = packages.into_iter().flatten().filter_map(from_registry);
    let mut compiled: Vec<Crate> = crates
        .filter(|each| manifests.contains(&each.folder.join("Cargo.toml")))
        .collect();
    let foreign = manifests.iter().filter(|each| !each.starts_with(root));
    if compiled.len() != foreign.count() {
        return Err("cargo's metadata lacks crates that were compiled".to_owned());
    }
    compiled.sort_by(|one, other| one.name.cmp(&other.name));
    listed(&compiled)
}

/// A package of the metadata; `None` for one of this repository.
fn from_registry(package: &Value) -> Option<Crate> {
    let text = |member| package.get(member)?.as_str();
    text("source")?;
    Some(Crate {
        name: format!("{} {}", text("name")?, text("version")?),
        license: text("license").unwrap_or("see its text").to_owned(),
        folder: Path::new(text("manifest_path")?).parent()?.to_owned(),
    })
}

fn listed(crates: &[Crate]) -> Result<String> {
    let mut list = HEAD.to_owned();
    // By the text without its line breaks: many crates have the same in other lines.
    let mut texts: BTreeMap<String, (String, Vec<&str>)> = BTreeMap::new();
    for Crate {
        name,
        license,
        folder,
    } in crates
    {
        list.extend(["- ", name, ": ", license, "\n"]);
        let files = licence_files(folder)?;
        if files.is_empty() {
            return Err(format!("{} has no text of its licence", folder.display()));
        }
        for file in files {
            let text = fs::read_to_string(&file)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let (_, holders) = texts.entry(words).or_insert((text, Vec::new()));
            holders.push(name);
        }
    }
    let rule = "-".repeat(80);
    for (text, holders) in texts.values() {
        let names = holders.join(", ");
        list.extend(["\n", &rule, "\n", &names, "\n", &rule, "\n\n"]);
        list.extend([text.trim_end(), "\n"]);
    }
    Ok(list)
}

fn licence_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if NAMES.iter().any(|begin| name.starts_with(begin)) && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crate_without_a_licence_text_is_refused() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let of = |folder: PathBuf| Crate {
            name: "one 1.0.0".to_owned(),
            license: "MIT".to_owned(),
            folder,
        };
        assert!(listed(&[of(folder.to_owned())]).is_err());
        let list = listed(&[of(folder.join("../.."))]).expect("the texts of this repository");
        assert!(list.contains("- one 1.0.0: MIT\n"), "{list}");
        assert_eq!(list.matches("\none 1.0.0\n").count(), 2, "{list}");
    }
}
