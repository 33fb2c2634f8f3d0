//! The inventory, as the cloud has it.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::amazon::{Amazon, trouble};
use super::aws::client::is_id;
use super::aws::desktop::MergeRecord;
use super::fleet::{Desktop, Fleet, Refusal};
use super::kind::Trouble;
use super::log_line;
use super::sleep::sleep;
use super::status::{Asker, Status};
use deskfleet_client::backoff::random;
use deskfleet_server::PageTokens;

/// Desktops that are described by their ids at once.
const DESCRIBED_AT_ONCE: usize = 25;
/// Lines that a plan has of each kind of change.
const PRINTED: usize = 20;
/// Missing desktops that are believed, however few there are.
const FEW: usize = 10;
/// The pause after a scan that failed.
const FAILED_PAUSE: Duration = Duration::from_secs(60);

/// Scans the whole cloud from time to time, and merges what it finds into the inventory.
#[derive(Debug)]
pub(super) struct Sync {
    fleet: Fleet,
    amazon: Arc<Amazon>,
    status: Arc<Status>,
    /// The time between two scans, and up to half as much again.
    every: Duration,
    /// What the last scan missed.
    missed: HashSet<Box<str>>,
    /// What the scans have seen.
    seen: HashSet<Box<str>>,
    /// Desktops of which the cloud showed none when nothing else was known: perhaps they are another account's.
    strange: HashSet<Box<str>>,
}

impl Sync {
    pub(super) fn new(
        fleet: Fleet,
        amazon: Arc<Amazon>,
        status: Arc<Status>,
        every: Duration,
    ) -> Self {
        Self {
            fleet,
            amazon,
            status,
            every,
            missed: HashSet::new(),
            seen: HashSet::new(),
            strange: HashSet::new(),
        }
    }

    /// Scans until `stop`.
    pub(super) fn run(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let pause = match self.scan(stop) {
                Ok(message) => {
                    self.status.cloud_found(Asker::Scan);
                    log_line::say(&message);
                    let millis = u64::try_from(self.every.as_millis()).unwrap_or(u64::MAX);
                    self.every + Duration::from_millis(random() % (millis / 2 + 1))
                }
                Err(trouble) => {
                    let after = match &trouble {
                        Trouble::Denied(_) => Duration::ZERO,
                        Trouble::Later { after, .. } => after.unwrap_or_default(),
                    };
                    self.status.cloud_lost(Asker::Scan, trouble);
                    FAILED_PAUSE.max(after)
                }
            };
            sleep(pause, stop);
        }
    }

    /// One scan; returns what it did, for people.
    fn scan(&mut self, stop: &AtomicBool) -> Result<String, Trouble> {
        let region = self.amazon.client.region();
        let account = self.amazon.account.as_deref();
        // Before the cloud is looked at: a desktop that is created meanwhile is not missed.
        let mut missing: HashSet<Box<str>> = HashSet::new();
        self.fleet
            .desktops_of(region, account, &mut |desktop| {
                if is_of_this_cloud(&desktop, account) {
                    missing.insert(desktop.id.into_boxed_str());
                }
            })
            .map_err(|refusal| lost(&refusal))?;
        let known = missing.len();
        if !self.shows_one_of(&missing)? {
            if known > FEW || !missing.is_disjoint(&self.seen) {
                return Err(Trouble::Later {
                    after: None,
                    why: format!(
                        "it shows none of the desktops that it was asked for, of {known} that the inventory has here, so nothing is merged: are \
                         these the credentials of another account? See --account. If they are the right ones, remove those desktops"
                    ),
                });
            }
            self.strange.extend(missing.iter().cloned());
        }
        let (mut seen, mut taken) = (0_u64, 0);
        let mut busy = self.busy()?;
        let (mut token, mut tokens): (Option<String>, _) = (None, PageTokens::default());
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok("the scan of the cloud was given up, to stop".to_owned());
            }
            let page = self.amazon.client.describe_page(token.as_deref());
            let page = page.map_err(|error| trouble(&error))?;
            let mut records = Vec::new();
            for desktop in page.workspaces {
                seen += 1;
                missing.remove(desktop.workspace_id.as_str());
                self.strange.remove(desktop.workspace_id.as_str());
                self.seen
                    .insert(desktop.workspace_id.clone().into_boxed_str());
                records.push(desktop.into_record(account, region));
            }
            token = tokens.next(page.next_token)?;
            taken += self.import(records, &mut busy)?;
            if token.is_none() {
                break;
            }
        }
        // Records without an account may be of several.
        missing.retain(|id| {
            !self.strange.contains(id) && (account.is_some() || self.seen.contains(id))
        });
        let gone: Vec<Box<str>> = missing.intersection(&self.missed).cloned().collect();
        let terminated = if is_plausible(seen, missing.len(), known) {
            self.terminate(&gone)?
        } else {
            log_line::say(
                "most desktops of the inventory are missing in the cloud, so none is made TERMINATED: are these the credentials of another account? See \
                 --account",
            );
            missing.clear();
            0
        };
        let message = format!(
            "scanned the cloud: {seen} desktops, {taken} records merged, {} of the inventory missing, {terminated} of them for the second time and \
             now TERMINATED",
            missing.len()
        );
        self.missed = missing;
        Ok(message)
    }

    /// Whether the cloud shows one at least of some of these, or there are none: the credentials of another account show nothing of this one.
    fn shows_one_of(&self, known: &HashSet<Box<str>>) -> Result<bool, Trouble> {
        // Others each time: the order of a set is random.
        let some = known.iter().take(DESCRIBED_AT_ONCE);
        let some: Vec<String> = some.map(ToString::to_string).collect();
        if some.is_empty() {
            return Ok(true);
        }
        let shown = self.amazon.client.describe(&some);
        Ok(!shown.map_err(|error| trouble(&error))?.is_empty())
    }

    /// The desktops with a pending action.
    fn busy(&self) -> Result<HashSet<String>, Trouble> {
        let busy = self.fleet.busy_desktops();
        busy.map_err(|refusal| lost(&refusal))
    }

    /// Merges the records of a page. The state of a desktop with a pending action is that of the action, and its running mode the one from
    /// before, also where it was pending before the page was asked for: `busy`, which becomes that of now.
    fn import(
        &self,
        records: Vec<MergeRecord>,
        busy: &mut HashSet<String>,
    ) -> Result<u64, Trouble> {
        let before = std::mem::replace(busy, self.busy()?);
        let lines = records.into_iter().map(|mut record| {
            if [&before, &*busy]
                .iter()
                .any(|of| of.contains(&record.work_sp_id))
            {
                (record.state, record.running_mode) = (None, None);
            }
            serde_json::to_string(&record).unwrap_or_default()
        });
        let lines: Vec<String> = lines.collect();
        self.fleet.import(&lines).map_err(|refusal| lost(&refusal))
    }

    /// Those that the cloud does not show either when it is asked for them.
    fn terminate(&self, gone: &[Box<str>]) -> Result<u64, Trouble> {
        let mut terminated = 0;
        for ids in gone.chunks(DESCRIBED_AT_ONCE) {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            let shown = self.amazon.client.describe(&ids);
            let shown = shown.map_err(|error| trouble(&error))?;
            let busy = self.busy()?;
            let is_gone = |id: &&String| {
                let is_shown = shown.iter().any(|desktop| desktop.workspace_id == **id);
                !is_shown && !busy.contains(*id)
            };
            let lines = ids.iter().filter(is_gone);
            let lines: Vec<String> = lines
                .map(|id| serde_json::json!({"workSpId": id, "state": "TERMINATED"}).to_string())
                .collect();
            // One on hold is refused: the server's reason is in the log, and it is tried again after the next scan.
            let taken = self.fleet.import(&lines);
            terminated += taken.map_err(|refusal| lost(&refusal))?;
        }
        Ok(terminated)
    }
}

