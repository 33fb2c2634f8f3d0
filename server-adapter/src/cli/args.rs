//! The command line, parsed and checked before anything is touched.

use std::ffi::OsString;
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use deskfleet::{NewKey, Scope, Timestamp};
use lexopt::{Arg, Parser, ValueExt as _};

use super::failure::Failure;

const DATA: &str = "deskfleet.redb";
const LISTEN: &str = "127.0.0.1:8080";

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Version,
    Serve(ServeArgs),
    Import { file: PathBuf, data: PathBuf },
    IssueKey { key: NewKey, data: PathBuf },
    ListKeys { data: PathBuf },
    RevokeKey { id: u64, data: PathBuf },
    Check { data: PathBuf },
    Backup { destination: PathBuf, data: PathBuf },
    Compact { data: PathBuf },
}

/// The options of `serve`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServeArgs {
    /// The file of the store; `None` for memory.
    pub(crate) data: Option<PathBuf>,
    pub(crate) listen: SocketAddr,
    pub(crate) demo: bool,
    pub(crate) quiet: bool,
    /// Where copies go that are asked for by a signal.
    pub(crate) backups: Option<PathBuf>,
    /// Accepted host names.
    pub(crate) hosts: Vec<String>,
    /// Whether a proxy names the source of each request.
    pub(crate) proxied: bool,
    /// Connections at once; `None` for as many as the system allows, within reason.
    pub(crate) connections: Option<usize>,
    /// Connections from one source; `None` for a quarter of all.
    pub(crate) connections_per_source: Option<usize>,
}

/// Everything the command line can say, before it is known which command may say it.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one switch of the command line"
)]
struct Given {
    help: bool,
    version: bool,
    memory: bool,
    demo: bool,
    quiet: bool,
    proxied: bool,
    hosts: Vec<String>,
    connections: Option<usize>,
    connections_per_source: Option<usize>,
    data: Option<PathBuf>,
    backups: Option<PathBuf>,
    listen: Option<String>,
    name: Option<String>,
    scopes: Vec<Scope>,
    expires: Option<Timestamp>,
    words: Vec<OsString>,
}

/// What `arguments`, without the program's name, ask for.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, Failure> {
    let arguments: Vec<OsString> = arguments.collect();
    let given = read(Parser::from_args(arguments)).map_err(|error| usage(error.to_string()))?;
    if given.help {
        return Ok(Command::Help);
    }
    if given.version {
        return Ok(Command::Version);
    }
    command(given)
}

fn read(mut parser: Parser) -> Result<Given, lexopt::Error> {
    let mut given = Given::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => given.help = true,
            Arg::Short('V') | Arg::Long("version") => given.version = true,
            Arg::Long("memory") => given.memory = true,
            Arg::Long("demo") => given.demo = true,
            Arg::Long("quiet") => given.quiet = true,
            Arg::Long("proxied") => given.proxied = true,
            Arg::Long("host") => given.hosts.push(parser.value()?.parse_with(host)?),
            Arg::Long("connections") => {
                let count = parser.value()?.parse::<NonZeroUsize>()?;
                given.connections = Some(count.get());
            }
            Arg::Long("connections-per-source") => {
                let count = parser.value()?.parse::<NonZeroUsize>()?;
                given.connections_per_source = Some(count.get());
            }
            Arg::Long("data") => given.data = Some(parser.value()?.into()),
            Arg::Long("backups") => given.backups = Some(parser.value()?.into()),
            Arg::Long("listen") => given.listen = Some(parser.value()?.string()?),
            Arg::Long("name") => given.name = Some(parser.value()?.string()?),
            Arg::Long("scope") => {
                let scope = parser.value()?.parse_with(|name| {
                    Scope::named(name).ok_or("the scopes are read, act, admin, ingest")
                })?;
                given.scopes.push(scope);
            }
            Arg::Long("expires") => {
                given.expires = Some(parser.value()?.parse_with(str::parse::<Timestamp>)?);
            }
            Arg::Value(word) => given.words.push(word),
            Arg::Short(_) | Arg::Long(_) => return Err(argument.unexpected()),
        }
    }
    Ok(given)
}

