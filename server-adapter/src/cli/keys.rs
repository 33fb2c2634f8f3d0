//! `keys issue`, `keys list`, `keys revoke`.

use clap::{Args, Subcommand, ValueEnum};
use deskfleet::{AuditAction, KeyFilter, KeyLimits, NewKey, Scope, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::configuration::{Configuration, Overrides};
use super::failure::Failure;
use super::output::{data, data_json, say};
use super::server_args::ServerArgs;
use super::server_url::target;
use super::setting_args::StoreFile;
use super::store::{file, must_exist_or_be_created, open_existing, open_read_only, open_to_change};

const PATH: &str = "/operator/keys";
const WHEN_LOCKED: &str =
    "If that is a running server, do it there: --url http://HOST:PORT --key-file FILE";

#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum KeysCommand {
    /// Issues a key and prints it; it cannot be shown again
    ///
    /// A key may do less than its scopes allow: start some actions alone (--action), on some workspaces alone (--region, --directory), and a
    /// number of destructive ones in an hour (--destructive-per-hour). --for sets scopes and limits for a task; options beside it replace what it
    /// sets.
    #[command(after_help = "Examples:\n  \
        deskfleet keys issue --name service-desk --for helpdesk --expires 2027-01-31\n  \
        deskfleet keys issue --name emea --for operator --region in.eu-west-1,eu-central-1\n  \
        deskfleet keys issue --name agents --for agent --url http://127.0.0.1:8080 --key-file admin.key")]
    Issue(IssueArgs),
    /// Prints all keys, one JSON object a line, without secrets
    List {
        #[command(flatten)]
        server: ServerArgs,
        #[command(flatten)]
        store: StoreFile,
    },
    /// Ends a key
    Revoke {
        /// The number of the key, as `deskfleet keys list` prints it
        #[arg(value_parser = key_id)]
        id: u64,
        /// Even the last key of the scope admin
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        server: ServerArgs,
        #[command(flatten)]
        store: StoreFile,
    },
}

/// The options of `keys issue`.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct IssueArgs {
    /// For people and the audit
    #[arg(long, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    name: String,
    /// The task that the key is for
    #[arg(long = "for", value_name = "TASK")]
    task: Option<Task>,
    /// read, act, admin (includes both, and audit), ingest or audit; may be repeated
    #[arg(long = "scope", value_name = "SCOPE", required_unless_present = "task", value_parser = scope)]
    scopes: Vec<Scope>,
    /// An action that the key may start, such as Reboot; may be repeated; by default all
    #[arg(long = "action", value_name = "ACTION", value_parser = action)]
    actions: Vec<AuditAction>,
    /// The region of the workspaces on which it may start actions: a value, in.A,B or ne.A
    #[arg(long, value_name = "REGION")]
    region: Option<String>,
    /// The directory of these workspaces, likewise
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<String>,
    /// How many of Rebuild, Restore, Terminate and Remove it may start in an hour
    #[arg(long, value_name = "NUMBER")]
    destructive_per_hour: Option<u32>,
    /// Such as 2027-01-31 or 2027-01-31T12:00:00Z; by default the key does not expire
    #[arg(long, value_name = "TIME")]
    expires: Option<Timestamp>,
    /// Make the store where there is none
    #[arg(long, conflicts_with = "url")]
    create: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    store: StoreFile,
}

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Task {
    /// Reads, and starts Reboot, `RecoveryReboot` and Start
    Helpdesk,
    /// Reads, reads the audit, and starts all actions, 20 destructive ones in an hour
    Operator,
    /// Reads the audit and the holds, and nothing else
    Auditor,
    /// Posts telemetry, and reads nothing
    Agent,
    /// Reads: for Prometheus, Grafana and reports
    Collector,
    /// Carries out actions and imports workspaces: for deskfleet-provider
    Provider,
}

impl Task {
    fn scopes(self) -> Vec<Scope> {
        match self {
            Self::Helpdesk => vec![Scope::Read, Scope::Act],
            Self::Operator => vec![Scope::Read, Scope::Act, Scope::Audit],
            Self::Auditor => vec![Scope::Audit],
            Self::Agent => vec![Scope::Ingest],
            Self::Collector => vec![Scope::Read],
            Self::Provider => vec![Scope::Admin],
        }
    }

