//! Credentials that a container or an instance has for its role.

use std::time::Duration;

use http::Uri;
use ureq::Agent;

use super::{Credentials, CredentialsError, Environment, read_document};
use deskfleet_client::transport::{self as client, Bounds, Response};

/// The service of ECS.
const ECS: &str = "http://169.254.170.2";
/// Hosts to which credentials of containers may go in clear text: this machine, ECS and EKS.
const CLEAR_HOSTS: [&str; 6] = [
    "localhost",
    "127.0.0.1",
    "[::1]",
    "169.254.170.2",
    "169.254.170.23",
    "[fd00:ec2::23]",
];
/// The metadata of an instance.
const METADATA: &str = "http://169.254.169.254";
/// Where the roles of an instance are.
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";
const BOUNDS: Bounds = Bounds {
    whole: Duration::from_secs(5),
    // Where there is no instance, nothing reacts at its address.
    connect: Duration::from_secs(1),
    proxied: false,
};

/// The credentials of a container, where the environment names their place.
pub(super) fn container(
    environment: &Environment,
) -> Result<Option<Credentials>, CredentialsError> {
    let relative = environment.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    let full = environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    let (variable, address) = match (relative, full) {
        (Some(path), _) => (
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            format!("{ECS}{path}"),
        ),
        (None, Some(full)) => ("AWS_CONTAINER_CREDENTIALS_FULL_URI", full.to_owned()),
        (None, None) => return Ok(None),
    };
    let failed = |what: &str| CredentialsError(format!("{variable}: {what}"));
    let uri: Uri = address.parse().map_err(|_| failed("is no URI"))?;
    let host = uri.host().unwrap_or_default();
    if uri.scheme_str() != Some("https") && !CLEAR_HOSTS.contains(&host) {
        return Err(failed(
            "without https only this machine and the addresses of ECS and EKS are allowed",
        ));
    }
    let token = match environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(file) => Some(std::fs::read_to_string(file).map_err(|error| {
            let name = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
            CredentialsError(format!("{name}: {file}: {error}"))
        })?),
        None => environment
            .get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
            .map(str::to_owned),
    };
    let headers = token.iter().map(|token| ("authorization", token.trim()));
    let headers: Vec<_> = headers.collect();
    let response = send(&agent()?, "GET", &address, &headers).map_err(|error| failed(&error))?;
    match response.status {
        200 => read_document(variable, &response.body).map(Some),
        status => Err(failed(&format!("the service refused with status {status}"))),
    }
}

/// The credentials of an instance's role, by the second version of its metadata service; `None` where there is no such service.
pub(super) fn instance(environment: &Environment) -> Result<Option<Credentials>, CredentialsError> {
    let off = environment.get("AWS_EC2_METADATA_DISABLED");
    if off.is_some_and(|off| off.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let base = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    let base = base.unwrap_or(METADATA).trim_end_matches('/');
    let agent = agent()?;
    let lifetime = [("x-aws-ec2-metadata-token-ttl-seconds", "300")];
    let token = send(
        &agent,
        "PUT",
        &format!("{base}/latest/api/token"),
        &lifetime,
    );
    let Some(token) = token.ok().filter(|token| token.status == 200) else {
        return Ok(None);
    };
    let token = String::from_utf8_lossy(&token.body);
    let headers = [("x-aws-ec2-metadata-token", token.trim())];
    let get = |path: &str| {
        let response = send(&agent, "GET", &format!("{base}{ROLES}{path}"), &headers);
        let response =
            response.map_err(|error| CredentialsError(format!("instance metadata: {error}")))?;
        match response.status {
            200 => Ok(response.body),
            404 => Err(CredentialsError(
                "the instance has no role: attach an instance profile".to_owned(),
            )),
            status => Err(CredentialsError(format!(
                "instance metadata: status {status}"
            ))),
        }
    };
    let roles = get("")?;
    let roles = String::from_utf8_lossy(&roles);
    let role = roles.lines().next().unwrap_or_default().trim();
    read_document("instance metadata", &get(role)?).map(Some)
}

fn agent() -> Result<Agent, CredentialsError> {
    client::agent(BOUNDS, None).map_err(|error| CredentialsError(error.to_string()))
}

fn send(
    agent: &Agent,
    method: &str,
    address: &str,
    headers: &[(&str, &str)],
) -> Result<Response, String> {
    let mut request = http::Request::builder().method(method).uri(address);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    // The message of a builder shows no values, and neither does that of the client.
    let request = request
        .body(Vec::new())
        .map_err(|error| error.to_string())?;
    client::send(agent, request).map_err(|failure| failure.text)
}
