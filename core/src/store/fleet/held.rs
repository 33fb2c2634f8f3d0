//! Reading the names of the workspaces on hold.

use std::sync::Arc;

use crate::error::Result;

use crate::store::fleet::held_names::HeldNames;
use crate::store::fleet::{holds, workspaces};
use crate::store::table::{Read, Step, Tables};

/// The names in this transaction, read once until a hold or a held workspace is written.
pub(crate) fn names(tables: &Tables<'_>) -> Result<Arc<HeldNames>> {
    if let Some(known) = &*tables.effects.held.borrow() {
        return Ok(Arc::clone(known));
    }
    let names = Arc::new(read(tables)?);
    *tables.effects.held.borrow_mut() = Some(Arc::clone(&names));
    Ok(names)
}

/// The names as of now.
pub(crate) fn read(read: &impl Read) -> Result<HeldNames> {
    let mut names = HeldNames::default();
    holds::scan_after(read, None, |id| {
        names.add(id, None, None);
        workspaces::with_entry(read, id, |entry| {
            names.add(id, entry.computer_name(), entry.username());
            Ok(())
        })?;
        Ok(Step::Continue(()))
    })?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::model::{LitigationHold, WriteClass};
    use crate::store::{Store, StoreOptions};
    use crate::timestamp::Timestamp;

    #[test]
    fn names_are_read_once_until_a_hold_is_written() {
        let now = Timestamp::UNIX_EPOCH;
        let store =
            Store::open_in_memory(StoreOptions::from_config(&Config::default(), now)).unwrap();
        let hold = LitigationHold {
            matter: "m".into(),
            reason: None,
            placed_by: "host".into(),
            placed_at: now,
        };
        let known = || {
            store
                .write(WriteClass::Fleet, |tables| names(tables))
                .unwrap()
        };
        let none = known();
        assert!(Arc::ptr_eq(&none, &known()) && !none.has_instance("ws-1"));
        let failed = store.write(WriteClass::Fleet, |tables| {
            holds::put(tables, "ws-1", &hold)?;
            assert!(names(tables)?.has_instance("ws-1"));
            Err::<(), _>(crate::error::EngineError::no_workspace())
        });
        assert!(failed.is_err() && Arc::ptr_eq(&none, &known()));
        let placed = store.write(WriteClass::Fleet, |tables| {
            holds::put(tables, "ws-1", &hold)
        });
        placed.unwrap();
        assert!(known().has_instance("WS-1"));
        let released = store.write(WriteClass::Fleet, |tables| holds::remove(tables, "ws-1"));
        released.unwrap();
        assert!(!known().has_instance("ws-1"));
    }
}
