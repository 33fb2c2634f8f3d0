//! The files of a store on a disk in memory: the store itself, and the folder of segments beside it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;

use deskfleet::{Config, Engine, EngineBuilder, SegmentFolder, StorageBackend};

/// The size of a segment in the suites, in bytes: small, so that segments are filled and reused.
pub const SEGMENT_BYTES: u32 = 2048;

/// Gives a file this length, with zeros where it grows. `resize` would write each of them alone where nothing is optimised, and take half of
/// the time of the suites of faults.
pub fn set_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.truncate(length);
    let missing = length - bytes.len();
    bytes.extend_from_slice(&vec![0; missing]);
}

/// A file, whatever its name is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl FileId {
    /// The store. Every other file is a segment.
    pub const STORE: Self = Self(0);

    /// The part of the disk that it belongs to.
    pub fn part(self) -> Part {
        if self == Self::STORE {
            Part::Store
        } else {
            Part::Queue
        }
    }
}

/// A part of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The store.
    Store,
    /// The folder of segments, and the segments.
    Queue,
}

impl Part {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Store, Self::Queue];
}

/// The contents of all files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// The store.
    pub store: Vec<u8>,
    /// The segments by number; `None` where there is no folder.
    pub queue: Option<BTreeMap<u32, Vec<u8>>>,
}

impl From<Vec<u8>> for Contents {
    fn from(store: Vec<u8>) -> Self {
        Self { store, queue: None }
    }
}

/// The files of a disk and the names of the segments. A file that was removed can be used by those who have it open.
#[derive(Debug, Clone)]
pub struct Tree<F> {
    files: Vec<F>,
    folder: Option<BTreeMap<u32, FileId>>,
}

impl<F: Default> Default for Tree<F> {
    fn default() -> Self {
        Self {
            files: vec![F::default()],
            folder: None,
        }
    }
}

impl<F: Default> Tree<F> {
    /// Files with these contents, made by `of`.
    pub fn holding(contents: Contents, of: impl Fn(Vec<u8>) -> F) -> Self {
        let mut tree = Self {
            files: vec![of(contents.store)],
            folder: None,
        };
        if contents.queue.is_some() {
            tree.create();
        }
        for (number, bytes) in contents.queue.into_iter().flatten() {
            let id = tree.open(number).expect("a folder");
            *tree.file(id) = of(bytes);
        }
        tree
    }

    /// The files that have a name, with the ids that [`Self::holding`] gives them.
    #[must_use]
    pub fn renumbered(&self) -> Self
    where
        F: Clone,
    {
        let mut tree = Self {
            files: vec![self.files[0].clone()],
            folder: None,
        };
        if let Some(names) = &self.folder {
            tree.create();
            for (number, id) in names {
                let new = tree.open(*number).expect("a folder");
                *tree.file(new) = self.files[id.0 as usize].clone();
            }
        }
        tree
    }

    /// What the files hold, as `bytes` returns it.
    pub fn contents(&self, bytes: impl Fn(FileId, &F) -> Vec<u8>) -> Contents {
        let of = |id: FileId| bytes(id, &self.files[id.0 as usize]);
        let segments = |names: &BTreeMap<u32, FileId>| {
            names
                .iter()
                .map(|(number, id)| (*number, of(*id)))
                .collect()
        };
        Contents {
            store: of(FileId::STORE),
            queue: self.folder.as_ref().map(segments),
        }
    }

    /// A file.
    pub fn file(&mut self, id: FileId) -> &mut F {
        &mut self.files[id.0 as usize]
    }

    /// All files that have a name, with their ids.
    pub fn named(&mut self) -> impl Iterator<Item = (FileId, &mut F)> {
        let mut named: Vec<_> = self.folder.iter().flatten().map(|(_, id)| *id).collect();
        named.push(FileId::STORE);
        let all = self.files.iter_mut().enumerate();
        all.map(|(id, file)| (FileId(u32::try_from(id).expect("few files")), file))
            .filter(move |(id, _)| named.contains(id))
    }

    /// Makes the folder where it is not there yet.
    pub fn create(&mut self) {
        self.folder.get_or_insert_default();
    }

    /// The segments in the folder.
    pub fn list(&self) -> Option<Vec<u32>> {
        let names = self.folder.as_ref()?;
        Some(names.keys().copied().collect())
    }

    /// The segment of that number, if it is there.
    pub fn segment(&self, number: u32) -> Option<FileId> {
        self.folder.as_ref()?.get(&number).copied()
    }

