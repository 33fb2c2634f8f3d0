//! Repeatable randomness; never for secrets.

/// `SplitMix64` (Steele, Lea and Flood, 2014).
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((z ^ (z >> 31)) >> 32).unwrap_or(0)
    }

    /// From `low` to `high`, both included, each as likely.
    pub(super) fn between(&mut self, low: i32, high: i32) -> i32 {
        let width = i64::from(high) - i64::from(low) + 1;
        let offset = (i64::from(self.next()) * width) >> 32;
        i32::try_from(i64::from(low) + offset).unwrap_or(low)
    }

    /// Around the middle of `low` to `high`: two dice instead of one.
    pub(super) fn around(&mut self, low: i32, high: i32) -> i32 {
        i32::midpoint(self.between(low, high), self.between(low, high))
    }

    /// A number with two decimals, from 0 to `high`.
    pub(super) fn decimal(&mut self, high: i32) -> f64 {
        f64::from(self.between(0, high.saturating_mul(100))) / 100.0
    }

    /// One of `items`; what is to be likelier stands there more often.
    pub(super) fn pick<T: Copy, const N: usize>(&mut self, items: &[T; N]) -> T {
        const { assert!(N > 0, "nothing to pick from") };
        let last = i32::try_from(N).unwrap_or(i32::MAX) - 1;
        let place = usize::try_from(self.between(0, last)).unwrap_or(0);
        #[expect(clippy::indexing_slicing, reason = "`place` is at most N - 1")]
        items[place]
    }

    /// `length` characters out of `alphabet`, which is ASCII.
    pub(super) fn word(&mut self, alphabet: &str, length: usize) -> String {
        let last = i32::try_from(alphabet.len()).unwrap_or(i32::MAX) - 1;
        (0..length)
            .filter_map(|_| {
                let place = usize::try_from(self.between(0, last)).ok()?;
                alphabet.as_bytes().get(place).copied().map(char::from)
            })
            .collect()
    }
}
