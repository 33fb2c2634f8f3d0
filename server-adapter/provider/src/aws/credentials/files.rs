//! The files that clients of AWS share: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::{Credentials, CredentialsError, Environment, process, unsupported};

/// Bytes of a shared file that are read.
const FILE_MAX: u64 = 1 << 20;

type Profile = BTreeMap<String, String>;

impl Environment {
    /// The region that is set for all clients of AWS, by `AWS_REGION`, `AWS_DEFAULT_REGION` or the profile.
    ///
    /// # Errors
    ///
    /// Where the shared files cannot be read.
    pub fn region(&self) -> Result<Option<String>, CredentialsError> {
        let set = ["AWS_REGION", "AWS_DEFAULT_REGION"];
        match set.iter().find_map(|name| self.get(name)) {
            Some(region) => Ok(Some(region.to_owned())),
            None => region(self),
        }
    }
}

/// Credentials of the profile that the environment selects.
pub(super) fn find(environment: &Environment) -> Result<Option<Credentials>, CredentialsError> {
    let name = profile_name(environment);
    let profile = profile(environment, name)?;
    let place = format!("AWS profile {name}");
    let get = |key: &str| profile.get(key).map(String::as_str);
    if let (Some(id), Some(secret)) = (get("aws_access_key_id"), get("aws_secret_access_key")) {
        let token = get("aws_session_token");
        return Ok(Some(Credentials::new(id, secret, token, None)));
    }
    if let Some(command) = get("credential_process") {
        return process::run(&place, command).map(Some);
    }
    let others = [
        ("role_arn", "a role to assume"),
        ("sso_session", "single sign-on"),
        ("sso_start_url", "single sign-on"),
        ("web_identity_token_file", "a web identity"),
    ];
    if let Some((_, what)) = others.iter().find(|(key, _)| get(key).is_some()) {
        return Err(unsupported(&place, what));
    }
    if environment.get("AWS_PROFILE").is_some() {
        return Err(CredentialsError(format!(
            "{place} has no credentials: give it aws_access_key_id and aws_secret_access_key, or credential_process"
        )));
    }
    Ok(None)
}

/// The region of the profile that the environment selects.
pub(super) fn region(environment: &Environment) -> Result<Option<String>, CredentialsError> {
    let mut profile = profile(environment, profile_name(environment))?;
    Ok(profile.remove("region"))
}

fn profile_name(environment: &Environment) -> &str {
    environment.get("AWS_PROFILE").unwrap_or("default")
}

/// What both files say of a profile; that of the credentials wins.
fn profile(environment: &Environment, name: &str) -> Result<Profile, CredentialsError> {
    let path = |variable: &str, usual: &str| match environment.get(variable) {
        Some(path) => Some(PathBuf::from(path)),
        None => environment.in_home(usual),
    };
    let config = path("AWS_CONFIG_FILE", ".aws/config");
    let credentials = path("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials");
    let mut profile = Profile::new();
    let long = format!("profile {name}");
    let of_config = if name == "default" {
        vec!["default", &long]
    } else {
        vec![long.as_str()]
    };
    for (file, sections) in [(config, of_config), (credentials, vec![name])] {
        let text = file.map(|file| read(&file)).transpose()?;
        profile.extend(section(&text.unwrap_or_default(), &sections));
    }
    Ok(profile)
}

/// A file that is missing is empty.
fn read(path: &Path) -> Result<String, CredentialsError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(FILE_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(CredentialsError(format!("{}: {error}", path.display()))),
    }
}

/// The settings of the sections with these names. Indented lines belong to a setting before them, and are left out.
fn section(text: &str, names: &[&str]) -> Profile {
    let mut profile = Profile::new();
    let mut is_within = false;
    for line in text.lines() {
        let is_setting =
            line.starts_with(|first: char| !first.is_whitespace() && !matches!(first, '#' | ';'));
        if let Some(name) = line.trim().strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            is_within = names.contains(&name.as_str());
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_within && is_setting)
        {
            profile.insert(key.trim().to_lowercase(), value.trim().to_owned());
        }
    }
    profile
}
