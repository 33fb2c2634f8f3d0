//! A server whose actions no clock ends, and `deskfleet-provider` as a process.
#![allow(
    dead_code,
    reason = "each suite uses a part of it; a test that cannot go on fails"
)]

use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use deskfleet::{ActionDriver, ActionRequest, AuditQuery, AuditResult, PendingAction, Workspace};
use deskfleet_server::ServerOptions;

use crate::served::{Served, served};

const PROGRAM: &str = env!("CARGO_BIN_EXE_deskfleet-provider");
/// Fails a test instead of hanging; nothing is measured by it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server, a folder with its key, and what providers said.
pub(crate) struct Fleet {
    pub(crate) server: Served,
    pub(crate) folder: tempfile::TempDir,
}

/// A provider that runs. Dropping it kills it.
pub(crate) struct Provider(pub(crate) Child);

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Fleet {
    pub(crate) fn new(desktops: &[&str]) -> Self {
        let server = served(ServerOptions::default(), |config| {
            config.actions.driver = ActionDriver::Host;
        });
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), &server.key).unwrap();
        for id in desktops {
            let workspace = Workspace {
                id: (*id).to_owned(),
                state: Some("AVAILABLE".into()),
                region: Some("us-east-1".to_owned()),
                running_mode: Some("AUTO_STOP".into()),
                compute_type_name: Some("STANDARD".into()),
                ..Workspace::default()
            };
            server.engine.put_workspace(workspace).unwrap();
        }
        Self { server, folder }
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    pub(crate) fn act(&self, request: ActionRequest) -> u64 {
        self.server.engine.act(request).unwrap().unwrap()
    }

    pub(crate) fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .current_dir(self.folder.path())
            .args(&line[..1])
            .args(["--url", &format!("http://{}", self.server.server.addr())])
            .args(["--key-file", "key", "--every", "50ms"])
            .args(&line[1..]);
        command
    }

    pub(crate) fn start(&self, line: &[&str]) -> Provider {
        Provider(self.command(line).spawn().unwrap())
    }

    pub(crate) fn ended(&self, line: &[&str]) -> Output {
        self.command(line).output().unwrap()
    }

    pub(crate) fn pending(&self) -> Vec<PendingAction> {
        self.server.engine.pending_actions().unwrap()
    }

    /// Waits until no action is pending.
    pub(crate) fn wait(&self) {
        let begun = Instant::now();
        while !self.pending().is_empty() {
            assert!(begun.elapsed() < PATIENCE, "{:?}", self.pending());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// How an action ended: its result, the state after it and the detail.
    pub(crate) fn end_of(&self, id: u64) -> (AuditResult, String, String) {
        let page = self.server.engine.audit(&AuditQuery::default()).unwrap();
        let row = page.rows.into_iter().find(|row| row.id == id).unwrap();
        let state = row.new_state.unwrap_or_default();
        (row.result, state, row.detail.unwrap_or_default())
    }
}
