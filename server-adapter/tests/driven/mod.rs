//! A server whose actions a provider ends, the provider as a process, and the fake that it calls.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::load::{Client, Place, Served};
use crate::provider::Aws;

/// Options without limits, and with a look ten times a second.
pub(crate) const FAST: &str =
    "--rate 1000 --burst 1000 --every 100ms --max-destructive 1000000 --settle 3s --no-sync";

/// Fails a test instead of hanging. An action whose state in between was not seen takes a minute.
const PATIENCE: Duration = Duration::from_secs(300);

/// Calls and desktops, and how often.
pub(crate) type Effects = BTreeMap<(String, String), usize>;

/// A fleet, and the cloud that has its desktops.
pub(crate) struct Fleet {
    pub(crate) fake: Aws,
    place: Place,
    served: Served,
}

/// A running provider; it is killed when this is dropped.
pub(crate) struct Provider(Child);

impl Drop for Provider {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Fleet {
    /// An empty fleet; `None` where there is no fake, as [`Aws::moto`] says.
    pub(crate) fn start() -> Option<Self> {
        let fake = Aws::fake()?;
        let place = Place::new();
        std::fs::write(place.file("admin.key"), &place.admin).unwrap();
        let served = place.serve_with("--quiet --set actions.driver=host");
        Some(Self {
            fake,
            place,
            served,
        })
    }

    /// A connection with the admin key.
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.served.address, &self.place.admin).unwrap()
    }

    /// Adds desktops to the cloud and to the inventory, in these states.
    pub(crate) fn add(&self, desktops: &[(String, &str)]) {
        let members = desktops.iter();
        let members: serde_json::Map<_, _> = members
            .map(|(id, state)| (id.clone(), json!({"state": state})))
            .collect();
        self.fake.control(&json!({"desktops": members}));
        let records = desktops.iter().map(|(id, state)| {
            json!({"workSpId": id, "state": state, "username": format!("user-{id}"),
                "runningMode": "AUTO_STOP", "computeTypeName": "STANDARD"})
        });
        let records = Value::Array(records.collect()).to_string();
        let mut client = self.client();
        let report = client.accepted("POST /operator/workspaces", &records);
        let report: Value = serde_json::from_str(&report.unwrap()).unwrap();
        assert_eq!(report["upserted"], desktops.len(), "{report}");
    }

    /// Makes desktops of the cloud always on. The inventory does not say so.
    pub(crate) fn make_always_on(&self, desktops: &[String]) {
        let members = desktops.iter();
        let members: serde_json::Map<_, _> = members
            .map(|id| (id.clone(), json!({"mode": "ALWAYS_ON"})))
            .collect();
        self.fake.control(&json!({"desktops": members}));
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
        let mut client = self.client();
        let record = client.json(&format!("GET /operator/workspaces/{id}"));
        let mode = record["workSpace"]["runningMode"]
            .as_str()
            .unwrap_or_default();
        let shown = self.fake.member(id, "mode").unwrap_or_default();
        [shown, mode.to_owned()]
    }

    /// Starts the provider with options beside those that all tests need.
    pub(crate) fn provide(&self, options: &str) -> Provider {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deskfleet-provider"));
        let (id, secret) = self.fake.key("all");
        command.env_clear();
        command.env("AWS_ACCESS_KEY_ID", id);
        command.env("AWS_SECRET_ACCESS_KEY", secret);
        let url = format!("http://{}", self.served.address);
        command.args(["aws", "--url", &url, "--region", "eu-west-1", "--apply"]);
        command.args(["--key-file", "admin.key", "--endpoint", &self.fake.url()]);
        command.args(options.split_whitespace());
        let mut log = File::options();
        log.create(true).append(true);
        let log = log.open(self.place.file("provider.log")).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(log).current_dir(self.place.path());
        Provider(command.spawn().unwrap())
    }

    /// What all providers have logged.
    pub(crate) fn provider_log(&self) -> String {
        std::fs::read_to_string(self.place.file("provider.log")).unwrap_or_default()
    }

    /// Whether no action is pending.
    pub(crate) fn is_done(&self) -> bool {
        let page = self.client().json("GET /operator/actions?limit=1");
        page["actions"].as_array().is_some_and(Vec::is_empty)
    }

    /// Returns once no action is pending.
    pub(crate) fn wait_until_done(&self) {
        self.wait("the end of all actions", || self.is_done());
    }

    pub(crate) fn wait(&self, what: &str, mut is_there: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_there() {
            if begun.elapsed() > PATIENCE {
                let left = self.client().json("GET /operator/actions");
                let log = self.provider_log();
                panic!("no sign of {what}: {left}\n{log}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// How often a call had an effect on a desktop.
pub(crate) fn count(effects: &Effects, call: &str, id: &str) -> usize {
    let effect = (call.to_owned(), id.to_owned());
    effects.get(&effect).copied().unwrap_or_default()
}

/// Asks for an action.
pub(crate) fn act(client: &mut Client, action: &str, id: &str) {
    let more = match action {
        "ChangeComputeType" => "&computeType=POWER",
        _ => "",
    };
    let line = format!("POST /api/Actions/{action}?workSpaceId={id}{more}");
    client.accepted(&line, "").unwrap();
}

/// Result and detail of the newest action of this kind on a desktop.
pub(crate) fn outcome(client: &mut Client, action: &str, id: &str) -> (String, String) {
    let rows = client.json(&format!(
        "GET /operator/audit?workSpaceId={id}&action={action}"
    ));
    let row = &rows["activities"][0];
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    (text("result"), text("detail"))
}
