//! Licences and sources of all dependencies, as `.ci/deny.toml` allows them: what cargo-deny checks too, without compiling it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use spdx::{Expression, LicenseReq, ParseMode};

/// What is read of `.ci/deny.toml`.
#[derive(Debug, Deserialize)]
struct Rules {
    licenses: Licenses,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

/// What is read of `cargo metadata`.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// One package that Cargo's lock file names.
#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    license: Option<String>,
    /// Absent for packages of this repository.
    source: Option<String>,
    dependencies: Vec<Requirement>,
}

#[derive(Debug, Deserialize)]
struct Requirement {
    name: String,
    req: String,
    /// Present for a package in this repository.
    path: Option<String>,
}

/// Dependencies of the workspace whose manifest is `manifest` with a licence that `rules`, the text of `.ci/deny.toml`, does not allow,
/// from elsewhere than the registry of packages, or of any version.
///
/// # Errors
///
/// Says what cannot be run or read.
pub fn dependencies(manifest: &Path, rules: &str) -> Result<Vec<String>, String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--locked",
            "--all-features",
            "--format-version=1",
        ])
        .arg("--manifest-path")
        .arg(manifest)
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    violations(&String::from_utf8_lossy(&output.stdout), rules)
}

fn violations(metadata: &str, rules: &str) -> Result<Vec<String>, String> {
    let metadata: Metadata = serde_json::from_str(metadata).map_err(|error| error.to_string())?;
    let rules: Rules = toml::from_str(rules).map_err(|error| error.to_string())?;
    let allowed = rules.licenses.allow;
    // That of most packages: a second one is reported.
    let registry = most_common(metadata.packages.iter().filter_map(|of| of.source.as_ref()));
    let mut found = Vec::new();
    for package in &metadata.packages {
        let name = &package.name;
        match &package.source {
            Some(source) if source.starts_with("registry+") && Some(source) == registry => {}
            Some(source) => found.push(format!("{name} comes from {source}")),
            None => found.extend(
                package
                    .dependencies
                    .iter()
                    .filter(|needed| needed.req == "*" && needed.path.is_none())
                    .map(|needed| format!("{name} needs {} of any version", needed.name)),
            ),
        }
        // Older packages write `/` for `OR`.
        let license = package.license.as_deref().unwrap_or_default();
        let is_allowed = |needed: &LicenseReq| allowed.contains(&needed.to_string());
        if !Expression::parse_mode(license, ParseMode::LAX)
            .is_ok_and(|known| known.evaluate(is_allowed))
        {
            found.push(format!("{name} has the licence \"{license}\""));
        }
    }
    Ok(found)
}

fn most_common<'a>(sources: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut counts = BTreeMap::new();
    for source in sources {
        *counts.entry(source).or_insert(0) += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(source, _)| source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(package: &str) -> usize {
        let metadata = format!("{{\"packages\": [{package}]}}");
        let rules = "[licenses]\nallow = [\"MIT\", \"Apache-2.0 WITH LLVM-exception\"]";
        violations(&metadata, rules).expect("valid metadata").len()
    }

    #[test]
    fn dependency_without_an_allowed_licence_or_source_is_reported() {
        let registry = "\"source\": \"registry+https://example.org\"";
        for (members, reported) in [
            (
                format!("\"license\": \"MIT OR GPL-3.0-only\", {registry}"),
                0,
            ),
            (
                format!("\"license\": \"Apache-2.0 WITH LLVM-exception\", {registry}"),
                0,
            ),
            (
                format!("\"license\": \"MIT AND GPL-3.0-only\", {registry}"),
                1,
            ),
            (format!("\"license\": \"Apache-2.0\", {registry}"), 1),
            (format!("\"license\": null, {registry}"), 1),
            (
                "\"license\": \"MIT\", \"source\": \"git+https://example.org\"".to_owned(),
                1,
            ),
        ] {
            let package = format!("{{\"name\": \"planted\", {members}, \"dependencies\": []}}");
            assert_eq!(count(&package), reported, "{package}");
        }
    }

    #[test]
    fn dependency_from_a_second_registry_is_reported() {
        let package = |host: &str| {
            format!(
                "{{\"name\": \"planted\", \"license\": \"MIT\", \"source\": \"registry+https://{host}\", \"dependencies\": []}}"
            )
        };
        let (usual, other) = (package("example.org"), package("example.com"));
        assert_eq!(count(&format!("{usual}, {usual}, {other}")), 1);
        assert_eq!(count(&format!("{usual}, {usual}")), 0);
    }

    #[test]
    fn own_package_that_needs_any_version_is_reported() {
        for (needed, reported) in [
            ("\"req\": \"*\"", 1),
            ("\"req\": \"^1\"", 0),
            ("\"req\": \"*\", \"path\": \"/core\"", 0),
        ] {
            let package = format!(
                "{{\"name\": \"own\", \"license\": \"MIT\", \"dependencies\": [{{\"name\": \"planted\", {needed}}}]}}"
            );
            assert_eq!(count(&package), reported, "{package}");
        }
    }
}
