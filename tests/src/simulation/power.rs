//! Opening, closing and power cuts.

use deskfleet::{Engine, Event};

use crate::files::{Part, Queue};

use super::fact::{Fact, Upkeep};
use super::fault::Fault;
use super::fault_schedule::cut;
use super::reader::AcceptedReader;
use super::world::World;

impl World {
    /// Opens the engine. On a disk that works it must open.
    pub(super) fn open(&mut self) -> Result<(), String> {
        loop {
            self.opened += 1;
            let heard = self.heard.clone();
            let builder = Engine::builder()
                .clock(self.time.clock())
                .seed(self.seed ^ (self.opened << 32))
                .observer(move |event: &Event<'_>| heard.record_event(event));
            let builder = match self.reader {
                Some(_) => AcceptedReader::keeping(builder),
                None => builder,
            };
            let met = self.disk.met();
            match self.queue.open(builder, &self.config, &self.disk) {
                Ok(engine) => {
                    self.engine = Some(engine);
                    return self.see_swept(Upkeep::Opened);
                }
                Err(error) if self.disk.met() > met => {
                    let text = format!("not opened: {error:?}");
                    self.notify(&Fact::Log(&text))?;
                    self.disk.fail(None, Fault::None, false);
                }
                Err(error) => return Err(format!("a disk that works does not open: {error:?}")),
            }
        }
    }

    /// Cuts the power and restores it.
    pub(super) fn crash(&mut self) -> Result<(), String> {
        self.tally.crashes += 1;
        self.disk.fail(None, Fault::All, true);
        for call in std::mem::take(&mut self.calls) {
            self.tally.unknown += 1;
            self.notify(&Fact::Lost(call.number, &call.intent))?;
        }
        self.engine = None;
        self.heard.take();
        let [store, queue] = [cut(&mut self.chance), cut(&mut self.chance)];
        self.disk.cut(|part| match part {
            Part::Store => store,
            Part::Queue => queue,
        });
        let message = format!("the power went: {store:?} of the store, {queue:?} of the queue");
        self.notify(&Fact::Log(&message))?;
        self.open()
    }

    /// The host closes the engine and opens it again.
    pub(super) fn restart(&mut self) -> Result<(), String> {
        let closed = self.engine()?.close();
        self.collect()?;
        self.engine = None;
        self.notify(&Fact::Log(&format!("closed: {closed:?}")))?;
        if closed.is_ok() {
            self.choose_queue();
        }
        self.open()
    }

    /// A store that was closed can be opened with its queue in either place.
    pub(super) fn choose_queue(&mut self) {
        self.queue = self.chance.choice(Queue::ALL).unwrap_or(Queue::Table);
    }
}
