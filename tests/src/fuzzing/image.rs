//! A file in memory, and every request that an engine on it can serve.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deskfleet::{
    Action, ActionRequest, Engine, HistoryQuery, ManualClock, NewKey, Record, Scope, StatsRecord,
    StorageBackend, Stream, Timestamp, Workspace, WorkspaceList, WorkspaceQuery,
};

use crate::files::set_length;

use super::START_SECONDS;

/// A file does not grow beyond this: a damaged one must not use up all memory.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The bytes of a file. Clones are handles to the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Image(Arc<Mutex<Vec<u8>>>);

impl Image {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        Self(Arc::new(Mutex::new(bytes.to_vec())))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.lock().clone()
    }

    pub(super) fn backend(&self) -> ImageBackend {
        ImageBackend(self.clone())
    }
}

/// A redb backend on an [`Image`].
#[derive(Debug)]
pub(super) struct ImageBackend(Image);

fn range(offset: u64, length: usize) -> io::Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).map_err(io::Error::other)?;
    let end = start
        .checked_add(length)
        .ok_or(io::ErrorKind::InvalidInput)?;
    Ok(start..end)
}

impl StorageBackend for ImageBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.0.lock();
        let source = bytes.get(range(offset, out.len())?);
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if len > BYTES_MAX {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let len = usize::try_from(len).map_err(io::Error::other)?;
        set_length(&mut self.0.lock(), len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut bytes = self.0.lock();
        let target = bytes.get_mut(range(offset, data.len())?);
        target
            .ok_or(io::ErrorKind::UnexpectedEof)?
            .copy_from_slice(data);
        Ok(())
    }
}

fn engine(image: &Image) -> deskfleet::Result<Engine> {
    let clock = ManualClock::new(Timestamp::from_unix_seconds(START_SECONDS));
    Engine::builder()
        .clock(clock)
        .seed(1)
        .open_backend(image.backend())
}

fn record(id: i32, instance: &str) -> Record {
    Record::Stats(Box::new(StatsRecord {
        id: Some(id),
        instance_id: instance.into(),
        username: "jdoe".into(),
        update_time: Some(Timestamp::from_unix_seconds(START_SECONDS - i64::from(id))),
        uptime: 1.5.into(),
        ..StatsRecord::default()
    }))
}

fn act(engine: &Engine, action: Action, id: &str) -> deskfleet::Result<()> {
    engine.act(ActionRequest::new(action, id)).map(drop)
}

/// A closed file with something in every table.
pub(super) fn filled() -> Image {
    let image = Image::default();
    let fill = |engine: &Engine| -> deskfleet::Result<()> {
        for (id, username) in [("ws-1", "jdoe"), ("ws-2", "roe")] {
            engine.put_workspace(Workspace {
                id: id.into(),
                computer_name: Some(format!("PC-{id}")),
                username: Some(username.into()),
                state: Some("AVAILABLE".into()),
                ..Workspace::default()
            })?;
        }
        engine.place_hold("ws-1", "Doe v. Roe", Some("a reason"))?;
        act(engine, Action::Reboot, "ws-2")?;
        engine.issue_key(NewKey::new("fuzz", Scope::ALL))?;
        for stream in Stream::ALL {
            let mut batch = engine.batch();
            batch.push_json(stream, br#"{"instanceId":"i","username":"jdoe"}"#)?;
            engine.record_batch(batch)?;
        }
        for id in 0..5 {
            engine.record(record(id, "i"))?;
        }
        engine.file_pending()?;
        engine.maintain()?;
        for stream in Stream::ALL {
            let mut batch = engine.batch();
            batch.push_json(stream, br#"{"instanceId":"i","username":"jdoe"}"#)?;
            engine.record_batch(batch)?;
        }
        engine.close()
    };
    let engine = engine(&image).expect("an empty image opens");
    fill(&engine).expect("an engine in memory is filled");
    drop(engine);
    image
}

/// Opens the image and sends every request; `None` if it does not open. Refusals are expected, a panic is not.
pub(super) fn use_everything(image: &Image) -> Option<()> {
    let engine = engine(image).ok()?;
    for id in ["ws-1", "ws-2", "ws-3"] {
        drop(engine.workspace(id));
    }
    drop(engine.workspaces(&WorkspaceQuery {
        limit: 500,
        ..WorkspaceQuery::default()
    }));
    drop(engine.workspaces(&WorkspaceQuery {
        list: WorkspaceList::OnHold,
        limit: 500,
        ..WorkspaceQuery::default()
    }));
    for stream in Stream::ALL {
        drop(engine.history(&HistoryQuery {
            limit: 500,
            ..HistoryQuery::new(stream, "i")
        }));
    }
    drop(engine.user("jdoe"));
    drop(engine.activity_24_hours());
    drop(engine.admin_activity(100));
    drop(engine.pending_actions());
    drop(engine.keys());
    drop(engine.record(record(9, "i")));
    drop(act(&engine, Action::Reboot, "ws-2"));
    drop(engine.complete_action(1));
    drop(engine.release_hold("ws-1"));
    drop(engine.put_workspace(Workspace {
        id: "ws-1".into(),
        ..Workspace::default()
    }));
    drop(engine.remove_workspace("ws-1"));
    drop(engine.file_pending());
    drop(engine.maintain());
    drop(engine.apply_retention());
    drop(engine.check());
    drop(engine.close());
    Some(())
}
