//! What is written is read again, and nothing else is.

use crate::error::ErrorKind;
use crate::model::{Action, ActionRequest};
use crate::mutation::Caller;

use super::entry::{EntryReader, EntryWriter};
use super::*;

fn bytes_of(mutation: &impl Mutation) -> Vec<u8> {
    let mut encoder = Encoder::default();
    mutation.encode(&mut encoder);
    encoder.finish()
}

#[test]
fn entry_returns_its_mutations() {
    let act = Act {
        request: ActionRequest::reboot("ws-1"),
        by: Caller::HOST,
    };
    let mut entry = EntryWriter::new();
    assert!(entry.push(act.tag().unwrap(), &bytes_of(&act)));
    assert!(entry.push(Tag::CompleteAction, &bytes_of(&CompleteAction(300))));
    let body = entry.finish();
    let read: Vec<_> = EntryReader::new(&body).unwrap().collect();
    let [Ok(first), Ok(second)] = read.as_slice() else {
        panic!("{read:?}");
    };
    let again: Act = first.decode().unwrap();
    assert_eq!(again.request.action, Action::Reboot);
    assert_eq!(again.by, Caller::HOST);
    let any = second.decode_any().unwrap();
    assert_eq!(format!("{any:?}"), "CompleteAction(300)");
    assert_eq!(
        first.decode::<CompleteAction>().unwrap_err().kind(),
        ErrorKind::Corrupted
    );
}
