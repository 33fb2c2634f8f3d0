//! What servers reached in turns, round by round.

use crate::figures::median;
use crate::servers::Served;

/// The turns of some servers; `None` is one that does not speak the protocol.
#[derive(Debug)]
pub struct Rounds<T> {
    servers: Vec<Served>,
    rounds: Vec<Vec<Option<T>>>,
}

impl<T> Rounds<T> {
    /// Of these servers, none yet.
    #[must_use]
    pub const fn new(servers: Vec<Served>) -> Self {
        Self {
            servers,
            rounds: Vec::new(),
        }
    }

    /// Adds a round: a turn of each server, in their order.
    pub fn add(&mut self, turns: impl Iterator<Item = Option<T>>) {
        self.rounds.push(turns.collect());
    }

    /// The turns of all servers.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.rounds.iter().flatten().flatten()
    }

    /// The turns of one server.
    pub fn turns_of(&self, server: Served) -> impl Iterator<Item = &T> {
        let rounds = self.rounds.iter();
        rounds.filter_map(move |round| self.turn(round, server))
    }

    /// The median of a figure of one server.
    pub fn median(&self, server: Served, figure: impl Fn(&T) -> f64) -> f64 {
        median(self.turns_of(server).map(figure))
    }

    /// The median of the ratios of a figure to that of `base` in the same round; `None` where `base` took no turns.
    pub fn ratio(&self, server: Served, base: Served, figure: impl Fn(&T) -> f64) -> Option<f64> {
        let ratios: Vec<_> = self.ratios(server, base, figure).collect();
        (!ratios.is_empty()).then(|| median(ratios))
    }

    /// The least of those ratios.
    pub fn least_ratio(
        &self,
        server: Served,
        base: Served,
        figure: impl Fn(&T) -> f64,
    ) -> Option<f64> {
        self.ratios(server, base, figure).reduce(f64::min)
    }

    fn ratios(
        &self,
        server: Served,
        base: Served,
        figure: impl Fn(&T) -> f64,
    ) -> impl Iterator<Item = f64> {
        self.rounds.iter().filter_map(move |round| {
            let (own, base) = (self.turn(round, server)?, self.turn(round, base)?);
            Some(figure(own) / figure(base))
        })
    }

    fn turn<'a>(&'a self, round: &'a [Option<T>], server: Served) -> Option<&'a T> {
        let place = self.servers.iter().position(|known| *known == server)?;
        round.get(place)?.as_ref()
    }
}
