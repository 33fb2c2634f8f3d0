//! Repeatable randomness; never for secrets.

/// `SplitMix64` (Steele, Lea and Flood, 2014).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The sequence of a seed and numbers, such as those of a desktop and a day: each has one of its own.
    #[must_use]
    pub fn for_numbers(seed: u64, numbers: &[i64]) -> Self {
        let mut mixed = Self(seed);
        for number in numbers {
            // The bits of a negative number are as good as any.
            mixed.0 ^= number.cast_unsigned().wrapping_mul(0xd6e8_feb8_6659_fd93);
            let (high, low) = (u64::from(mixed.next()), u64::from(mixed.next()));
            mixed.0 = (high << 32) | low;
        }
        mixed
    }

    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((z ^ (z >> 31)) >> 32).unwrap_or(0)
    }

    /// From `low` to `high`, both included, each as likely.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        let width = i64::from(high) - i64::from(low) + 1;
        let offset = (i64::from(self.next()) * width) >> 32;
        i32::try_from(i64::from(low) + offset).unwrap_or(low)
    }

    /// Around the middle of `low` to `high`: two dice instead of one.
    pub fn around(&mut self, low: i32, high: i32) -> i32 {
        i32::midpoint(self.between(low, high), self.between(low, high))
    }

    /// A number with two decimals, from 0 to `high`.
    pub fn decimal(&mut self, high: i32) -> f64 {
        f64::from(self.between(0, high.saturating_mul(100))) / 100.0
    }

    /// One of `items`; what is to be likelier stands there more often.
    pub fn pick<T: Copy, const N: usize>(&mut self, items: &[T; N]) -> T {
        const { assert!(N > 0, "nothing to pick from") };
        let last = i32::try_from(N).unwrap_or(i32::MAX) - 1;
        let place = usize::try_from(self.between(0, last)).unwrap_or(0);
        #[expect(clippy::indexing_slicing, reason = "`place` is at most N - 1")]
        items[place]
    }

    /// `length` characters out of `alphabet`, which is ASCII.
    pub fn word(&mut self, alphabet: &str, length: usize) -> String {
        let last = i32::try_from(alphabet.len()).unwrap_or(i32::MAX) - 1;
        (0..length)
            .filter_map(|_| {
                let place = usize::try_from(self.between(0, last)).ok()?;
                alphabet.as_bytes().get(place).copied().map(char::from)
            })
            .collect()
    }
}
