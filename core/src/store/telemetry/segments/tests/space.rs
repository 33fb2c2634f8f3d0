//! Segments that are given back to a disk that is short of space.

use super::*;

#[test]
fn segments_without_an_unfiled_block_are_removed_for_a_full_disk_and_the_log_goes_on() {
    let files = Files::default();
    let log = begun(&files);
    (0..20).for_each(|number| drop(append(&log, number)));
    log.set_needed(10);
    log.recycle();
    let kept = files.numbers().len();
    log.remove_filed();
    assert!(
        files.numbers().len() < kept,
        "those that were to be used again are removed"
    );
    let (_, found, _) = recovered(&files, 10).unwrap();
    assert_eq!(found, (10..20).collect::<Vec<_>>());
    log.set_needed(20);
    log.remove_filed();
    assert!(files.numbers().is_empty());
    let (_, found, next) = recovered(&files, 20).unwrap();
    assert_eq!((found, next), (vec![], 20));
    append(&log, 20);
    let (log, found, next) = recovered(&files, 20).unwrap();
    assert_eq!((found, next), (vec![20], 21));
    // After a crash as well.
    log.set_needed(21);
    log.remove_filed();
    assert!(files.numbers().is_empty());
}

#[test]
fn segment_that_is_removed_while_its_place_is_checked_is_not_reported_as_lost() {
    let files = Files::default();
    let log = Arc::new(begun(&files));
    append(&log, 0);
    log.set_needed(1);
    files.state().removes_meanwhile = Some(Arc::clone(&log));
    log.check_folder().unwrap();
}
