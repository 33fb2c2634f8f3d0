//! A way to a server on this machine that can be closed.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard};

/// Forwards connections to a port while it is open; closing it ends them. While it is held nothing passes and nothing ends, as where packets
/// are dropped.
pub(crate) struct Gate {
    port: u16,
    open: Arc<Mutex<Option<Vec<TcpStream>>>>,
    held: Arc<RwLock<()>>,
}

impl Gate {
    pub(crate) fn before(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let gate = Self {
            port: listener.local_addr().unwrap().port(),
            open: Arc::new(Mutex::new(Some(Vec::new()))),
            held: Arc::default(),
        };
        let (open, held) = (Arc::clone(&gate.open), Arc::clone(&gate.held));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // A closed gate drops it.
                let mut open = open.lock().unwrap();
                if let Some(streams) = &mut *open
                    && let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
                {
                    for (from, to) in [(&client, &server), (&server, &client)] {
                        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                        streams.push(from.try_clone().unwrap());
                        let held = Arc::clone(&held);
                        std::thread::spawn(move || forward(from, to, &held));
                    }
                }
            }
        });
        gate
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn close(&self) {
        for stream in self.open.lock().unwrap().take().into_iter().flatten() {
            // It may have ended already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Holds back all bytes until the returned value is dropped.
    pub(crate) fn hold(&self) -> RwLockWriteGuard<'_, ()> {
        self.held.write().unwrap()
    }

    pub(crate) fn open(&self) {
        self.open.lock().unwrap().get_or_insert_default();
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, held: &RwLock<()>) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(read) = from.read(&mut bytes) {
        let piece = bytes.get(..read).unwrap_or_default();
        let _passes = held.read().unwrap_or_else(PoisonError::into_inner);
        if piece.is_empty() || to.write_all(piece).is_err() {
            break;
        }
    }
    // Either may have ended already.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