    fn actions(self) -> Option<Vec<AuditAction>> {
        let names = ["Reboot", "RecoveryReboot", "Start"];
        let actions = names.into_iter().filter_map(AuditAction::limitable);
        (self == Self::Helpdesk).then(|| actions.collect())
    }

    fn destructive_per_hour(self) -> Option<u32> {
        (self == Self::Operator).then_some(20)
    }
}

impl IssueArgs {
    fn key(&self) -> NewKey {
        let scopes = Some(self.scopes.clone()).filter(|scopes| !scopes.is_empty());
        let scopes = scopes.or_else(|| self.task.map(Task::scopes));
        let scopes = scopes.unwrap_or_default();
        // Other scopes may have replaced those that the limits of the task are about.
        let is_limited = scopes.contains(&Scope::Act) && !scopes.contains(&Scope::Admin);
        let task = self.task.filter(|_| is_limited);
        let mut limits = KeyLimits::default();
        let actions = Some(self.actions.clone()).filter(|actions| !actions.is_empty());
        limits.actions = actions.or_else(|| task.and_then(Task::actions));
        if self.region.is_some() || self.directory.is_some() {
            let mut filter = KeyFilter::default();
            filter.region.clone_from(&self.region);
            filter.directory_id.clone_from(&self.directory);
            limits.filter = Some(filter);
        }
        let per_hour = self.destructive_per_hour;
        limits.destructive_per_hour =
            per_hour.or_else(|| task.and_then(Task::destructive_per_hour));
        NewKey::new(&self.name, scopes)
            .expiring(self.expires)
            .limited(limits)
    }
}

impl KeysCommand {
    /// The configuration of the command.
    pub(crate) fn overrides(&self) -> Overrides {
        match self {
            Self::Issue(args) => args.store.overrides(),
            Self::List { store, .. } | Self::Revoke { store, .. } => store.overrides(),
        }
    }
}

fn scope(name: &str) -> Result<Scope, &'static str> {
    Scope::named(name).ok_or("the scopes are read, act, admin, ingest, audit")
}

fn action(name: &str) -> Result<AuditAction, String> {
    AuditAction::limitable(name).ok_or_else(|| {
        let known = AuditAction::LIMITABLE.map(AuditAction::as_str);
        format!("the actions are {}", known.join(", "))
    })
}

fn key_id(text: &str) -> Result<u64, &'static str> {
    let id = text.parse();
    id.map_err(|_| "not the number of a key; `deskfleet keys list` prints it as id")
}

pub(crate) fn run(command: KeysCommand, configuration: &Configuration) -> Result<(), Failure> {
    match command {
        KeysCommand::Issue(args) => issue(&args, configuration),
        KeysCommand::List { server, .. } => list(&server, configuration),
        KeysCommand::Revoke {
            id, force, server, ..
        } => revoke(id, force, &server, configuration),
    }
}

/// What the command prints of a key that was issued.
#[derive(Deserialize)]
struct Issued {
    id: u64,
    name: String,
    #[serde(rename = "key")]
    secret: String,
}

/// Prints the secret alone on standard output, so that it can go straight to where it is kept.
fn issue(args: &IssueArgs, configuration: &Configuration) -> Result<(), Failure> {
    let key = args.key();
    let (issued, engine) = if let Some(client) = args.server.client()? {
        let body = client.post_json(PATH, &json!(key))?;
        let failed = |error| Failure::caused("the server's response is not that of a key", &error);
        let answer: Value = serde_json::from_slice(&body).map_err(failed)?;
        let issued = Issued::deserialize(&answer).map_err(failed)?;
        let wanted = json!(key);
        let members = ["actions", "filter", "destructivePerHour"];
        let has_all = |name: &&str| {
            answer.get(name).unwrap_or(&Value::Null) == wanted.get(name).unwrap_or(&Value::Null)
        };
        if !members.iter().all(has_all) {
            client.delete(&format!("{PATH}/{}", issued.id))?;
            let message = "the server knows no such limits: it is older than this command; the key was revoked";
            return Err(Failure(message.to_owned()));
        }
        (issued, None)
    } else {
        let file = file(configuration)?;
        let is_new = !file.exists();
        // With a log the command needs no file.
        if !args.create && configuration.settings.cluster.log.is_none() {
            must_exist_or_be_created(file)?;
        }
        let engine = open_to_change(configuration, file, WHEN_LOCKED)?;
        if is_new && file.exists() {
            let path = std::path::absolute(file);
            let path = path.as_deref().unwrap_or(file).display();
            say!("There was no store {path}; it is made now.");
        }
        let issued = engine.issue_key(key)?;
        let issued = Issued {
            id: issued.info.id,
            name: issued.info.name,
            secret: issued.secret,
        };
        (issued, Some(engine))
    };
    data(&issued.secret)?;
    if let Some(engine) = engine {
        engine.close()?;
    }
    let Issued { id, name, .. } = issued;
    say!("Issued key {id} ({name}). It is shown only now.");
    Ok(())
}