/// Whether the cloud should show a desktop of the inventory: it is there, has an id of AWS, and is none of another account.
fn is_of_this_cloud(desktop: &Desktop, account: Option<&str>) -> bool {
    let of = desktop.record.get("account").and_then(Value::as_str);
    desktop.state.as_deref() != Some("TERMINATED") && is_id(&desktop.id) && of == account
}

/// Whether as much as this can have gone: credentials of another account show none of them.
fn is_plausible(seen: u64, missing: usize, known: usize) -> bool {
    missing == 0 || seen > 0 && missing < known && (missing <= FEW || missing <= known / 2)
}

fn lost(refusal: &Refusal) -> Trouble {
    Trouble::Later {
        after: None,
        why: refusal.to_string(),
    }
}

/// What a first scan would change, for people: counts first.
pub(super) fn plan(fleet: &Fleet, amazon: &Amazon) -> Result<String, String> {
    let (region, account) = (amazon.client.region(), amazon.account.as_deref());
    let mut known = BTreeMap::new();
    let read = fleet.desktops_of(region, account, &mut |desktop| {
        if is_of_this_cloud(&desktop, account) {
            known.insert(desktop.id, desktop.record);
        }
    });
    read.map_err(|refusal| refusal.to_string())?;
    let (mut new, mut changed, mut same) = (Vec::new(), Vec::new(), 0_u64);
    let (mut token, mut tokens): (Option<String>, _) = (None, PageTokens::default());
    loop {
        let page = amazon.client.describe_page(token.as_deref());
        let page = page.map_err(|error| error.to_string())?;
        for desktop in page.workspaces {
            let record = desktop.into_record(account, region);
            let id = record.work_sp_id.clone();
            let value = serde_json::to_value(&record).unwrap_or_default();
            match known.remove(&id) {
                None => new.push(id),
                Some(old) if differs(&value, &old) => changed.push(id),
                Some(_) => same += 1,
            }
        }
        let next = tokens.next(page.next_token);
        token = next.map_err(|repeated| repeated.to_string())?;
        if token.is_none() {
            break;
        }
    }
    let gone: Vec<String> = known.into_keys().collect();
    let mut out = format!(
        "Inventory of {region}: {} new, {} changed, {} gone, {same} as they are\n",
        new.len(),
        changed.len(),
        gone.len()
    );
    for (what, ids) in [("new", new), ("changed", changed), ("gone", gone)] {
        for id in ids.iter().take(PRINTED) {
            let _ = writeln!(out, "  {what}: {}", id.escape_debug());
        }
        if let Some(more) = ids.len().checked_sub(PRINTED).filter(|more| *more > 0) {
            let _ = writeln!(out, "  {what}: and {more} more");
        }
    }
    Ok(out)
}

/// Whether a merge of `new` changes `old`.
fn differs(new: &Value, old: &Value) -> bool {
    let members = new.as_object();
    members.is_some_and(|members| {
        members
            .iter()
            .any(|(name, value)| old.get(name) != Some(value))
    })
}
