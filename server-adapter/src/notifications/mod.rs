//! What the server sends by itself: the events of the fleet to webhooks, and a heartbeat to a monitor outside. Each receiver has a thread of
//! its own, so one that is slow or gone delays no other and no request.

mod agent;
mod heartbeat;
mod message;
#[cfg(feature = "cluster")]
mod node_conditions;
pub(crate) mod options;
mod positions;
pub(crate) mod severity;
mod state;
mod webhook;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use deskfleet::Engine;

use crate::locks::lock;
use crate::metrics::Metrics;
use crate::server::background::Background;

use heartbeat::Heartbeat;
use options::NotificationOptions;
use positions::Positions;
pub(crate) use state::{ReceiverState, Receivers};
use webhook::Webhook;

/// What is added to the name of a store for the file with the positions of its webhooks.
const POSITIONS_SUFFIX: &str = "-webhooks";

/// The threads that send. Clones are the same; dropping the last one ends them.
#[derive(Debug, Clone)]
pub struct Notifications(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    engine: Engine,
    metrics: Metrics,
    positions: Arc<Positions>,
    threads: Mutex<Vec<Background>>,
}

/// The receivers of some options, with their secrets.
#[derive(Debug)]
pub struct Prepared {
    webhooks: Vec<Webhook>,
    heartbeat: Option<Heartbeat>,
}

impl Prepared {
    /// Reads the secrets.
    ///
    /// # Errors
    ///
    /// One sentence with the setting, the file and what to do.
    pub fn read(options: &NotificationOptions) -> io::Result<Self> {
        let webhooks = (1..).zip(&options.webhooks.0);
        let webhooks = webhooks.map(|(number, options)| Webhook::read(number, options));
        Ok(Self {
            webhooks: webhooks.collect::<io::Result<_>>()?,
            heartbeat: Heartbeat::new(&options.heartbeat)?,
        })
    }
}

impl Notifications {
    /// Sends nothing yet. The positions of webhooks are kept beside the store in `file`; without one they are lost at the end.
    #[must_use]
    pub fn new(engine: Engine, metrics: Metrics, file: Option<&Path>) -> Self {
        let file = file.map(|file| {
            let mut file = file.as_os_str().to_owned();
            file.push(POSITIONS_SUFFIX);
            file.into()
        });
        Self(Arc::new(Inner {
            engine,
            metrics,
            positions: Arc::new(Positions::new(file)),
            threads: Mutex::default(),
        }))
    }

    /// Ends what was sent before and sends to these receivers from then on, each after the last event that it has taken.
    ///
    /// # Errors
    ///
    /// When the operating system gives no thread.
    pub fn replace(&self, prepared: Prepared) -> io::Result<()> {
        let Inner {
            engine,
            metrics,
            positions,
            threads,
        } = &*self.0;
        let mut threads = lock(threads);
        threads.iter().for_each(Background::stop);
        threads.clear();
        let Prepared {
            webhooks,
            heartbeat,
        } = prepared;
        let names = webhooks.iter().map(Webhook::receiver);
        let names = names.chain(heartbeat.iter().map(Heartbeat::receiver));
        metrics.receivers().begin(names.collect());
        if !webhooks.is_empty() {
            let keys = webhooks.iter().map(Webhook::key).collect();
            // Those that begin now get what happens from now on, also if the server ends before something does.
            let begun = positions.begin(keys, engine.events(None).position());
            webhook::report(begun);
        }
        for webhook in webhooks {
            let name = format!("deskfleet-{}", webhook.receiver().label());
            let (engine, metrics) = (engine.clone(), metrics.clone());
            let positions = Arc::clone(positions);
            let send = move |is_stopping: &dyn Fn() -> bool| {
                webhook.run(&engine, &metrics, &positions, is_stopping);
            };
            threads.push(Background::start(&name, send)?);
        }
        if let Some(heartbeat) = heartbeat {
            let (engine, metrics) = (engine.clone(), metrics.clone());
            let send =
                move |is_stopping: &dyn Fn() -> bool| heartbeat.run(&engine, &metrics, is_stopping);
            threads.push(Background::start("deskfleet-heartbeat", send)?);
        }
        Ok(())
    }

    /// Ends the threads after what they send now, for which it waits 5 s at most. What was not taken is sent after the next start.
    pub fn stop(&self) {
        let mut threads = lock(&self.0.threads);
        threads.iter().for_each(Background::stop);
        threads.clear();
    }
}
