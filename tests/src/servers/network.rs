//! Hosts on a network of their own, between any two of which packets can be dropped, in one direction or both: a network namespace of Linux for each
//! host, joined by a bridge.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};

/// Where a server runs.
#[derive(Debug, Clone)]
pub struct Host {
    /// What it listens at.
    pub address: Ipv4Addr,
    /// The words before a command that is to run there.
    enter: Vec<String>,
}

impl Host {
    /// Where the test runs.
    pub fn local() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST,
            enter: Vec::new(),
        }
    }

    /// A command that runs there.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let Some((first, more)) = self.enter.split_first() else {
            return Command::new(program);
        };
        let mut command = Command::new(first);
        command.args(more).arg(program);
        command
    }
}

/// Hosts that reach each other, and that the test reaches. Dropping it removes them.
#[derive(Debug)]
pub struct Network {
    /// Begins the names of its namespaces and of its link to the test.
    name: String,
    /// The first three bytes of each address.
    subnet: [u8; 3],
    hosts: usize,
}

impl Network {
    /// Makes a network with this many hosts, at most 200. A process can have four.
    ///
    /// `None` where namespaces cannot be made: the test is skipped, with a line that says why. With `DESKFLEET_REQUIRE_NETNS=1` that is
    /// a failure.
    pub fn start(hosts: usize) -> Option<Self> {
        static MADE: AtomicU8 = AtomicU8::new(0);
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        // Of 198.18.0.0/15, which is for tests of networks.
        let [.., high, low] = process.to_be_bytes();
        let network = Self {
            name: format!("df{process}{}", char::from(b'a' + made)),
            subnet: [198, 18 + high % 2, low.wrapping_add(made << 6)],
            hosts,
        };
        let Err(message) = network.build() else {
            return Some(network);
        };
        let required = std::env::var_os("DESKFLEET_REQUIRE_NETNS").is_some_and(|set| set == "1");
        assert!(!required, "no network namespaces: {message}");
        let line = format!(
            "skipped: network namespaces need root, and the packages iproute2 and nftables: {message}\n"
        );
        // Not `eprintln`, which is not shown of a test that passes.
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        None
    }

    /// A host, by its number from 0.
    pub fn host(&self, number: usize) -> Host {
        let net = format!("--net=/run/netns/{}", self.namespace(number));
        let enter = ["nsenter", &net, "--"].map(str::to_owned);
        Host {
            address: self.address(number),
            enter: enter.to_vec(),
        }
    }

    /// Drops what the hosts of `from` send to those of `to` from now on. Nobody is notified of that.
    pub fn cut(&self, from: &[usize], to: &[usize]) {
        let senders = from.iter().map(|host| self.address(*host).to_string());
        let senders = senders.collect::<Vec<_>>().join(", ");
        for host in to {
            let rule = format!("add element inet cuts senders {{ {senders} }}");
            self.filter(*host, &rule).unwrap();
        }
    }

    /// Drops what two groups of hosts send to each other.
    pub fn cut_both(&self, these: &[usize], those: &[usize]) {
        self.cut(these, those);
        self.cut(those, these);
    }

    /// Drops nothing any more; returns how many packets were dropped.
    pub fn heal(&self) -> u64 {
        let packets = |host| {
            self.filter(host, "flush set inet cuts senders").unwrap();
            let message = self.filter(host, "reset counter inet cuts dropped");
            let message = message.unwrap();
            let mut words = message.split_whitespace();
            words.find(|word| *word == "packets").unwrap();
            words.next().unwrap().parse::<u64>().unwrap()
        };
        (0..self.hosts).map(packets).sum()
    }

    fn build(&self) -> Result<(), String> {
        let (name, [a, b, c]) = (&self.name, self.subnet);
        let hub = format!("{name}-hub");
        let mut commands = format!(
            "netns add {hub}\n\
             -n {hub} link add bridge type bridge\n\
             -n {hub} link set bridge up\n\
             link add {name} type veth peer name test netns {hub}\n\
             -n {hub} link set test master bridge up\n\
             addr add {a}.{b}.{c}.1/24 dev {name}\n\
             link set {name} up\n"
        );
        for host in 0..self.hosts {
            let (own, address) = (self.namespace(host), self.address(host));
            write!(
                commands,
                "netns add {own}\n\
                 -n {own} link set lo up\n\
                 -n {own} link add eth0 type veth peer name host{host} netns {hub}\n\
                 -n {hub} link set host{host} master bridge up\n\
                 -n {own} addr add {address}/24 dev eth0\n\
                 -n {own} link set eth0 up\n"
            )
            .unwrap();
        }
        for line in commands.lines() {
            run(Command::new("ip").args(line.split(' ')))?;
        }
        let rules = "table inet cuts {\n\
             set senders { type ipv4_addr; }\n\
             counter dropped {}\n\
             chain received { type filter hook input priority 0; ip saddr @senders counter name dropped drop; }\n\
             }";
        (0..self.hosts).try_for_each(|host| self.filter(host, rules).map(drop))
    }

    /// Changes which packets a host drops; returns what nft prints.
    fn filter(&self, host: usize, rules: &str) -> Result<String, String> {
        run(self.host(host).command("nft").arg(rules))
    }

    fn namespace(&self, host: usize) -> String {
        format!("{}-{host}", self.name)
    }

    fn address(&self, host: usize) -> Ipv4Addr {
        let [a, b, c] = self.subnet;
        Ipv4Addr::new(a, b, c, 10 + u8::try_from(host).unwrap())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let hosts = (0..self.hosts).map(|host| self.namespace(host));
        for namespace in hosts.chain([format!("{}-hub", self.name)]) {
            // Where it could not be made, there is none.
            let mut remove = Command::new("ip");
            let _ = remove
                .args(["netns", "del", &namespace])
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// What a command prints that must succeed.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}", message.trim()))
}
