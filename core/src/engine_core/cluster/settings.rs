//! The settings that all nodes share, and the rules by which they write.

use crate::config::Config;
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::TEXT_MAX;
use crate::locks::lock;
use crate::log::{Appended, EntryId};
use crate::model::{AuditAction, Condition, Severity};
use crate::mutation::configure::{Configure, change, shared_settings, shared_values, take_over};
use crate::mutation::logged::entry::{EntryWriter, LEASE_RULES};
use crate::mutation::logged::{Logged as _, Tag};
use crate::mutation::{AuditAccess, Caller, TakeLease};
use crate::settings::Value;
use crate::store::cluster as stored;
use crate::store::codec::Encoder;
use crate::store::fleet::leases;
use crate::timestamp::Timestamp;

use super::super::EngineCore;
use super::Cluster;

impl Cluster {
    /// Appends settings for all nodes, by these rules, and the audit rows of who changed them.
    pub(super) fn append_configuration(
        &self,
        id: EntryId,
        configure: &Configure,
        audited: &[AuditAccess],
        rules: u16,
    ) -> Result<Appended> {
        let mut entry = EntryWriter::new(rules);
        let mut bytes = Encoder::default();
        configure.encode(&mut bytes);
        entry.append(Tag::Configure, bytes.bytes());
        // A node of a version before these rules cannot read the rows.
        for row in audited.iter().filter(|_| rules >= LEASE_RULES) {
            let mut bytes = Encoder::default();
            row.encode(&mut bytes);
            entry.append(Tag::AuditAccess, bytes.bytes());
        }
        self.append(id, &entry.finish())
    }
}

impl EngineCore {
    /// The lines `name=value` of the shared settings that differ: this node's, with the fleet's.
    pub(crate) fn foreign_settings(&self) -> Result<Vec<(String, String)>> {
        let Some(cluster) = self.cluster() else {
            return Ok(Vec::new());
        };
        let fleets = stored::fleet_configuration(&self.store.snapshot()?)?;
        let Some(fleets) = fleets else {
            return Ok(Vec::new());
        };
        // The fleet's lines as this version writes them: another version has other names, or another order.
        let fleets = shared_settings(&configured(&fleets));
        // Both have the same names in the same order.
        let own = lock(&cluster.own_settings).clone();
        let pairs = own.lines().zip(fleets.lines());
        let differ = pairs.filter(|(own, fleets)| own != fleets);
        Ok(differ
            .map(|(own, fleets)| (own.to_owned(), fleets.to_owned()))
            .collect())
    }

    /// The condition of a node that was started with other settings than those of the fleet.
    pub(in crate::engine_core) fn settings_differ(&self, now: Timestamp) -> Option<Condition> {
        let differ = self.foreign_settings().unwrap_or_default();
        let names = differ.iter().filter_map(|(own, _)| own.split('=').next());
        let names: Vec<_> = names.map(|name| name.trim().to_owned()).collect();
        let text = "The configuration of this node has other settings than the fleet, which hold for all nodes: set the same here and reload \
                    it, or change those of the fleet with `deskfleet cluster settings`.";
        let condition = Condition::new("SettingsDiffer", Severity::Warning, text, now);
        (!names.is_empty()).then(|| condition.about(names.len() as u64, names))
    }

    /// Compares the shared settings of `config` with those of the fleet from now on.
    pub(crate) fn set_own_settings(&self, config: &Config) {
        if let Some(cluster) = self.cluster() {
            *lock(&cluster.own_settings) = shared_settings(config);
        }
    }

    /// Makes the settings of this node those of the fleet.
    pub(crate) fn configure_fleet(&self) -> Result<()> {
        let Some(cluster) = self.cluster() else {
            return Ok(());
        };
        cluster.check_running()?;
        self.verify(cluster)?;
        self.apply_first(cluster)?;
        let _changing = lock(&cluster.changing_settings);
        let settings = lock(&cluster.own_settings).clone();
        self.configure(cluster, settings, &Caller::HOST)
    }

