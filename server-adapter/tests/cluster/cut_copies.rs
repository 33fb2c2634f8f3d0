//! Copies of a store that are cut off on their way to a node that joins.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::{Fleet, has, put, readyz, wait_until};
use crate::load::{Client, Served};

const MB: usize = 1_000_000;

/// Forwards requests to a node. Of each response to a download it forwards no more than the next number of bytes.
struct CuttingProxy {
    address: SocketAddr,
    state: Arc<Mutex<ProxyState>>,
}

struct ProxyState {
    node: SocketAddr,
    /// The last one is next; without one all of it is forwarded.
    cuts: Vec<usize>,
    downloads: usize,
}

impl CuttingProxy {
    fn before(node: SocketAddr, cuts: &[usize]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(ProxyState {
            node,
            cuts: cuts.iter().rev().copied().collect(),
            downloads: 0,
        }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || pass(client, &state));
            }
        });
        Self { address, state }
    }

    fn downloads(&self) -> usize {
        self.state.lock().unwrap().downloads
    }

    fn go_to(&self, node: SocketAddr) {
        self.state.lock().unwrap().node = node;
    }
}

/// Forwards one request, which ends its connection, and the response up to its cut. Each may end early.
fn pass(mut client: TcpStream, state: &Mutex<ProxyState>) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let is_download = String::from_utf8_lossy(&head).contains("/operator/backups/download");
    let (node, most) = {
        let mut state = state.lock().unwrap();
        state.downloads += usize::from(is_download);
        let most = is_download.then(|| state.cuts.pop()).flatten();
        (state.node, most)
    };
    let mut server = TcpStream::connect(node).ok()?;
    server.write_all(&head).ok()?;
    let mut left = most.unwrap_or(usize::MAX);
    let mut bytes = vec![0; 64 * 1024];
    while left > 0 {
        let read = server.read(&mut bytes[..left.min(64 * 1024)]).ok()?;
        if read == 0 {
            break;
        }
        client.write_all(&bytes[..read]).ok()?;
        left -= read;
    }
    client.shutdown(Shutdown::Both).ok()
}

/// Makes the store of a node about 20 MB long, more than the buffers between it and another take.
fn fill(client: &mut Client) {
    let mut number: u64 = 1;
    for batch in 0..25 {
        let lines = (0..400).map(|id| {
            let digits = (0..125).map(|_| {
                // Knuth's constants.
                number = number
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                format!("{number:016x}")
            });
            let tenant: String = digits.collect();
            let id = batch * 400 + id;
            format!("{{\"id\":{id},\"tenantId\":\"{tenant}\"}}\n")
        });
        let lines: String = lines.collect();
        let (status, body) = client
            .ask("POST /operator/telemetry?stream=activity", &lines)
            .unwrap();
        assert_eq!(status, 200, "{body}");
    }
}

/// Starts a node that joins through the proxy.
fn joined(fleet: &Fleet, place: &crate::load::Place, proxy: &CuttingProxy) -> Served {
    let join = format!("--join http://{} --join-key-file admin.key", proxy.address);
    place.serve_with(&format!("{} {join}", fleet.options(place)))
}

#[test]
fn node_that_joins_goes_on_with_a_copy_that_is_cut_off() {
    let Some(fleet) = Fleet::begin() else { return };
    let [first, new] = [(); 2].map(|()| fleet.node_folder());
    let node = fleet.serve(&first);
    let mut client = fleet.client(&node);
    assert_eq!(put(&mut client, "ws-1"), 200);
    fill(&mut client);
    let proxy = CuttingProxy::before(node.address, &[2 * MB, 3 * MB, 0, 4 * MB]);
    let served = joined(&fleet, &new, &proxy);
    assert_eq!(proxy.downloads(), 5);
    let lines = &served.before;
    assert_eq!(
        lines.matches("The copy was cut off after").count(),
        3,
        "{lines}"
    );
    for mb in [1, 4, 8] {
        let line = format!("Going on with the copy after {mb} MB.");
        assert!(lines.contains(&line), "{lines}");
    }
    assert!(!lines.contains("Beginning with another one"), "{lines}");
    let mut client = fleet.client(&served);
    assert!(has(&mut client, "ws-1"));
    wait_until(|| readyz(&mut client).0 == 200);
}

#[test]
fn node_that_joins_begins_again_where_the_other_was_restarted() {
    let Some(fleet) = Fleet::begin() else { return };
    let [first, new] = [(); 2].map(|()| fleet.node_folder());
    let mut node = fleet.serve(&first);
    let mut client = fleet.client(&node);
    fill(&mut client);
    // What comes after the first cut is not forwarded until the node is restarted.
    let proxy = CuttingProxy::before(node.address, &[[3 * MB].as_slice(), &[0; 100]].concat());
    let served = std::thread::scope(|scope| {
        let joining = scope.spawn(|| joined(&fleet, &new, &proxy));
        wait_until(|| proxy.downloads() > 1);
        node.terminate();
        node = fleet.serve(&first);
        assert_eq!(put(&mut fleet.client(&node), "ws-1"), 200);
        proxy.go_to(node.address);
        proxy.state.lock().unwrap().cuts = vec![2 * MB];
        joining.join().unwrap()
    });
    let lines = &served.before;
    assert_eq!(
        lines.matches("Beginning with another one").count(),
        1,
        "{lines}"
    );
    assert!(
        lines.contains("Going on with the copy after 1 MB."),
        "{lines}"
    );
    assert!(has(&mut fleet.client(&served), "ws-1"));
}
