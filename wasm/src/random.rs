//! Randomness from a seed, for hosts that want an engine repeatable to the byte.

use std::sync::atomic::{AtomicU64, Ordering};

/// `SplitMix64`: the same numbers as the core's from the same seed, until [`Self::reseed`].
#[derive(Debug)]
pub(crate) struct SeededRandom {
    seed: u64,
    state: AtomicU64,
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl SeededRandom {
    pub(crate) const fn new(seed: u64) -> Self {
        Self {
            seed,
            state: AtomicU64::new(seed),
        }
    }

    /// Makes the numbers also depend on the count of issued keys: a store that is reopened with its old seed would otherwise draw
    /// the secrets of its old keys again.
    pub(crate) fn reseed(&self, keys_issued: u64) {
        if keys_issued > 0 {
            let state = mix(self.seed ^ mix(keys_issued.wrapping_mul(GAMMA)));
            self.state.store(state, Ordering::Relaxed);
        }
    }

    pub(crate) fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let before = self.state.fetch_add(GAMMA, Ordering::Relaxed);
            let number = mix(before.wrapping_add(GAMMA));
            for (byte, random) in chunk.iter_mut().zip(number.to_le_bytes()) {
                *byte = random;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(random: &SeededRandom) -> [u8; 24] {
        let mut bytes = [0; 24];
        random.fill(&mut bytes);
        bytes
    }

    #[test]
    fn seed_1234567_gives_the_published_words() {
        let mut bytes = [0; 16];
        SeededRandom::new(1_234_567).fill(&mut bytes);
        let words = [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973];
        assert_eq!(bytes[..8], words[0].to_le_bytes());
        assert_eq!(bytes[8..], words[1].to_le_bytes());
    }

    #[test]
    fn reseed_with_another_key_count_draws_other_bytes() {
        let after = |keys| {
            let random = SeededRandom::new(7);
            random.reseed(keys);
            drawn(&random)
        };
        assert_eq!(after(0), drawn(&SeededRandom::new(7)));
        assert_eq!(after(1), after(1));
        let all: std::collections::BTreeSet<_> = (0..100).map(after).collect();
        assert_eq!(all.len(), 100);
    }
}