/// Prints one JSON object a line, without secrets.
fn list(server: &ServerArgs, configuration: &Configuration) -> Result<(), Failure> {
    #[derive(Deserialize)]
    struct Listed {
        keys: Vec<Box<serde_json::value::RawValue>>,
    }
    if let Some(client) = server.client()? {
        let body = client.get(PATH)?;
        let failed = |error| Failure::caused("the server's response is no list of keys", &error);
        let listed: Listed = serde_json::from_slice(&body).map_err(failed)?;
        for key in listed.keys {
            data(key.get())?;
        }
        return Ok(());
    }
    let engine = open_read_only(configuration, WHEN_LOCKED)?;
    for key in engine.keys() {
        data_json(&key)?;
    }
    Ok(engine.close()?)
}

/// Revoking a key again changes nothing and is no failure.
fn revoke(
    id: u64,
    force: bool,
    server: &ServerArgs,
    configuration: &Configuration,
) -> Result<(), Failure> {
    if let Some(client) = server.client()? {
        let parameters = [("force", force.then(|| "true".to_owned()))];
        client.delete(&target(&format!("{PATH}/{id}"), &parameters))?;
    } else {
        let engine = open_existing(configuration, WHEN_LOCKED)?;
        let revoked = if force {
            engine.force_revoke_key(id)
        } else {
            engine.revoke_key(id)
        };
        revoked?;
        engine.close()?;
    }
    say!("Key {id} is revoked.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Command, parse};

    fn issued(line: &str) -> NewKey {
        let line = format!("keys issue --name n {line}");
        let Command::Keys(KeysCommand::Issue(args)) =
            parse(line.split_whitespace().map(Into::into)).unwrap()
        else {
            panic!("{line}");
        };
        args.key()
    }

    #[test]
    fn every_option_of_a_new_key() {
        let key = issued(
            "--scope read --scope ACT --expires 2027-01-31 --action reboot --action RemoveWorkSpaceDbEntry \
             --region eu --directory in.d-1,d-2 --destructive-per-hour 0 --data d",
        );
        assert_eq!(
            key.scopes.iter().collect::<Vec<_>>(),
            [Scope::Read, Scope::Act]
        );
        assert_eq!(key.expires, Some("2027-01-31".parse().unwrap()));
        assert_eq!(
            json!(key),
            json!({
                "name": "n", "scopes": ["read", "act"], "expires": "2027-01-31T00:00:00Z",
                "actions": ["RebootWorkSpace", "RemoveWorkSpaceDbEntry"],
                "filter": {"region": "eu", "directoryId": "in.d-1,d-2"}, "destructivePerHour": 0,
            })
        );
    }

    #[test]
    fn task_sets_scopes_and_limits_that_options_replace() {
        let helpdesk = issued("--for helpdesk").limits.actions.unwrap();
        let names: Vec<_> = helpdesk.iter().map(|action| action.as_str()).collect();
        assert_eq!(
            names,
            [
                "RebootWorkSpace",
                "RecoveryRebootWorkSpace",
                "StartWorkSpace"
            ]
        );
        let operator = issued("--for operator");
        assert_eq!(operator.limits.destructive_per_hour, Some(20));
        let replaced = issued("--for operator --destructive-per-hour 5 --scope act");
        assert_eq!(replaced.limits.destructive_per_hour, Some(5));
        assert_eq!(replaced.scopes.iter().collect::<Vec<_>>(), [Scope::Act]);
        for scope in ["read", "admin"] {
            let replaced = issued(&format!("--for operator --scope {scope}"));
            assert_eq!(replaced.limits, KeyLimits::default(), "{scope}");
        }
    }
}
