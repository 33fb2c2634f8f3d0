//! The file of an export: written beside the existing one, which it replaces only when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::failure::Failure;

/// The first bytes of the file of a store.
const STORE_BEGINS: [u8; 4] = *b"redb";

/// A file that is being written under a name that ends in `.part`. Dropped before [`Self::keep`], it is removed.
pub(super) struct ExportFile {
    path: PathBuf,
    part: PathBuf,
    /// The open file.
    file: File,
    kept: bool,
}

impl ExportFile {
    /// Creates the file for its owner alone, because it has data about people. The file at `path` stays until [`Self::keep`].
    ///
    /// # Errors
    /// The file at `path` must not be replaced: it is a store, the file of the key, or no regular file. Or the file cannot be
    /// created.
    pub(super) fn create(path: &Path, key_file: Option<&Path>) -> Result<Self, Failure> {
        let unwritten = |error: &io::Error| Failure::cannot_write(path.display(), error);
        let mut part = path.to_owned().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        // The remains of a killed export are replaced.
        for replaced in [path, &part] {
            check_replaceable(replaced, key_file)?;
        }
        match fs::remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritten(&error)),
            _ => {}
        }
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.write(true).create_new(true).open(&part);
        Ok(Self {
            path: path.to_owned(),
            part,
            file: file.map_err(|error| unwritten(&error))?,
            kept: false,
        })
    }

    pub(super) fn writer(&mut self) -> &mut File {
        &mut self.file
    }

    /// Renames the whole file to its place.
    pub(super) fn keep(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.part, &self.path)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for ExportFile {
    fn drop(&mut self) {
        if !self.kept {
            // The caller returns the error that ended the export.
            let _ = fs::remove_file(&self.part);
        }
    }
}

fn check_replaceable(path: &Path, key_file: Option<&Path>) -> Result<(), Failure> {
    let name = path.display();
    let failed = |error: &io::Error| Failure::cannot_read(path, error);
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    if about.is_symlink() {
        let sentence = format!("{name} is a symbolic link; name the file that it leads to");
        return Err(Failure(sentence));
    }
    if !about.is_file() {
        return Err(Failure(format!("{name} is no regular file")));
    }
    if key_file.is_some_and(|key| is_same(key, path)) {
        return Err(Failure(format!("{name} is the file of the key")));
    }
    let mut begins = Vec::new();
    let file = File::open(path).map_err(|error| failed(&error))?;
    file.take(STORE_BEGINS.len() as u64)
        .read_to_end(&mut begins)
        .map_err(|error| failed(&error))?;
    if begins == STORE_BEGINS {
        let sentence = format!("{name} is a store; an export does not replace it");
        return Err(Failure(sentence));
    }
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> bool {
    let paths = (fs::canonicalize(one), fs::canonicalize(other));
    matches!(paths, (Ok(one), Ok(other)) if one == other)
}
