mod space;

use std::collections::BTreeMap;

use crate::store::disk::backends::MemoryBackend;

use super::*;

/// Files in memory that outlive the log, and fail on request.
#[derive(Debug, Clone, Default)]
struct Files(Arc<Mutex<FilesState>>);

#[derive(Debug, Default)]
struct FilesState {
    folder: bool,
    files: BTreeMap<u32, Arc<MemoryBackend>>,
    fail_write: bool,
    fail_sync: bool,
    /// Reads that return other bytes than are there.
    misreads: usize,
    /// Removes what is filed while the next file is checked, if it could from another thread.
    removes_meanwhile: Option<Arc<SegmentLog>>,
}

#[derive(Debug)]
struct OpenFile(Files, Arc<MemoryBackend>);

impl Files {
    fn state(&self) -> MutexGuard<'_, FilesState> {
        lock(&self.0)
    }

    fn damage(&self, number: u32, offset: u64) {
        let file = Arc::clone(&self.state().files[&number]);
        let mut byte = [0];
        file.read(offset, &mut byte).unwrap();
        file.write(offset, &[byte[0] ^ 1]).unwrap();
    }

    fn numbers(&self) -> Vec<u32> {
        self.state().files.keys().copied().collect()
    }
}

fn failed(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("as the test wants it"));
    }
    Ok(())
}

impl SegmentFolder for Files {
    fn create(&self) -> io::Result<()> {
        self.state().folder = true;
        Ok(())
    }

    fn list(&self) -> io::Result<Option<Vec<u32>>> {
        let state = self.state();
        Ok(state.folder.then(|| state.files.keys().copied().collect()))
    }

    fn open(&self, number: u32) -> io::Result<Box<dyn StorageBackend>> {
        let file = Arc::clone(self.state().files.entry(number).or_default());
        Ok(Box::new(OpenFile(self.clone(), file)))
    }

    fn remove(&self, number: u32) -> io::Result<()> {
        self.state().files.remove(&number);
        Ok(())
    }

    fn remove_folder(&self) -> io::Result<()> {
        self.state().folder = false;
        Ok(())
    }

    fn check(&self, number: u32) -> io::Result<()> {
        let log = self.state().removes_meanwhile.take();
        if let Some(log) = log.filter(|log| log.state.try_lock().is_ok()) {
            log.remove_filed();
        }
        failed(!self.state().files.contains_key(&number))
    }
}

