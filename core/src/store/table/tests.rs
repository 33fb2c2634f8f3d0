//! Ranges of keys.

use super::*;

#[test]
fn a_prefix_ends_before_the_next_one() {
    assert_eq!(after_prefix(b"ab"), Some(b"ac".to_vec()));
    assert_eq!(after_prefix(&[1, 0xff, 0xff]), Some(vec![2]));
    assert_eq!(after_prefix(&[0xff]), None);
    assert_eq!(after_prefix(b""), None);
}
