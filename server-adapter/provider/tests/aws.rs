//! The client of Amazon WorkSpaces against moto and against a fake with faults.

use std::time::{Duration, Instant};

use crate::clouds::Aws;
use deskfleet_provider::aws::client::{BatchCall, Client, Settings, SingleCall};
use deskfleet_provider::aws::credentials::{CredentialsCache, Environment};
use deskfleet_provider::aws::error::Failure;
use serde_json::json;

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);
/// An id that no desktop has.
const GONE: &str = "ws-999999999";

fn settings(aws: &Aws) -> Settings {
    Settings {
        endpoint: Some(aws.url()),
        per_second: 1000.0,
        burst: 1000,
        ..Settings::in_region("eu-west-1")
    }
}

fn client_in(settings: Settings, environment: &[(&str, &str)]) -> Client {
    let environment = Environment::from_variables(environment);
    Client::new(settings, CredentialsCache::new(environment)).unwrap()
}

fn client_with(aws: &Aws, id: &str, secret: &str) -> Client {
    let set = [("AWS_ACCESS_KEY_ID", id), ("AWS_SECRET_ACCESS_KEY", secret)];
    client_in(settings(aws), &set)
}

fn client(aws: &Aws, user: &str) -> Client {
    let (id, secret) = aws.key(user);
    client_with(aws, &id, &secret)
}

/// Desktops of the fake: `ws-100000000` and on.
fn desktops(fake: &Aws, count: usize) -> Vec<String> {
    let ids: Vec<String> = (0..count)
        .map(|n| format!("ws-{}", 100_000_000 + n))
        .collect();
    let members = ids.iter().map(|id| (id.clone(), json!({})));
    let members: serde_json::Map<_, _> = members.collect();
    fake.control(&json!({"desktops": members}));
    ids
}

