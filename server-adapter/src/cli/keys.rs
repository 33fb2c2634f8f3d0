//! `keys issue`, `keys list`, `keys revoke`.

use deskfleet::NewKey;

use super::configuration::Configuration;
use super::failure::Failure;
use super::output::{data, data_json, say};
use super::store::{file, must_exist_or_be_created, open_existing, open_read_only, open_to_change};

const WHEN_LOCKED: &str = "If that is a running server, use it instead:\n  \
    curl -H \"X-Api-Key: $ADMIN_KEY\" http://HOST:PORT/operator/keys\n\
    with -X POST -H 'content-type: application/json' -d '{\"name\":\"desk\",\"scopes\":[\"read\"]}' to issue one,\n\
    or -X DELETE and the key's id as a last segment to revoke one.";

/// Prints the secret alone on standard output, so that it can go straight to where it is kept.
pub(crate) fn issue(
    key: NewKey,
    create: bool,
    configuration: &Configuration,
) -> Result<(), Failure> {
    let file = file(configuration)?;
    let is_new = !file.exists();
    // With a log the command needs no file.
    if !create && configuration.settings.cluster.log.is_none() {
        must_exist_or_be_created(file)?;
    }
    let engine = open_to_change(configuration, file, WHEN_LOCKED)?;
    if is_new && file.exists() {
        let path = std::path::absolute(file);
        let path = path.as_deref().unwrap_or(file).display();
        say!("There was no store {path}; it is made now.");
    }
    let issued = engine.issue_key(key)?;
    data(&issued.secret)?;
    engine.close()?;
    say!(
        "Issued key {} ({}). It is shown only now.",
        issued.info.id,
        issued.info.name
    );
    Ok(())
}

/// Prints one JSON object a line, without secrets.
pub(crate) fn list(configuration: &Configuration) -> Result<(), Failure> {
    let engine = open_read_only(configuration, WHEN_LOCKED)?;
    for key in engine.keys() {
        data_json(&key)?;
    }
    Ok(engine.close()?)
}

/// Revoking a key again changes nothing and is no failure.
pub(crate) fn revoke(id: u64, force: bool, configuration: &Configuration) -> Result<(), Failure> {
    let engine = open_existing(configuration, WHEN_LOCKED)?;
    let revoked = if force {
        engine.force_revoke_key(id)
    } else {
        engine.revoke_key(id)
    };
    revoked?;
    engine.close()?;
    say!("Key {id} is revoked.");
    Ok(())
}
