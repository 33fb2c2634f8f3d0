//! What the requests of a connection share.

use std::sync::{Arc, Mutex};

use super::progress::Progress;
use crate::locks::lock;
use crate::state::{Live, ServerState};

/// A connection as its requests see it. They share one count of references, which no other connection changes.
#[derive(Debug)]
pub(crate) struct ServedConnection {
    pub(crate) shared: Arc<ServerState>,
    pub(crate) progress: Arc<Progress>,
    /// The options in force when the request began.
    pub(crate) live: Arc<Live>,
}

/// The connection with the options in force.
#[derive(Debug)]
pub(crate) struct CurrentConnection(Mutex<Arc<ServedConnection>>);

impl CurrentConnection {
    pub(crate) fn new(shared: &Arc<ServerState>, progress: &Arc<Progress>) -> Self {
        Self(Mutex::new(Arc::new(ServedConnection {
            shared: Arc::clone(shared),
            progress: Arc::clone(progress),
            live: shared.live(),
        })))
    }

    /// For the next request: the options are read again only if they have changed.
    pub(crate) fn get(&self) -> Arc<ServedConnection> {
        let mut current = lock(&self.0);
        if !current.shared.is_in_force(&current.live) {
            *current = Arc::new(ServedConnection {
                shared: Arc::clone(&current.shared),
                progress: Arc::clone(&current.progress),
                live: current.shared.live(),
            });
        }
        Arc::clone(&current)
    }
}
