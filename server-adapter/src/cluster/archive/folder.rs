//! The names of the files of an archive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::file::ArchiveError;

const SUFFIX: &str = ".log";
const DIGITS: usize = 20;

/// The path of the file whose first entry has that position.
pub(super) fn path_of(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:0DIGITS$}{SUFFIX}"))
}

/// The files by the position of their first entry. Files of other names are not of the archive.
pub(super) fn files(folder: &Path) -> Result<BTreeMap<u64, PathBuf>, ArchiveError> {
    let failed = |error: std::io::Error| ArchiveError::of_path("list", folder, &error);
    let mut files = BTreeMap::new();
    for found in std::fs::read_dir(folder).map_err(failed)? {
        let found = found.map_err(failed)?;
        let name = found.file_name();
        let digits = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
        let digits = digits.filter(|digits| digits.len() == DIGITS);
        if let Some(first) = digits.and_then(|digits| digits.parse().ok()) {
            files.insert(first, found.path());
        }
    }
    Ok(files)
}
