//! Repeatable randomness.

/// A sequence of numbers that is determined by its seed.
#[derive(Debug, Clone)]
pub struct Seed(u64);

impl Seed {
    /// The sequence of that seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; `None` when there is none.
    pub fn below(&mut self, end: usize) -> Option<usize> {
        let number = self.number().checked_rem(end as u64)?;
        usize::try_from(number).ok()
    }

    /// One of these.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len()).expect("something to choose")]
    }

    /// True in `n` of a hundred cases.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.number() % 100 < chance
    }
}
