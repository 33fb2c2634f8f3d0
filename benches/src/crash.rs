//! Images of a store as a crash would leave it, and how long they take to open.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use deskfleet::Engine;
use rustix::fs::{Advice, fadvise};

use crate::fixture::FILE;

/// What an opening took, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    /// Until the engine was open.
    pub open: f64,
    /// The first read after that.
    pub first_read: f64,
}

/// A folder with a copy of a store's files.
#[derive(Debug)]
pub struct Image {
    folder: PathBuf,
}

impl Image {
    /// Copies what is in `from` into the new folder `folder`. While an engine has it open without a write in progress, the
    /// copy is what a crash at that moment would leave.
    ///
    /// # Panics
    /// When it cannot be copied.
    #[must_use]
    pub fn copy(from: &Path, folder: PathBuf) -> Self {
        for file in files(from) {
            let copy = folder.join(file.strip_prefix(from).expect("a file in the folder"));
            fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
            fs::copy(file, &copy).expect("a copy");
            // Otherwise the first sync after opening would write the whole copy.
            let copy = File::open(copy).and_then(|copy| copy.sync_all());
            copy.expect("the copy is written");
        }
        Self { folder }
    }

    /// Evicts it from memory: the next reads come from the disk, if the system follows the advice.
    ///
    /// # Panics
    /// When there is no copy.
    pub fn cool(&self) {
        for file in files(&self.folder) {
            let file = File::open(file).expect("the copy");
            fadvise(&file, 0, None, Advice::DontNeed).expect("advice is taken");
        }
    }

    /// Opens it, reads once and closes it. Opening changes the file: an image opens as a crash left it only once.
    ///
    /// # Panics
    /// When it does not open.
    #[must_use]
    pub fn open(&self, ask: impl FnOnce(&Engine)) -> Opening {
        let builder = Engine::builder().clock(SystemTime::now).seed(1);
        let start = Instant::now();
        let engine = builder.open(self.folder.join(FILE)).expect("it opens");
        let opened = start.elapsed();
        ask(&engine);
        let asked = start.elapsed();
        Opening {
            open: opened.as_secs_f64() * 1e3,
            first_read: asked.saturating_sub(opened).as_secs_f64() * 1e3,
        }
    }
}

/// The files in a folder and in the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files
}

impl Drop for Image {
    fn drop(&mut self) {
        // The rest is removed with its folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