    /// Raises the rules by which the fleet writes to the newest that this program knows: the settings are appended again, by those.
    pub(crate) fn finalize_fleet(&self, by: &Caller) -> Result<()> {
        let Some(cluster) = self.cluster() else {
            return Ok(());
        };
        // Of two calls on this node one raises the rules.
        let _changing = lock(&cluster.changing_settings);
        self.catch_up()?;
        let rules = cluster.rules;
        if cluster.fleet_rules() >= rules {
            return Ok(());
        }
        let older = cluster.nodes_without_rules(rules)?;
        if !older.is_empty() {
            let message = format!(
                "not all nodes know rules {rules}: upgrade {}, or take off the list what is gone for good",
                older.join(", ")
            );
            return Err(EngineError::new(ErrorKind::InvalidResourceState, message));
        }
        let settings = cluster.shared(shared_settings);
        let row = configured_by(by, format!("rules={rules}"));
        self.append_settings(cluster, settings, &[row], rules)
    }

    /// The settings of the fleet, or of that which the store left; `None` without one, or before the first entry.
    pub(crate) fn fleet_settings(&self) -> Result<Option<Vec<(String, Value)>>> {
        let lines = stored::fleet_configuration(&self.store.snapshot()?)?;
        Ok(lines.map(|lines| shared_values(&mut configured(&lines))))
    }

    /// Changes settings of the fleet.
    pub(crate) fn change_fleet_settings(
        &self,
        changes: &[(String, Value)],
        by: &Caller,
    ) -> Result<()> {
        let Some(cluster) = self.cluster() else {
            return Ok(());
        };
        // Two changes on this node shall not replace each other.
        let _changing = lock(&cluster.changing_settings);
        self.catch_up()?;
        self.apply_first(cluster)?;
        let mut config = cluster.shared(Clone::clone);
        for (name, value) in changes {
            change(&mut config, name, value)?;
        }
        self.configure(cluster, shared_settings(&config), by)
    }

    /// Makes these the settings of the fleet, unless they are.
    fn configure(&self, cluster: &Cluster, settings: String, by: &Caller) -> Result<()> {
        let before = cluster.shared(shared_settings);
        let changed = settings.lines().zip(before.lines());
        let changed = changed.filter(|(new, old)| new != old).map(|(new, _)| new);
        let rows = changed_by(by, changed);
        if rows.is_empty() {
            return Ok(());
        }
        self.append_settings(cluster, settings, &rows, cluster.fleet_rules())
    }

    fn append_settings(
        &self,
        cluster: &Cluster,
        settings: String,
        audited: &[AuditAccess],
        rules: u16,
    ) -> Result<()> {
        let id = self.new_entry_id()?;
        let configure = Configure {
            settings,
            founds: None,
        };
        let appended = cluster.append_configuration(id, &configure, audited, rules)?;
        self.apply_through(cluster, appended.position)
    }

    /// Takes or extends the lease of a provider, or ends it.
    pub(crate) fn take_lease(&self, lease: TakeLease) -> Result<Timestamp> {
        if let Some(cluster) = self.cluster() {
            self.catch_up()?;
            self.apply_first(cluster)?;
            let (provider, instance) = (&lease.provider, Some(&*lease.instance));
            let snapshot = self.store.snapshot()?;
            // One that waits asks again and again, and its entries would be kept by all nodes.
            if let Some(refused) = leases::refusal(&snapshot, provider, instance, self.now())? {
                return Err(refused);
            }
            if cluster.fleet_rules() < LEASE_RULES {
                let message = "A fleet knows leases once all its nodes are upgraded and `deskfleet cluster finalize` was run.";
                return Err(EngineError::new(ErrorKind::NotFound, message));
            }
        }
        self.run(lease)
    }
}

/// The audit rows of settings that were changed, as many as their lines need.
fn changed_by<'l>(by: &Caller, lines: impl Iterator<Item = &'l str>) -> Vec<AuditAccess> {
    let mut details: Vec<String> = Vec::new();
    for line in lines {
        let has_room = |detail: &&mut String| detail.chars().count() + line.len() + 2 <= TEXT_MAX;
        if let Some(detail) = details.last_mut().filter(has_room) {
            *detail = format!("{detail}, {line}");
        } else {
            details.push(line.to_owned());
        }
    }
    let rows = details.into_iter();
    rows.map(|detail| configured_by(by, detail)).collect()
}

/// The audit row of a change of the fleet.
pub(super) fn configured_by(by: &Caller, detail: String) -> AuditAccess {
    AuditAccess {
        action: AuditAction::ConfigureFleet,
        detail: Some(detail),
        refused: None,
        by: by.clone(),
    }
}

/// The defaults, with the shared settings of these lines.
fn configured(lines: &str) -> Config {
    let mut config = Config::default();
    take_over(&mut config, lines);
    config
}
