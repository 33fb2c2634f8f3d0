//! What an archive says about files that are not as they were written.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deskfleet::Timestamp;
use deskfleet::cluster::{AppliedEntries, Chain, EntryId, Log as _, LogEntry, LogErrorKind};
use tempfile::TempDir;

use super::file::ArchiveError;
use super::folder::{files, path_of};
use super::reading::ArchiveLog;
use super::writing::ArchiveWriter;

const HEADER_BYTES: usize = 56;
/// Of an entry of these tests.
const ENTRY_BYTES: usize = 60 + 5;
const FLEET: EntryId = EntryId([9; 16]);

fn time(seconds: i64) -> Timestamp {
    "2026-11-29T08:00:00Z"
        .parse::<Timestamp>()
        .unwrap()
        .plus_seconds(seconds)
}

/// Consecutive entries, each a second after the one before.
fn entries(first: u64, count: u64, mut chain: Chain) -> AppliedEntries {
    let before = chain;
    let entries = (first..first + count).map(|position| {
        let id = u8::try_from(position).unwrap();
        let mut entry = LogEntry {
            position,
            at: time(position.cast_signed()),
            id: EntryId([id; 16]),
            body: format!("of {position:2}").into_bytes(),
            chain: None,
        };
        chain = entry.chain_after(&chain);
        entry.chain = Some(chain);
        entry
    });
    let entries = entries.collect();
    AppliedEntries {
        fleet: FLEET,
        position: first - 1,
        chain: before,
        entries,
        durable: first + count - 1,
    }
}

/// A folder whose archive has that many entries, and the last chain.
fn archived(count: u64) -> (TempDir, Chain) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = ArchiveWriter::open(folder.path()).unwrap();
    assert_eq!(
        writer.append(&entries(1, count, Chain::default())),
        Ok(None)
    );
    (folder, writer.chain)
}

fn append(folder: &Path, applied: &AppliedEntries) -> Result<Option<(u64, u64)>, ArchiveError> {
    ArchiveWriter::open(folder).unwrap().append(applied)
}

/// The last position that is read from `from` on, and that an engine gets.
fn read(folder: &Path, from: u64) -> Result<u64, String> {
    let log = ArchiveLog::open(folder).map_err(|error| error.to_string())?;
    let last = log.verify(from, None).map_err(|error| error.to_string())?;
    assert_eq!(log.bounds(0).unwrap().last, last);
    let mut next = from;
    while next <= last {
        let read = log.read(next, 12, Duration::ZERO).unwrap();
        for entry in read {
            assert_eq!(entry.position, next);
            next += 1;
        }
        let again = log.read(next - 1, 1, Duration::ZERO).unwrap();
        assert_eq!(again[0].position, next - 1);
    }
    assert_eq!(log.read(next, 12, Duration::ZERO), Ok(Vec::new()));
    Ok(last)
}

fn path(folder: &TempDir) -> PathBuf {
    path_of(folder.path(), 1)
}

#[test]
fn archive_has_the_bytes_of_the_document() {
    let (folder, chain) = archived(1);
    let bytes = fs::read(path(&folder)).unwrap();
    assert_eq!(bytes.len(), HEADER_BYTES + ENTRY_BYTES);
    assert_eq!(&bytes[..8], b"dfarchv\x01");
    assert_eq!(bytes[8..24], FLEET.0);
    assert_eq!(bytes[24..32], 1_u64.to_le_bytes());
    assert_eq!(bytes[32..48], [0; 16]);
    assert_eq!(
        bytes[48..56],
        [0xfe, 0xaa, 0x0e, 0x69, 0x19, 0x37, 0x62, 0xcf]
    );
    let entry = &bytes[HEADER_BYTES..];
    assert_eq!(entry[..8], 1_u64.to_le_bytes());
    assert_eq!(entry[8..16], time(1).ticks().to_le_bytes());
    assert_eq!(entry[16..32], [1; 16]);
    assert_eq!(entry[32..48], chain);
    assert_eq!(entry[48..52], 5_u32.to_le_bytes());
    assert_eq!(
        entry[52..60],
        [0x5e, 0xd3, 0x40, 0x29, 0xa9, 0xeb, 0x17, 0x25]
    );
    assert_eq!(&entry[60..], b"of  1");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path(&folder)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn archive_with_any_byte_changed_is_refused_with_file_and_byte() {
    let (folder, _) = archived(3);
    let whole = fs::read(path(&folder)).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(path(&folder), &bytes).unwrap();
        let offset = match at.checked_sub(HEADER_BYTES) {
            None => 0,
            Some(of_entries) => HEADER_BYTES + of_entries / ENTRY_BYTES * ENTRY_BYTES,
        };
        let expected = format!("{} is damaged at byte {offset}, ", path(&folder).display());
        let refused = read(folder.path(), 1).unwrap_err();
        assert!(refused.starts_with(&expected), "{at}: {refused}");
        assert!(!refused.contains("truncate"), "{refused}");
        let refused = ArchiveWriter::open(folder.path()).unwrap_err().to_string();
        assert!(refused.starts_with(&expected), "{at}: {refused}");
        let command = format!("`truncate -s {offset} {}`", path(&folder).display());
        assert!(refused.contains(&command), "{at}: {refused}");
        assert_eq!(
            fs::read(path(&folder)).unwrap(),
            bytes,
            "it is left as it is"
        );
    }
}