    /// Opens a segment, which is made where it is not there yet.
    ///
    /// # Errors
    /// There is no folder.
    pub fn open(&mut self, number: u32) -> io::Result<FileId> {
        let names = self.folder.as_mut().ok_or(io::ErrorKind::NotFound)?;
        let next = FileId(u32::try_from(self.files.len()).expect("few files"));
        let id = *names.entry(number).or_insert(next);
        if id == next {
            self.files.push(F::default());
        }
        Ok(id)
    }

    /// Removes the name of a segment.
    ///
    /// # Errors
    /// There is no such segment.
    pub fn remove(&mut self, number: u32) -> io::Result<()> {
        let names = self.folder.as_mut().ok_or(io::ErrorKind::NotFound)?;
        names.remove(&number).ok_or(io::ErrorKind::NotFound)?;
        Ok(())
    }

    /// Removes the folder.
    ///
    /// # Errors
    /// There is none, or there are segments in it.
    pub fn remove_folder(&mut self) -> io::Result<()> {
        let names = self.folder.as_ref().ok_or(io::ErrorKind::NotFound)?;
        if !names.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.folder = None;
        Ok(())
    }
}

/// A disk with these files. Clones are handles to the same disk.
#[allow(
    clippy::missing_errors_doc,
    reason = "each fails when the disk does, as the test wants it"
)]
pub trait Files: Clone + Debug + Send + Sync + 'static {
    /// The length of a file.
    fn len(&self, file: FileId) -> io::Result<u64>;
    /// Reads from a file.
    fn read(&self, file: FileId, offset: u64, out: &mut [u8]) -> io::Result<()>;
    /// Changes the length of a file.
    fn set_len(&self, file: FileId, len: u64) -> io::Result<()>;
    /// Makes durable what was written to a file.
    fn sync(&self, file: FileId) -> io::Result<()>;
    /// Writes to a file, within its length.
    fn write(&self, file: FileId, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Makes the folder.
    fn create(&self) -> io::Result<()>;
    /// Lists the folder.
    fn list(&self) -> io::Result<Option<Vec<u32>>>;
    /// Opens or makes a segment.
    fn open_segment(&self, number: u32) -> io::Result<FileId>;
    /// Removes a segment.
    fn remove(&self, number: u32) -> io::Result<()>;
    /// Removes the folder.
    fn remove_folder(&self) -> io::Result<()>;

    /// The backend of the store, to open an engine on.
    fn backend(&self) -> FileOf<Self> {
        FileOf(self.clone(), FileId::STORE)
    }

    /// The folder, to open an engine on.
    fn folder(&self) -> FolderOf<Self> {
        FolderOf(self.clone())
    }
}

/// A file of a disk.
#[derive(Debug)]
pub struct FileOf<D>(D, FileId);

impl<D: Files> StorageBackend for FileOf<D> {
    fn len(&self) -> io::Result<u64> {
        self.0.len(self.1)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(self.1, offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(self.1, len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync(self.1)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(self.1, offset, data)
    }
}

/// The folder of a disk.
#[derive(Debug)]
pub struct FolderOf<D>(D);

impl<D: Files> SegmentFolder for FolderOf<D> {
    fn create(&self) -> io::Result<()> {
        self.0.create()
    }

    fn list(&self) -> io::Result<Option<Vec<u32>>> {
        self.0.list()
    }

    fn open(&self, number: u32) -> io::Result<Box<dyn StorageBackend>> {
        let id = self.0.open_segment(number)?;
        Ok(Box::new(FileOf(self.0.clone(), id)))
    }

    fn remove(&self, number: u32) -> io::Result<()> {
        self.0.remove(number)
    }

    fn remove_folder(&self) -> io::Result<()> {
        self.0.remove_folder()
    }

    fn check(&self, number: u32) -> io::Result<()> {
        let numbers = self.0.list()?.unwrap_or_default();
        if numbers.contains(&number) {
            return Ok(());
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Where the queue of an engine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// In a table of the store.
    Table,
    /// In the folder beside it.
    Folder,
}

impl Queue {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Table, Self::Folder];

    /// Opens an engine whose queue is here.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn open(
        self,
        builder: EngineBuilder,
        config: &Config,
        disk: &impl Files,
    ) -> deskfleet::Result<Engine> {
        let builder = builder.config(config.clone());
        match self {
            Self::Table => builder.open_backend(disk.backend()),
            Self::Folder => builder
                .segment_bytes(SEGMENT_BYTES)
                .open_backend_with_queue(disk.backend(), disk.folder()),
        }
    }
}