/// The command that the words name, with the options it takes; an option left over is wrong usage.
fn command(mut given: Given) -> Result<Command, Failure> {
    let mut words = std::mem::take(&mut given.words).into_iter();
    let name = words.next().unwrap_or_else(|| "serve".into());
    let command = match name.to_str() {
        Some("serve") => serve(&mut given)?,
        Some("import") => Command::Import {
            file: path(words.next(), "FILE, or - for standard input")?,
            data: given.data(),
        },
        Some("keys") => keys(&mut given, &mut words)?,
        Some("check") => Command::Check { data: given.data() },
        Some("backup") => Command::Backup {
            destination: path(words.next(), "DEST")?,
            data: given.data(),
        },
        Some("compact") => Command::Compact { data: given.data() },
        _ => return Err(usage(format!("there is no command {}", name.display()))),
    };
    if let Some(word) = words.next() {
        return Err(usage(format!("unexpected argument {}", word.display())));
    }
    match given.left_over() {
        Some(option) => Err(usage(format!("{} takes no {option}", name.display()))),
        None => Ok(command),
    }
}

fn serve(given: &mut Given) -> Result<Command, Failure> {
    let memory = std::mem::take(&mut given.memory);
    if memory && given.data.is_some() {
        return Err(usage("--memory and --data exclude each other"));
    }
    let listen = given.listen.take();
    Ok(Command::Serve(ServeArgs {
        data: (!memory).then(|| given.data()),
        listen: address(listen.as_deref().unwrap_or(LISTEN))?,
        demo: std::mem::take(&mut given.demo),
        quiet: std::mem::take(&mut given.quiet),
        backups: given.backups.take(),
        hosts: std::mem::take(&mut given.hosts),
        proxied: std::mem::take(&mut given.proxied),
        connections: given.connections.take(),
        connections_per_source: given.connections_per_source.take(),
    }))
}

fn keys(given: &mut Given, words: &mut impl Iterator<Item = OsString>) -> Result<Command, Failure> {
    let word = words.next();
    match word.as_deref().and_then(|word| word.to_str()) {
        Some("issue") => Ok(Command::IssueKey {
            key: new_key(given)?,
            data: given.data(),
        }),
        Some("list") => Ok(Command::ListKeys { data: given.data() }),
        Some("revoke") => {
            let id = words.next().and_then(|id| id.to_str()?.parse().ok());
            Ok(Command::RevokeKey {
                id: id.ok_or_else(|| usage("keys revoke needs the ID of a key, a number"))?,
                data: given.data(),
            })
        }
        _ => Err(usage("keys needs issue, list or revoke")),
    }
}

fn new_key(given: &mut Given) -> Result<NewKey, Failure> {
    let name = given.name.take().filter(|name| !name.is_empty());
    let scopes = std::mem::take(&mut given.scopes);
    if scopes.is_empty() {
        return Err(usage("keys issue needs at least one --scope"));
    }
    Ok(NewKey {
        name: name.ok_or_else(|| usage("keys issue needs a --name"))?,
        scopes: scopes.into_iter().collect(),
        expires: given.expires.take(),
    })
}

fn path(word: Option<OsString>, what: &str) -> Result<PathBuf, Failure> {
    word.map(PathBuf::from)
        .ok_or_else(|| usage(format!("missing argument: {what}")))
}

/// An address such as `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
fn address(text: &str) -> Result<SocketAddr, Failure> {
    text.to_socket_addrs()
        .ok()
        .and_then(|mut addresses| addresses.next())
        .ok_or_else(|| usage(format!("--listen {text}: not an address such as {LISTEN}")))
}

/// A host name without port or path.
fn host(text: &str) -> Result<String, &'static str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_name) {
        return Err("a host is a name such as fleet.example.com, without port or path");
    }
    Ok(text.to_owned())
}