#[test]
fn damaged_file_that_is_cut_as_its_error_says_goes_on_before_the_damage() {
    let (folder, chain) = archived(3);
    let whole = fs::read(path(&folder)).unwrap();
    for (offset, last) in [(0, 0), (HEADER_BYTES + ENTRY_BYTES, 1)] {
        fs::write(path(&folder), &whole[..offset]).unwrap();
        let writer = ArchiveWriter::open(folder.path()).unwrap();
        assert_eq!(writer.position, last);
    }
    let mut rest = entries(1, 3, Chain::default());
    let first = rest.entries.remove(0);
    (rest.position, rest.chain) = (1, first.chain.unwrap());
    assert_eq!(append(folder.path(), &rest), Ok(None));
    assert_eq!(rest.entries[1].chain, Some(chain));
    assert_eq!(fs::read(path(&folder)).unwrap(), whole);
}

#[test]
fn archive_that_a_crash_cut_off_goes_on_after_its_last_whole_entry() {
    let (folder, chain) = archived(2);
    let whole = fs::read(path(&folder)).unwrap();
    let rest = entries(3, 1, chain);
    assert_eq!(append(folder.path(), &rest), Ok(None));
    let longer = fs::read(path(&folder)).unwrap();
    for length in whole.len()..longer.len() {
        for zeros in [0, 4096] {
            let torn = [&longer[..length], &vec![0; zeros]].concat();
            fs::write(path(&folder), &torn).unwrap();
            assert_eq!(read(folder.path(), 1), Ok(2), "{length}");
            assert_eq!(append(folder.path(), &rest), Ok(None));
            assert_eq!(fs::read(path(&folder)).unwrap(), longer, "{length}");
        }
    }
}

