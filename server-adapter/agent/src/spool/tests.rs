use std::io::Write as _;

use tempfile::TempDir;

use super::*;

const BYTES_MAX: u64 = 1 << 20;

fn line(number: usize) -> String {
    format!("{{\"stats\":{{\"id\":{number}}}}}")
}

fn spool(folder: &TempDir) -> Spool {
    Spool::open(folder.path(), BYTES_MAX).unwrap()
}

fn drained(spool: &mut Spool) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let batch = spool.oldest();
        if batch.is_empty() {
            return lines;
        }
        assert!(batch.lines().len() <= BATCH_RECORDS);
        lines.extend_from_slice(batch.lines());
        spool.remove(&batch);
    }
}

#[test]
fn records_come_out_oldest_first_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let lines: Vec<String> = (0..250).map(line).collect();
    for part in lines.chunks(125) {
        let mut spool = spool(&folder);
        for line in part {
            spool.push(line.clone());
        }
    }
    let mut spool = spool(&folder);
    assert_eq!(spool.count(), 250);
    assert_eq!(drained(&mut spool), lines);
    spool.push(line(7));
    assert_eq!(drained(&mut spool), [line(7)]);
}

#[test]
fn batch_that_is_not_removed_comes_again_byte_for_byte() {
    let folder = TempDir::new().unwrap();
    let mut spool = spool(&folder);
    spool.push(line(1));
    let first = spool.oldest();
    spool.push(line(2));
    assert_eq!(spool.oldest().lines()[..1], *first.lines());
}

#[test]
fn file_cut_off_at_any_byte_keeps_its_whole_lines() {
    let folder = TempDir::new().unwrap();
    let mut spool = spool(&folder);
    (0..3).for_each(|number| spool.push(line(number)));
    let file = spool.files().remove(0);
    let whole = fs::read(&file).unwrap();
    let length = whole.len() / 3;
    for cut in 0..whole.len() {
        for tail in [&b""[..], &[0; 40], b"\xff\n\n"] {
            let mut bytes = whole[..cut].to_vec();
            bytes.extend_from_slice(tail);
            fs::write(&file, bytes).unwrap();
            let batch = spool.oldest();
            // A line without its end is whole too.
            let kept = (cut + 1) / length;
            let kept = if tail == [0; 40] { cut / length } else { kept };
            let kept = if tail == b"\xff\n\n" {
                cut / length
            } else {
                kept
            };
            let expected: Vec<String> = (0..kept).map(line).collect();
            assert_eq!(batch.lines(), expected, "{cut} {tail:?}");
        }
    }
}

#[test]
fn full_spool_drops_the_oldest_records() {
    let folder = TempDir::new().unwrap();
    let mut spool = Spool::open(folder.path(), 10_000).unwrap();
    (0..600).for_each(|number| spool.push(line(number)));
    let kept = drained(&mut spool);
    assert!((150..400).contains(&kept.len()), "{}", kept.len());
    let expected: Vec<String> = (600 - kept.len()..600).map(line).collect();
    assert_eq!(kept, expected);
}

#[test]
fn records_that_cannot_be_written_wait_in_memory() {
    let folder = TempDir::new().unwrap();
    let mut spool = spool(&folder);
    spool.push(line(0));
    // Stands for a full disk, also where root runs this test.
    spool.folder = Some(folder.path().join("gone"));
    spool.current = None;
    (1..4).for_each(|number| spool.push(line(number)));
    assert_eq!(spool.oldest().lines(), [line(1), line(2), line(3)]);
    spool.folder = Some(folder.path().to_owned());
    spool.push(line(4));
    assert_eq!(spool.unwritten.len(), 0);
    let expected: Vec<String> = (0..5).map(line).collect();
    assert_eq!(drained(&mut spool), expected);
}

#[test]
fn memory_keeps_the_newest_records_within_its_bound() {
    let mut spool = Spool::in_memory(10 * line(100).len() as u64);
    (100..200).for_each(|number| spool.push(line(number)));
    let expected: Vec<String> = (190..200).map(line).collect();
    assert_eq!(drained(&mut spool), expected);
}

#[test]
fn record_of_another_process_is_sent_too() {
    let folder = TempDir::new().unwrap();
    let mut spool = spool(&folder);
    put(folder.path(), &[line(1), line(2)]).unwrap();
    spool.push(line(3));
    let mut found = drained(&mut spool);
    found.sort();
    assert_eq!(found, [line(1), line(2), line(3)]);
    let missing = put(&folder.path().join("missing"), &[line(1)]).unwrap_err();
    assert!(missing.to_string().contains("start the agent first"));
}

#[test]
fn second_agent_on_a_spool_is_refused() {
    let folder = TempDir::new().unwrap();
    let _first = spool(&folder);
    let refused = Spool::open(folder.path(), BYTES_MAX).unwrap_err();
    assert!(
        refused.to_string().contains("another deskfleet-agent"),
        "{refused}"
    );
}

#[test]
fn refused_records_are_kept_within_a_bound() {
    let folder = TempDir::new().unwrap();
    let spool = spool(&folder);
    let file = spool.set_aside(&line(1), "not \"valid\"").unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(
        text,
        "{\"message\":\"not \\\"valid\\\"\",\"record\":{\"stats\":{\"id\":1}}}\n"
    );
    let mut grown = File::options().append(true).open(&file).unwrap();
    grown.write_all(&vec![b'\n'; 300_000]).unwrap();
    spool.set_aside(&line(2), "");
    assert!(fs::metadata(&file).unwrap().len() < 100);
    assert!(folder.path().join(REFUSED_BEFORE).exists());
}
