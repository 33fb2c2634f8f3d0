//! A server whose actions no clock ends, `deskfleet-provider` as a process, and a cloud that it calls.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use deskfleet::{
    Action, ActionDriver, ActionRequest, AuditAction, AuditEntry, AuditQuery, AuditResult,
    PendingAction, Workspace,
};
use deskfleet_server::ServerOptions;
use serde_json::json;

use crate::clouds::Aws;
use crate::served::{Served, served};

/// Fails a test instead of hanging. An action whose state in between was not seen takes a minute.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
/// Options of `aws` without limits, and with a look ten times a second.
pub(crate) const FAST: &str =
    "--rate 1000 --burst 1000 --every 100ms --max-destructive 1000000 --settle 3s --no-sync";

/// Calls and desktops, and how often.
pub(crate) type Effects = BTreeMap<(String, String), usize>;

/// A server, and a folder with its key and the log of its providers.
pub(crate) struct Fleet {
    pub(crate) server: Served,
    pub(crate) folder: tempfile::TempDir,
}

/// A provider that runs. Dropping it kills it.
pub(crate) struct Provider(pub(crate) Child);

impl Drop for Provider {
    fn drop(&mut self) {
        // It may have ended already.
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
        let fleet = Self { server, folder };
        for id in desktops {
            fleet.add(id, "AVAILABLE");
        }
        fleet
    }

    /// Adds a desktop in this state to the inventory.
    pub(crate) fn add(&self, id: &str, state: &str) {
        let workspace = Workspace {
            id: id.to_owned(),
            state: Some(state.into()),
            region: Some("us-east-1".to_owned()),
            username: Some(format!("user-{id}")),
            running_mode: Some("AUTO_STOP".into()),
            compute_type_name: Some("STANDARD".into()),
            ..Workspace::default()
        };
        self.server.engine.put_workspace(workspace).unwrap();
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    pub(crate) fn act(&self, action: Action, id: &str) -> u64 {
        let mut request = ActionRequest::new(action, id);
        if action == Action::ChangeComputeType {
            request.compute_type = Some("POWER".to_owned());
        }
        self.server.engine.act(request).unwrap().unwrap()
    }

    pub(crate) fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deskfleet-provider"));
        command
            .current_dir(self.folder.path())
            .args(&line[..1])
            .args(["--url", &format!("http://{}", self.server.server.addr())])
            .args(["--key-file", "key", "--every", "50ms", "--lease", "2s"])
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

    pub(crate) fn state(&self, id: &str) -> String {
        let view = self.server.engine.workspace(id).unwrap().unwrap();
        let state = view.workspace.state;
        state.as_deref().unwrap_or_default().to_owned()
    }

    /// Returns once no action is pending.
    pub(crate) fn wait_until_done(&self) {
        self.wait("the end of all actions", || self.pending().is_empty());
    }

    pub(crate) fn wait(&self, what: &str, mut is_there: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_there() {
            assert!(
                begun.elapsed() <= PATIENCE,
                "no sign of {what}: {:?}\n{}",
                self.pending(),
                self.provider_log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// How an action ended: its result, the state after it and the detail.
    pub(crate) fn end_of(&self, id: u64) -> (AuditResult, String, String) {
        let rows = self.audit(&AuditQuery::default());
        let row = rows.into_iter().find(|row| row.id == id).unwrap();
        let state = row.new_state.unwrap_or_default();
        (row.result, state, row.detail.unwrap_or_default())
    }

    /// Result and detail of the newest action of this kind on a desktop.
    pub(crate) fn outcome(&self, action: Action, id: &str) -> (AuditResult, String) {
        let rows = self.audit(&AuditQuery {
            workspace_id: Some(id.to_owned()),
            action: Some(AuditAction::Lifecycle(action)),
            ..AuditQuery::default()
        });
        let row = rows.into_iter().next().unwrap();
        (row.result, row.detail.unwrap_or_default())
    }

    fn audit(&self, query: &AuditQuery) -> Vec<AuditEntry> {
        self.server.engine.audit(query).unwrap().rows
    }

    /// What the providers of a [`CloudFleet`] have logged.
    pub(crate) fn provider_log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("provider.log")).unwrap_or_default()
    }
}

/// A fleet, and the fake of a cloud that has its desktops.
pub(crate) struct CloudFleet {
    pub(crate) fake: Aws,
    pub(crate) fleet: Fleet,
}

impl CloudFleet {
    /// An empty one; `None` where there is no fake, as [`Aws::moto`] says.
    pub(crate) fn start() -> Option<Self> {
        let fake = Aws::fake()?;
        let fleet = Fleet::new(&[]);
        Some(Self { fake, fleet })
    }

    /// Adds desktops to the cloud and to the inventory, in these states.
    pub(crate) fn add(&self, desktops: &[(String, &str)]) {
        self.change(
            desktops.iter().map(|(id, _)| id),
            |index| json!({"state": desktops[index].1}),
        );
        for (id, state) in desktops {
            self.fleet.add(id, state);
        }
    }

    /// Makes desktops of the cloud always on. The inventory does not say so.
    pub(crate) fn make_always_on(&self, desktops: &[String]) {
        self.change(desktops.iter(), |_| json!({"mode": "ALWAYS_ON"}));
    }

    fn change<'i>(
        &self,
        ids: impl Iterator<Item = &'i String>,
        members: impl Fn(usize) -> serde_json::Value,
    ) {
        let desktops = ids
            .enumerate()
            .map(|(index, id)| (id.clone(), members(index)));
        let desktops: serde_json::Map<_, _> = desktops.collect();
        self.fake.control(&json!({"desktops": desktops}));
    }

    /// How often each call had an effect on each desktop.
    pub(crate) fn effects(&self) -> Effects {
        let mut counted = Effects::new();
        for effect in self.fake.effects() {
            *counted.entry(effect).or_default() += 1;
        }
        counted
    }

    /// The running mode of a desktop, in the cloud and in the inventory.
    pub(crate) fn running_modes(&self, id: &str) -> [String; 2] {
        let shown = self.fake.member(id, "mode").unwrap_or_default();
        let view = self.fleet.server.engine.workspace(id).unwrap().unwrap();
        let mode = view.workspace.running_mode;
        [shown, mode.as_deref().unwrap_or_default().to_owned()]
    }

    /// Starts the provider with options beside those that all tests need.
    pub(crate) fn provide(&self, options: &str) -> Provider {
        let (id, secret) = self.fake.key("all");
        let url = self.fake.url();
        let mut line = vec![
            "aws",
            "--region",
            "eu-west-1",
            "--apply",
            "--endpoint",
            &url,
        ];
        line.extend(options.split_whitespace());
        let mut command = self.fleet.command(&line);
        command.env_clear();
        command.env("AWS_ACCESS_KEY_ID", id);
        command.env("AWS_SECRET_ACCESS_KEY", secret);
        let mut log = File::options();
        log.create(true).append(true);
        let log = log.open(self.fleet.folder.path().join("provider.log"));
        command.stderr(log.unwrap());
        Provider(command.spawn().unwrap())
    }
}

/// How often a call had an effect on a desktop.
pub(crate) fn count(effects: &Effects, call: &str, id: &str) -> usize {
    let effect = (call.to_owned(), id.to_owned());
    effects.get(&effect).copied().unwrap_or_default()
}
