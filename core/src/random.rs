//! The injected randomness: the bytes of API keys and the seed of trace ids.

use std::sync::atomic::{AtomicU64, Ordering};

/// Fills a buffer with random bytes; returns `false` when none are available.
pub(crate) type FillRandom = dyn Fn(&mut [u8]) -> bool + Send + Sync;

/// `SplitMix64` (Steele, Lea and Flood, 2014): spreads a seed over any number of words. Not for secrets.
#[derive(Debug)]
pub(crate) struct SplitMix(AtomicU64);

impl SplitMix {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(crate) fn next(&self) -> u64 {
        const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self
            .0
            .fetch_add(GAMMA, Ordering::Relaxed)
            .wrapping_add(GAMMA);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            for (byte, random) in chunk.iter_mut().zip(self.next().to_le_bytes()) {
                *byte = random;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_1234567_gives_the_published_words() {
        let random = SplitMix::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn fill_of_an_odd_length_fills_every_byte() {
        let mut buffer = [0; 13];
        SplitMix::new(7).fill(&mut buffer);
        assert!(buffer[8..].iter().any(|byte| *byte != 0));
    }
}
