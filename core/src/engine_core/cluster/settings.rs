//! The settings that all nodes share, and the rules by which they write.

use crate::config::Config;
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::TEXT_MAX;
use crate::locks::lock;
use crate::log::{Appended, EntryId};
use crate::model::{AuditAction, Condition, Severity};
use crate::mutation::configure::{
    Configure, change, line, shared_settings, shared_values, take_over,
};
use crate::mutation::logged::entry::{EntryWriter, LEASE_RULES};
use crate::mutation::logged::{Logged as _, Tag};
use crate::mutation::{AuditAccess, Caller, TakeLease};
use crate::settings::Value;
use crate::store::cluster as stored;
use crate::store::codec::Encoder;
use crate::timestamp::Timestamp;

use super::super::EngineCore;
use super::Cluster;

impl Cluster {
    /// Appends settings for all nodes, by these rules, and the audit row of who changed them.
    pub(super) fn append_configuration(
        &self,
        id: EntryId,
        configure: &Configure,
        audited: Option<&AuditAccess>,
        rules: u16,
    ) -> Result<Appended> {
        let mut entry = EntryWriter::new(rules);
        let mut bytes = Encoder::default();
        configure.encode(&mut bytes);
        entry.append(Tag::Configure, bytes.bytes());
        // A node of a version before these rules cannot read the row.
        if let Some(row) = audited.filter(|_| rules >= LEASE_RULES) {
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
        let settings = lock(&cluster.own_settings).clone();
        let names = self.foreign_settings()?.into_iter().map(|(own, _)| own);
        let row = configured_by(Caller::HOST, names.collect());
        self.configure(cluster, settings, Some(&row), cluster.fleet_rules())
    }

    /// Raises the rules by which the fleet writes to the newest that this program knows: the settings are appended again, by those.
    pub(crate) fn finalize_fleet(&self) -> Result<()> {
        let Some(cluster) = self.cluster() else {
            return Ok(());
        };
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
        self.configure(cluster, settings, None, rules)
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
        by: Caller,
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
        let settings = shared_settings(&config);
        let lines = changes.iter().map(|(name, value)| line(name, value));
        let row = configured_by(by, lines.collect());
        self.configure(cluster, settings, Some(&row), cluster.fleet_rules())
    }

    fn configure(
        &self,
        cluster: &Cluster,
        settings: String,
        audited: Option<&AuditAccess>,
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
            if cluster.fleet_rules() < LEASE_RULES {
                let message = "A fleet knows leases once all its nodes are upgraded and `deskfleet cluster finalize` was run.";
                return Err(EngineError::new(ErrorKind::NotFound, message));
            }
        }
        self.run(lease)
    }
}

/// The audit row of settings that were changed: their lines, or how many they are where those are longer than a row keeps.
fn configured_by(by: Caller, lines: Vec<String>) -> AuditAccess {
    let mut text = lines.join(", ");
    if text.chars().count() > TEXT_MAX {
        text = format!("{} settings", lines.len());
    }
    AuditAccess {
        action: AuditAction::ConfigureFleet,
        detail: (!text.is_empty()).then_some(text),
        refused: None,
        by,
    }
}

/// The defaults, with the shared settings of these lines.
fn configured(lines: &str) -> Config {
    let mut config = Config::default();
    take_over(&mut config, lines);
    config
}