impl Given {
    fn data(&mut self) -> PathBuf {
        self.data.take().unwrap_or_else(|| DATA.into())
    }

    /// An option that no command has taken.
    fn left_over(&self) -> Option<&'static str> {
        [
            (self.memory, "--memory"),
            (self.demo, "--demo"),
            (self.quiet, "--quiet"),
            (self.proxied, "--proxied"),
            (!self.hosts.is_empty(), "--host"),
            (self.backups.is_some(), "--backups"),
            (self.connections.is_some(), "--connections"),
            (
                self.connections_per_source.is_some(),
                "--connections-per-source",
            ),
            (self.listen.is_some(), "--listen"),
            (self.name.is_some(), "--name"),
            (!self.scopes.is_empty(), "--scope"),
            (self.expires.is_some(), "--expires"),
        ]
        .into_iter()
        .find_map(|(given, option)| given.then_some(option))
    }
}

fn usage(sentence: impl Into<String>) -> Failure {
    Failure::Usage(sentence.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, Failure> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn serve_is_what_no_command_means() {
        let expected = Command::Serve(ServeArgs {
            data: Some(DATA.into()),
            listen: LISTEN.parse().unwrap(),
            demo: true,
            quiet: false,
            backups: None,
            hosts: Vec::new(),
            proxied: false,
            connections: None,
            connections_per_source: None,
        });
        assert_eq!(parsed("--demo").unwrap(), expected);
        assert_eq!(parsed("serve --demo").unwrap(), expected);
        assert!(matches!(
            parsed("--memory --listen [::1]:0").unwrap(),
            Command::Serve(ServeArgs { data: None, .. })
        ));
        let line = "--host a.example --host b --proxied --connections 7";
        assert!(matches!(
            parsed(line).unwrap(),
            Command::Serve(ServeArgs { hosts, proxied: true, connections: Some(7), .. })
                if hosts == ["a.example", "b"]
        ));
    }

    #[test]
    fn every_other_command() {
        let data: PathBuf = "d".into();
        for (line, expected) in [
            ("--help", Command::Help),
            ("keys --help", Command::Help),
            ("-V", Command::Version),
            (
                "import - --data d",
                Command::Import {
                    file: "-".into(),
                    data: data.clone(),
                },
            ),
            ("--data d check", Command::Check { data: data.clone() }),
            (
                "backup to --data=d",
                Command::Backup {
                    destination: "to".into(),
                    data: data.clone(),
                },
            ),
            ("compact --data d", Command::Compact { data: data.clone() }),
            (
                "keys list --data d",
                Command::ListKeys { data: data.clone() },
            ),
            (
                "keys revoke 7 --data d",
                Command::RevokeKey {
                    id: 7,
                    data: data.clone(),
                },
            ),
            (
                "keys issue --name n --scope read --scope ACT --expires 2027-01-31 --data d",
                Command::IssueKey {
                    key: NewKey {
                        name: "n".into(),
                        scopes: [Scope::Read, Scope::Act].into_iter().collect(),
                        expires: Some("2027-01-31".parse().unwrap()),
                    },
                    data,
                },
            ),
        ] {
            assert_eq!(parsed(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn wrong_usage_returns_a_usage_failure() {
        for line in [
            "surf",
            "serve now",
            "--bogus",
            "--memory --data d",
            "--listen nowhere",
            "--listen",
            "--host https://fleet.example",
            "--host fleet.example:80",
            "--connections 0",
            "--connections-per-source 0",
            "check --connections-per-source 9",
            "check --host fleet.example",
            "import",
            "import a b",
            "import a --memory",
            "check --scope read",
            "backup",
            "keys",
            "keys issue --name n",
            "keys issue --scope read",
            "keys issue --name n --scope root",
            "keys issue --name n --scope read --expires tomorrow",
            "keys revoke",
            "keys revoke one",
        ] {
            assert!(matches!(parsed(line), Err(Failure::Usage(_))), "{line}");
        }
    }
}