impl StorageBackend for OpenFile {
    fn len(&self) -> io::Result<u64> {
        self.1.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.1.read(offset, out)?;
        let mut state = self.0.state();
        if state.misreads > 0 {
            state.misreads -= 1;
            for byte in out {
                *byte = !*byte;
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.1.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        failed(self.0.state().fail_sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        failed(self.0.state().fail_write)?;
        self.1.write(offset, data)
    }
}

const MARK: LogMark = LogMark { id: 9, live: true };

fn open_log(files: &Files) -> SegmentLog {
    // A header and three frames of one sector.
    SegmentLog::new(Box::new(files.clone()))
        .unwrap()
        .with_segment_bytes(2048)
}

fn begun(files: &Files) -> SegmentLog {
    let log = open_log(files);
    log.prepare_folder(MARK.id).unwrap();
    log.begin(MARK.id, 0);
    log
}

fn append(log: &SegmentLog, number: u64) -> SegmentPlace {
    let block = number.to_string();
    let mut places = log.append(number, &[block.as_bytes()]).unwrap();
    places.pop().unwrap()
}

fn recovered(files: &Files, first: u64) -> Result<(SegmentLog, Vec<u64>, u64)> {
    let (log, found, damaged, next) = recovered_of_damaged(files, first)?;
    assert!(damaged.is_empty(), "{damaged:?}");
    Ok((log, found, next))
}

/// The same, with the numbers of damaged blocks.
fn recovered_of_damaged(
    files: &Files,
    first: u64,
) -> Result<(SegmentLog, Vec<u64>, Vec<u64>, u64)> {
    let log = open_log(files);
    let (mut found, mut damaged) = (Vec::new(), Vec::new());
    let next = log.recover(Some(MARK), first, false, &mut |numbers, place, block| {
        let number = numbers.start;
        if block.is_empty() {
            assert!(place.read().is_err());
            return damaged.push(number);
        }
        assert_eq!(block, number.to_string().as_bytes());
        assert_eq!(place.read().unwrap(), block);
        found.push(number);
    })?;
    Ok((log, found, damaged, next))
}

#[test]
fn appended_blocks_are_recovered_in_order_from_the_first_that_is_not_filed() {
    let files = Files::default();
    let log = begun(&files);
    for number in 0..10 {
        assert_eq!(
            append(&log, number).read().unwrap(),
            number.to_string().as_bytes()
        );
    }
    assert_eq!(files.numbers(), [0, 1, 2, 3]);
    for first in 0..=10 {
        let (_, found, next) = recovered(&files, first).unwrap();
        assert_eq!((found, next), ((first..10).collect(), 10));
    }
}

#[test]
fn frame_of_many_blocks_that_is_longer_than_a_segment_is_recovered_as_a_whole() {
    let files = Files::default();
    let log = begun(&files);
    append(&log, 0);
    let blocks: Vec<_> = (1..2000_u64).map(|number| number.to_string()).collect();
    let blocks: Vec<_> = blocks.iter().map(String::as_bytes).collect();
    assert_eq!(log.append(1, &blocks).unwrap().len(), 1999);
    append(&log, 2000);
    assert_eq!(
        recovered(&files, 0).unwrap().1,
        (0..=2000).collect::<Vec<_>>()
    );
}

#[test]
fn segments_are_used_again_once_filed_and_no_longer_read() {
    let files = Files::default();
    let log = begun(&files);
    let read = append(&log, 0);
    for number in 1..200 {
        append(&log, number);
        log.set_needed(number);
        log.recycle();
    }
    assert_eq!(files.numbers(), [0, 1, 2]);
    assert_eq!(read.read().unwrap(), b"0", "a reader holds its segment");
    drop(read);
    let (log, found, next) = recovered(&files, 199).unwrap();
    assert_eq!((found, next), (vec![199], 200));
    for number in 200..300 {
        append(&log, number);
        log.set_needed(number);
        log.recycle();
    }
    assert_eq!(files.numbers().len(), 3);
}

#[test]
fn last_frame_that_is_not_whole_never_was_and_one_before_it_is_damaged() {
    let files = Files::default();
    let log = begun(&files);
    (0..3).for_each(|number| drop(append(&log, number)));
    files.damage(0, 512 * 3);
    let (_, found, next) = recovered(&files, 0).unwrap();
    assert_eq!((found, next), (vec![0, 1], 2));
    files.damage(0, 512 * 3);
    for offset in [512, 520, 536, 548, 1024 + 33] {
        files.damage(0, offset);
        let (_, found, damaged, next) = recovered_of_damaged(&files, 0).unwrap();
        let whole = u64::from(offset < 1024);
        assert_eq!((found, damaged), (vec![whole, 2], vec![1 - whole]));
        assert_eq!(next, 3);
        // Of no account where its blocks are filed.
        assert_eq!(recovered(&files, 2).unwrap().1, [2]);
        files.damage(0, offset);
    }
    assert_eq!(recovered(&files, 0).unwrap().1, [0, 1, 2]);
}

#[test]
fn segment_that_is_missing_or_ends_early_is_refused() {
    let files = Files::default();
    let log = begun(&files);
    (0..9).for_each(|number| drop(append(&log, number)));
    for number in [0, 1] {
        let removed = files.state().files.remove(&number).unwrap();
        assert_eq!(
            recovered(&files, 0).unwrap_err().kind(),
            ErrorKind::Corrupted
        );
        files.state().files.insert(number, removed);
    }
    for offset in [0, 33] {
        files.damage(1, 512 * 3 + offset);
        let (_, found, damaged, next) = recovered_of_damaged(&files, 0).unwrap();
        assert_eq!((found, next), (vec![0, 1, 2, 3, 4, 6, 7, 8], 9));
        assert_eq!(damaged, [5], "the last frame of a segment before the last");
        assert_eq!(recovered(&files, 6).unwrap().1, [6, 7, 8]);
        files.damage(1, 512 * 3 + offset);
    }
}

#[test]
fn block_is_read_as_it_was_acknowledged_or_not_at_all() {
    let files = Files::default();
    let log = begun(&files);
    let place = append(&log, 7);
    let at = 512 + 32 + 4;
    files.damage(0, at);
    let error = place.read().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageUnavailable);
    assert!(error.to_string().contains("segment 0, byte 548"), "{error}");
    assert_eq!(place.read_unchecked().unwrap(), b"6");
    files.damage(0, at);
    for misreads in 0..3 {
        files.state().misreads = misreads;
        let read = place.read();
        let passed = read.is_ok_and(|block| block == b"7");
        assert_eq!(passed, misreads < 2, "what passes is read once more");
    }
}

#[test]
fn what_a_failed_sync_left_is_void_once_more_is_acknowledged() {
    let files = Files::default();
    let log = begun(&files);
    append(&log, 0);
    files.state().fail_sync = true;
    let error = log.append(1, &[b"1"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Indeterminate);
    files.state().fail_sync = false;
    assert_eq!(recovered(&files, 0).unwrap().1, [0, 1], "it may be there");
    append(&log, 2);
    assert_eq!(recovered(&files, 0).unwrap().1, [0, 2]);
}

#[test]
fn failed_write_is_void_once_more_is_acknowledged_and_failing_disk_gets_no_more_files() {
    let files = Files::default();
    let log = begun(&files);
    append(&log, 0);
    files.state().fail_write = true;
    for number in 1..20 {
        let error = log.append(number, &[b"x"]).unwrap_err();
        // All of it may have been written.
        assert_eq!(error.kind(), ErrorKind::Indeterminate);
    }
    assert_eq!(files.numbers(), [0]);
    assert!(log.make_ready().is_err());
    assert_eq!(files.numbers(), [0]);
    files.state().fail_write = false;
    append(&log, 20);
    let (_, found, next) = recovered(&files, 0).unwrap();
    assert_eq!((found, next), (vec![0, 20], 21));
}

#[test]
fn folder_that_is_missing_or_of_another_store_is_refused() {
    let files = Files::default();
    let log = begun(&files);
    append(&log, 0);
    let read = |mark| open_log(&files).recover(mark, 0, false, &mut |_, _, _| ());
    let other = LogMark { id: 8, live: true };
    for mark in [
        None,
        Some(other),
        Some(LogMark {
            live: false,
            ..other
        }),
    ] {
        assert_eq!(read(mark).unwrap_err().kind(), ErrorKind::ForeignFile);
    }
    assert_eq!(
        read(Some(LogMark {
            live: false,
            ..MARK
        }))
        .unwrap(),
        0
    );
    log.discard();
    assert!(files.numbers().is_empty());
    assert_eq!(read(None).unwrap(), 0);
    assert_eq!(
        read(Some(MARK)).unwrap_err().kind(),
        ErrorKind::StorageUnavailable
    );
    files.create().unwrap();
    assert_eq!(read(Some(MARK)).unwrap(), 0, "an empty folder in its place");
}

#[test]
fn log_whose_segments_were_all_erased_gives_no_frame_the_tag_of_an_old_one() {
    let files = Files::default();
    let log = begun(&files);
    (0..3).for_each(|number| drop(append(&log, number)));
    // After a crash all is filed, and the segment waits for its next use.
    let (log, _, next) = recovered(&files, 0).unwrap();
    log.set_needed(next);
    log.recycle();
    let (log, _, next) = recovered(&files, next).unwrap();
    append(&log, next);
    assert_eq!(recovered(&files, next).unwrap().1, [3]);
}

#[test]
fn log_that_begins_uses_no_file_that_the_last_one_left() {
    let files = Files::default();
    let log = begun(&files);
    log.make_ready().unwrap();
    append(&log, 0);
    let left = files.state().files.clone();
    log.discard();
    files.create().unwrap();
    files.state().files = left;
    let log = open_log(&files);
    let ended = LogMark {
        live: false,
        ..MARK
    };
    let next = log.recover(Some(ended), 1, false, &mut |_, _, _| ());
    log.prepare_folder(MARK.id).unwrap();
    log.begin(MARK.id, next.unwrap());
    append(&log, 1);
    assert_eq!(recovered(&files, 1).unwrap().1, [1]);
}