fn wait_for(fake: &Aws, id: &str, state: Option<&str>) {
    let begun = Instant::now();
    while fake.state(id).as_deref() != state {
        assert!(begun.elapsed() < PATIENCE, "{:?}", fake.state(id));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn moto_accepts_the_signature_and_describes() {
    let Some(moto) = Aws::moto() else { return };
    let ids: Vec<String> = serde_json::from_value(moto.start["ids"].clone()).unwrap();
    let page = client(&moto, "all").describe(&ids).unwrap();
    let mut users: Vec<_> = page.iter().map(|d| d.user_name.as_deref()).collect();
    users.sort();
    assert_eq!(users, [Some("ana"), Some("ben")]);
    let desktop = page.into_iter().next().unwrap();
    let record = desktop.into_record(Some("123456789012"), "eu-west-1");
    assert_eq!(record.state.as_deref(), Some("AVAILABLE"));
    assert_eq!(record.compute_type_name.as_deref(), Some("POWER"));
    assert_eq!(record.protocol.as_deref(), Some("WSP"));
    assert_eq!(
        record.directory_id.as_deref(),
        moto.start["directory"].as_str()
    );
    let all = client(&moto, "reader").describe_page(None).unwrap();
    assert_eq!(all.workspaces.len(), 2);
}

#[test]
fn moto_refuses_wrong_secret_unknown_key_and_missing_permission_as_denied() {
    let Some(moto) = Aws::moto() else { return };
    let ids: Vec<String> = serde_json::from_value(moto.start["ids"].clone()).unwrap();
    let (id, _) = moto.key("all");
    let wrong = client_with(&moto, &id, "wrong").describe(&ids).unwrap_err();
    let unknown = client_with(&moto, "AKIAUNKNOWN", "x")
        .describe(&ids)
        .unwrap_err();
    let reader = client(&moto, "reader")
        .batch(BatchCall::Terminate, &ids)
        .unwrap_err();
    for error in [wrong, unknown, reader] {
        assert_eq!(error.failure, Failure::Denied, "{error}");
    }
}

#[test]
fn moto_terminates() {
    let Some(moto) = Aws::moto() else { return };
    let ids: Vec<String> = serde_json::from_value(moto.start["ids"].clone()).unwrap();
    let client = client(&moto, "all");
    let both = [ids[0].clone(), GONE.to_owned()];
    let accepted = client.batch(BatchCall::Terminate, &both).unwrap();
    let failed: Vec<_> = accepted.failed.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(failed, [GONE]);
    let left = client.describe(&ids).unwrap();
    let left: Vec<_> = left.iter().map(|desktop| &desktop.workspace_id).collect();
    assert_eq!(left, [&ids[1]]);
}

#[test]
fn fake_carries_out_each_call() {
    let Some(fake) = Aws::fake() else { return };
    let ids = desktops(&fake, 3);
    let client = client(&fake, "all");
    let run = |call: BatchCall, during: &str, after: Option<&str>| {
        let accepted = client.batch(call, &ids).unwrap();
        assert_eq!(accepted.failed, []);
        assert!(accepted.request_id.unwrap().starts_with("request-"));
        assert_eq!(fake.state(&ids[0]).as_deref(), Some(during));
        wait_for(&fake, &ids[0], after);
    };
    // Long enough to be seen under load.
    fake.control(&json!({"seconds": 1}));
    run(BatchCall::Reboot, "REBOOTING", Some("AVAILABLE"));
    run(BatchCall::Stop, "STOPPING", Some("STOPPED"));
    run(BatchCall::Start, "STARTING", Some("AVAILABLE"));
    for (call, during) in [
        (SingleCall::Rebuild, "REBUILDING"),
        (SingleCall::Restore, "RESTORING"),
        (SingleCall::ComputeType("POWER".into()), "UPDATING"),
    ] {
        client.single(&call, &ids[0]).unwrap();
        assert_eq!(fake.state(&ids[0]).as_deref(), Some(during));
        wait_for(&fake, &ids[0], Some("AVAILABLE"));
    }
    for mode in ["ALWAYS_ON", "AUTO_STOP"] {
        client
            .single(&SingleCall::RunningMode(mode.into()), &ids[0])
            .unwrap();
        let desktop = client.describe(&ids[..1]).unwrap().remove(0);
        assert_eq!(
            desktop.workspace_properties.running_mode.as_deref(),
            Some(mode)
        );
        assert_eq!(
            desktop.workspace_properties.compute_type_name.as_deref(),
            Some("POWER")
        );
    }
    run(BatchCall::Terminate, "TERMINATING", None);
    assert_eq!(client.describe(&ids).unwrap(), []);
}

#[test]
fn pages_are_followed_to_the_last() {
    let Some(fake) = Aws::fake() else { return };
    let ids = desktops(&fake, 60);
    let client = client(&fake, "all");
    let (mut found, mut token) = (Vec::new(), None);
    loop {
        let page = client.describe_page(token.as_deref()).unwrap();
        found.push(page.workspaces.len());
        token = page.next_token;
        if token.is_none() {
            break;
        }
    }
    assert_eq!((found, ids.len()), (vec![25, 25, 10], 60));
}

#[test]
fn refusals_are_classified_and_keep_the_request_id() {
    let Some(fake) = Aws::fake() else { return };
    let ids = desktops(&fake, 2);
    let client = client(&fake, "all");
    let failure = |kind: &str| {
        fake.control(
            &json!({"faults": [{"operation": "RestoreWorkspace", "kind": kind, "count": 1}]}),
        );
        let error = client.single(&SingleCall::Restore, &ids[0]).unwrap_err();
        (error.failure, error.request_id.is_some())
    };
    assert_eq!(failure("throttle"), (Failure::Retry { after: None }, true));
    assert_eq!(failure("denied"), (Failure::Denied, true));
    assert_eq!(failure("unavailable"), (Failure::Lost, true));
    assert_eq!(failure("dropped"), (Failure::Lost, false));
    assert_eq!(fake.effects(), []);
    assert_eq!(failure("lost"), (Failure::Lost, false));
    assert_eq!(fake.effects().len(), 1);
    fake.control(&json!({"faults": []}));
    let error = client.single(&SingleCall::Restore, &ids[0]).unwrap_err();
    assert_eq!(error.failure, Failure::InvalidState, "{error}");
    let error = client.single(&SingleCall::Restore, GONE).unwrap_err();
    assert_eq!(error.failure, Failure::NotFound, "{error}");
    let error = client.single(&SingleCall::Rebuild, GONE).unwrap_err();
    assert_eq!(error.failure, Failure::NotFound, "{error}");
}

#[test]
fn batch_with_refused_and_foreign_ids_carries_out_the_others() {
    let Some(fake) = Aws::fake() else { return };
    let mut ids = desktops(&fake, 3);
    ids.extend([GONE.to_owned(), "not an id of AWS".to_owned()]);
    fake.control(&json!({"faults": [{"operation": "*", "kind": "partial", "count": 1}]}));
    let accepted = client(&fake, "all").batch(BatchCall::Reboot, &ids).unwrap();
    let mut failed: Vec<_> = accepted
        .failed
        .iter()
        .map(|(id, e)| (id.as_str(), e.failure))
        .collect();
    failed.sort_by_key(|(id, _)| (*id).to_owned());
    let retry = Failure::Retry { after: None };
    let expected = [
        ("not an id of AWS", Failure::NotFound),
        (ids[1].as_str(), retry),
        (GONE, retry),
    ];
    assert_eq!(failed, expected);
    let done: Vec<_> = fake.effects().into_iter().map(|(_, id)| id).collect();
    assert_eq!(done, [ids[0].clone(), ids[2].clone()]);
}

#[test]
fn expired_credentials_are_looked_for_again() {
    let Some(fake) = Aws::fake() else { return };
    let ids = desktops(&fake, 1);
    let url = fake.url();
    let set = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", url.as_str())];
    let client = client_in(settings(&fake), &set);
    client.describe(&ids).unwrap();
    // The instance gives the first of them.
    fake.control(&json!({"keys": ["AKIDNEXT"]}));
    let error = client.describe(&ids).unwrap_err();
    assert_eq!(error.failure, Failure::Denied, "{error}");
    client.describe(&ids).unwrap();
}

#[test]
fn container_gives_credentials_for_its_token() {
    let Some(fake) = Aws::fake() else { return };
    let ids = desktops(&fake, 1);
    let url = format!("{}/container", fake.url());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "container-token\n").unwrap();
    let mut set = vec![
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", url.as_str()),
        (
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
            file.to_str().unwrap(),
        ),
    ];
    client_in(settings(&fake), &set).describe(&ids).unwrap();
    set.pop();
    let error = client_in(settings(&fake), &set).describe(&ids).unwrap_err();
    assert_eq!(error.failure, Failure::Denied);
    assert!(error.message.contains("status 401"), "{error}");
}

#[test]
fn answer_after_the_timeout_is_lost() {
    let Some(fake) = Aws::fake() else { return };
    let ids = desktops(&fake, 1);
    fake.control(&json!({"seconds": 3, "faults": [{"operation": "RebootWorkspaces", "kind": "later", "count": 1}]}));
    let (id, secret) = fake.key("all");
    let settings = Settings {
        timeout: Duration::from_secs(1),
        ..settings(&fake)
    };
    let set = [
        ("AWS_ACCESS_KEY_ID", id.as_str()),
        ("AWS_SECRET_ACCESS_KEY", &secret),
    ];
    let error = client_in(settings, &set)
        .batch(BatchCall::Reboot, &ids)
        .unwrap_err();
    assert_eq!(error.failure, Failure::Lost, "{error}");
    assert_eq!(fake.effects().len(), 1);
}

#[test]
fn cloud_that_cannot_be_reached_is_a_call_to_repeat() {
    let settings = Settings {
        // Port 9 of this machine: nothing listens there.
        endpoint: Some("http://127.0.0.1:9".into()),
        ..Settings::in_region("eu-west-1")
    };
    let client = client_in(
        settings,
        &[("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")],
    );
    let error = client.describe_page(None).unwrap_err();
    assert_eq!(error.failure, Failure::Retry { after: None }, "{error}");
}

#[test]
fn bucket_keeps_calls_below_the_limit_of_the_cloud() {
    let Some(fake) = Aws::fake() else { return };
    let ids = desktops(&fake, 1);
    // Three tokens more than the client takes: time between sending and arriving.
    fake.control(&json!({"rate": {"perSecond": 10, "burst": 5}}));
    let (id, secret) = fake.key("all");
    let settings = Settings {
        per_second: 10.0,
        burst: 2,
        ..settings(&fake)
    };
    let set = [
        ("AWS_ACCESS_KEY_ID", id.as_str()),
        ("AWS_SECRET_ACCESS_KEY", &secret),
    ];
    let client = client_in(settings, &set);
    for _ in 0..20 {
        client.describe(&ids).unwrap();
    }
    assert_eq!(fake.log().len(), 20);
}
