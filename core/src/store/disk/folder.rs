//! The folder of the queue's segments, beside the file of a store.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use redb::StorageBackend;

use crate::locks::lock;

use crate::store::disk::backends::SegmentFolder;
use crate::store::disk::file::{FileId, file_id, for_owner, sync_folder_of};
use crate::store::disk::file_of_process::{FileOfProcess, OwnProcess};

/// The suffix of the folder, after the name of the store.
const SUFFIX: &str = "-queue";
/// The suffix of a segment, after its number.
const SEGMENT_SUFFIX: &str = ".segment";

/// A folder of files, for the process that opened the store.
#[derive(Debug)]
pub(in crate::store) struct FileFolder {
    path: PathBuf,
    /// A forked child shares the files and would write in between: it is refused, even to remove one.
    process: OwnProcess,
    /// The segments that were opened.
    opened: Mutex<BTreeMap<u32, FileId>>,
}

impl FileFolder {
    /// The folder of the existing store at `path`.
    pub(in crate::store) fn beside(path: &Path) -> io::Result<Self> {
        // The folder is beside the file itself, whichever link opened it.
        let mut path = fs::canonicalize(path)?.into_os_string();
        path.push(SUFFIX);
        Ok(Self {
            path: PathBuf::from(path),
            process: OwnProcess::new(),
            opened: Mutex::default(),
        })
    }

    fn segment(&self, number: u32) -> io::Result<PathBuf> {
        self.process.check()?;
        Ok(self.path.join(format!("{number:06}{SEGMENT_SUFFIX}")))
    }

    /// Puts the path before what an error says.
    fn named<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", self.path.display()))
        })
    }
}

impl SegmentFolder for FileFolder {
    fn create(&self) -> io::Result<()> {
        self.process.check()?;
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => self.named(created)?,
        }
        self.named(sync_folder_of(&self.path))
    }

    fn list(&self) -> io::Result<Option<Vec<u32>>> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            entries => self.named(entries)?,
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = self.named(entry)?.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_suffix(SEGMENT_SUFFIX));
            numbers.extend(number.and_then(|number| number.parse::<u32>().ok()));
        }
        numbers.sort_unstable();
        Ok(Some(numbers))
    }

    fn open(&self, number: u32) -> io::Result<Box<dyn StorageBackend>> {
        let path = self.segment(number)?;
        let mut options = for_owner();
        options.read(true).write(true);
        let file = match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = options.create_new(true).open(&path);
                self.named(sync_folder_of(&path))?;
                made
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                // A segment of a read-only store need not be writable.
                File::open(&path).map_err(|_| error)
            }
            opened => opened,
        };
        let file = self.named(file)?;
        let id = file_id(&file.metadata()?);
        lock(&self.opened).entry(number).or_insert(id);
        let file = FileOfProcess::new(file).map_err(io::Error::other)?;
        Ok(Box::new(file))
    }

    fn remove(&self, number: u32) -> io::Result<()> {
        let path = self.segment(number)?;
        lock(&self.opened).remove(&number);
        self.named(fs::remove_file(&path).and_then(|()| sync_folder_of(&path)))
    }

    fn remove_folder(&self) -> io::Result<()> {
        self.process.check()?;
        let removed = fs::remove_dir(&self.path);
        self.named(removed.and_then(|()| sync_folder_of(&self.path)))
    }

    fn check(&self, number: u32) -> io::Result<()> {
        let found = self.named(fs::metadata(self.segment(number)?))?;
        if lock(&self.opened).get(&number) == Some(&file_id(&found)) {
            return Ok(());
        }
        let message = format!("segment {number} was replaced by another file");
        self.named(Err(io::Error::other(message)))
    }
}