#[test]
fn archive_whose_first_write_was_cut_off_begins_again() {
    let begun = [b"dfarchv\x01".to_vec(), vec![0; 200]].concat();
    for torn in [vec![], b"dfarchv".to_vec(), vec![0; 200], begun] {
        let (folder, chain) = archived(2);
        fs::write(path_of(folder.path(), 3), &torn).unwrap();
        assert_eq!(read(folder.path(), 1), Ok(2));
        assert_eq!(append(folder.path(), &entries(3, 2, chain)), Ok(None));
        assert_eq!(read(folder.path(), 1), Ok(4));
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(
        read(folder.path(), 1)
            .unwrap_err()
            .contains("has no archive")
    );
    fs::write(path(&folder), b"").unwrap();
    let torn = read(folder.path(), 1).unwrap_err();
    let expected = format!(
        "{} is damaged at byte 0: it has no header",
        path(&folder).display()
    );
    assert!(torn.starts_with(&expected), "{torn}");
}

#[test]
fn file_of_an_archive_is_followed_by_another_after_a_day_or_64_mib() {
    let (folder, mut chain) = archived(1);
    let mut writer = ArchiveWriter::open(folder.path()).unwrap();
    let mut position = 2;
    let mut add = |at: i64, length: usize| {
        let mut applied = entries(position, 1, chain);
        let entry = &mut applied.entries[0];
        entry.at = time(at);
        entry.body = vec![7; length];
        chain = entry.chain_after(&chain);
        entry.chain = Some(chain);
        writer.append(&applied).unwrap();
        position += 1;
        files(folder.path())
            .unwrap()
            .into_keys()
            .collect::<Vec<_>>()
    };
    let day = 24 * 60 * 60;
    assert_eq!(add(day, 1), [1]);
    assert_eq!(add(day + 1, 40 << 20), [1, 3]);
    assert_eq!(add(day + 1, 40 << 20), [1, 3]);
    assert_eq!(add(day + 1, 1), [1, 3, 5]);
    assert_eq!(read(folder.path(), 1), Ok(5));
    assert_eq!(read(folder.path(), 4), Ok(5));
    fs::remove_file(path_of(folder.path(), 3)).unwrap();
    let gap = read(folder.path(), 2).unwrap_err();
    assert!(gap.contains("lacks entries 3 to 4"), "{gap}");
    assert_eq!(read(folder.path(), 5), Ok(5));
    fs::remove_file(path(&folder)).unwrap();
    let before = read(folder.path(), 4).unwrap_err();
    assert!(
        before.contains("begins with entry 5, after entry 4"),
        "{before}"
    );
    let after = read(folder.path(), 6).unwrap_err();
    assert!(
        after.contains("ends with entry 5, before entry 6"),
        "{after}"
    );
}

#[test]
fn file_that_does_not_go_on_from_the_one_before_is_refused() {
    let (folder, chain) = archived(2);
    let last = path_of(folder.path(), 3);
    for (other, position) in [([4; 16], 3), (chain, 2)] {
        let elsewhere = tempfile::tempdir().unwrap();
        append(elsewhere.path(), &entries(position, 1, other)).unwrap();
        fs::copy(path_of(elsewhere.path(), position), &last).unwrap();
        let refused = read(folder.path(), 1).unwrap_err();
        assert!(refused.contains("is damaged at byte "), "{refused}");
    }
    ArchiveWriter::open(folder.path()).unwrap_err();
    fs::remove_file(&last).unwrap();
    // A tail in the middle is damage.
    let bytes = fs::read(path(&folder)).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    append(elsewhere.path(), &entries(3, 1, chain)).unwrap();
    fs::copy(path_of(elsewhere.path(), 3), &last).unwrap();
    assert_eq!(read(folder.path(), 1), Ok(3));
    fs::write(path(&folder), &bytes[..bytes.len() - 1]).unwrap();
    let refused = read(folder.path(), 1).unwrap_err();
    let offset = HEADER_BYTES + ENTRY_BYTES;
    assert!(
        refused.contains(&format!("is damaged at byte {offset}, ")),
        "{refused}"
    );
}

#[test]
fn archive_of_another_fleet_and_of_another_process_is_left_alone() {
    let (folder, chain) = archived(2);
    let writer = ArchiveWriter::open(folder.path()).unwrap();
    let locked = ArchiveWriter::open(folder.path()).unwrap_err();
    assert!(locked.is_locked, "{locked}");
    assert!(
        locked.to_string().contains("another process archives into"),
        "{locked}"
    );
    drop(writer);
    let other = AppliedEntries {
        fleet: EntryId([1; 16]),
        ..entries(3, 1, chain)
    };
    let refused = append(folder.path(), &other).unwrap_err().to_string();
    assert!(refused.contains("archive of another fleet"), "{refused}");
    assert_eq!(read(folder.path(), 1), Ok(2));
}

#[test]
fn entries_after_a_gap_are_in_a_file_of_their_own() {
    let (folder, _) = archived(2);
    assert_eq!(
        append(folder.path(), &entries(6, 2, [5; 16])),
        Ok(Some((3, 5)))
    );
    assert_eq!(
        files(folder.path())
            .unwrap()
            .into_keys()
            .collect::<Vec<_>>(),
        [1, 6]
    );
    assert_eq!(read(folder.path(), 6), Ok(7));
    let gap = read(folder.path(), 1).unwrap_err();
    assert!(gap.contains("lacks entries 3 to 5"), "{gap}");
    let begun = tempfile::tempdir().unwrap();
    let late = append(begun.path(), &entries(6, 2, [5; 16]));
    assert_eq!(late, Ok(Some((1, 5))), "nothing was archived before");
}

#[test]
fn damage_before_the_entry_to_begin_with_is_not_read() {
    let (folder, chain) = archived(2);
    let elsewhere = tempfile::tempdir().unwrap();
    append(elsewhere.path(), &entries(3, 2, chain)).unwrap();
    fs::copy(path_of(elsewhere.path(), 3), path_of(folder.path(), 3)).unwrap();
    for damaged in [&b""[..], &[7; 200]] {
        fs::write(path(&folder), damaged).unwrap();
        assert_eq!(read(folder.path(), 3), Ok(4));
        let log = ArchiveLog::open(folder.path()).unwrap();
        assert_eq!(log.fleet(4), Ok(FLEET));
        let refused = log.fleet(2).unwrap_err().to_string();
        assert!(refused.contains("is damaged at byte 0"), "{refused}");
        let refused = read(folder.path(), 2).unwrap_err();
        assert!(refused.contains("is damaged at byte 0"), "{refused}");
    }
}

#[test]
fn file_that_is_gone_or_changed_is_not_appended_to() {
    let (folder, chain) = archived(2);
    let mut writer = ArchiveWriter::open(folder.path()).unwrap();
    let whole = fs::read(path(&folder)).unwrap();
    fs::write(path(&folder), [&whole[..], b"more"].concat()).unwrap();
    let changed = writer
        .append(&entries(3, 1, chain))
        .unwrap_err()
        .to_string();
    assert!(
        changed.contains("its length is not what was written"),
        "{changed}"
    );
    drop(writer);
    fs::write(path(&folder), &whole).unwrap();
    let mut writer = ArchiveWriter::open(folder.path()).unwrap();
    fs::remove_file(path(&folder)).unwrap();
    let gone = writer
        .append(&entries(3, 1, chain))
        .unwrap_err()
        .to_string();
    assert!(gone.contains("cannot write to "), "{gone}");
}

#[test]
fn log_of_an_archive_ends_at_a_time_and_takes_nothing() {
    let (folder, _) = archived(4);
    let log = ArchiveLog::open(folder.path()).unwrap();
    assert_eq!((log.first(), log.fleet(1)), (1, Ok(FLEET)));
    for (until, last) in [(0, 0), (1, 1), (3, 3), (9, 4)] {
        assert_eq!(log.verify(1, Some(time(until))), Ok(last));
    }
    log.verify(1, Some(time(3))).unwrap();
    assert_eq!(log.read(1, usize::MAX, Duration::ZERO).unwrap().len(), 3);
    let refused = log.append(FLEET, b"").unwrap_err();
    assert_eq!(refused.kind, LogErrorKind::Unsafe);
}
