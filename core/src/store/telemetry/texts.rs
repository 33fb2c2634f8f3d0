//! Texts by number.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

use foldhash::fast::FixedState;

/// Places that are searched for a text.
const PROBES: usize = 8;
/// Places at first; a power of two.
const PLACES_MIN: usize = 64;
/// Most places that are kept when all texts are dropped.
const PLACES_KEPT: usize = 1024;

/// Different texts, each with a number of its own.
///
/// A hash table of which a text takes the first free place of [`PROBES`], so of two texts the one with the lower number comes first.
/// The hash has no secret seed, as the engine has only the injected randomness, and an untrusted client may choose texts that all
/// want the same places: those that find none free are in an ordered map, where a search costs no more than it does among any texts.
#[derive(Debug, Clone)]
pub(super) struct Texts {
    pool: String,
    ends: Vec<usize>,
    /// By hash, numbers; [`Self::EMPTY`] where there is none.
    places: Vec<u32>,
    /// The numbers of texts that found no place; 64 bits wide, as what other maps of texts hold: there is one compiled copy of these.
    crowded: BTreeMap<String, u64>,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            pool: String::new(),
            ends: vec![0],
            places: vec![Self::EMPTY; PLACES_MIN],
            crowded: BTreeMap::new(),
        }
    }
}

impl Texts {
    /// The number of the empty text.
    pub(super) const EMPTY: u32 = 0;

    /// Drops all texts and keeps the memory, unless that is large: every place is written.
    pub(super) fn clear(&mut self) {
        self.pool.clear();
        self.ends.truncate(1);
        self.crowded.clear();
        if self.places.len() > PLACES_KEPT {
            self.places = vec![Self::EMPTY; PLACES_MIN];
        } else {
            self.places.fill(Self::EMPTY);
        }
    }

    /// The number that such bits of a row are.
    pub(super) fn number(bits: u64) -> u32 {
        u32::try_from(bits).unwrap_or(u32::MAX)
    }

    fn range(&self, number: u32) -> Range<usize> {
        let number = number as usize;
        let end = self.ends.get(number).copied().unwrap_or_default();
        let before = number.checked_sub(1).and_then(|at| self.ends.get(at));
        before.copied().unwrap_or_default()..end
    }

    /// The text of a number; empty when there is none.
    pub(super) fn text(&self, number: u32) -> &str {
        self.pool.get(self.range(number)).unwrap_or_default()
    }

    /// The bytes of a text.
    pub(super) fn length(&self, number: u32) -> usize {
        self.range(number).len()
    }

    /// The number of a text, a new one if need be.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return Self::EMPTY;
        }
        let mut free = None;
        for place in self.places_of(text) {
            let number = self.places.get(place).copied().unwrap_or(Self::EMPTY);
            if number == Self::EMPTY {
                free = Some(place);
                break;
            }
            if self.text(number) == text {
                return number;
            }
        }
        if free.is_none()
            && let Some(number) = self.crowded.get(text)
        {
            return Self::number(*number);
        }
        let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.pool.push_str(text);
        self.ends.push(self.pool.len());
        self.put(free, number);
        if self.ends.len() * 2 > self.places.len() {
            self.grow();
        }
        number
    }

    /// The approximate memory they take, in bytes.
    pub(super) fn memory(&self) -> usize {
        /// What a text in the map takes beside its bytes.
        const CROWDED_BYTES: usize = 64;
        let tables = size_of_val(&*self.ends) + size_of_val(&*self.places);
        let crowded = self.crowded.len() * CROWDED_BYTES;
        let copies = if crowded > 0 { 2 } else { 1 };
        copies * self.pool.len() + tables + crowded
    }

    /// How many texts there are, the empty one included.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Drops all but the first `len` texts.
    pub(super) fn truncate(&mut self, len: usize) {
        for number in (len..self.ends.len()).rev() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let mut places = self.places_of(self.text(number));
            let taken = places.find(|place| self.places.get(*place) == Some(&number));
            if let Some(place) = taken.and_then(|place| self.places.get_mut(place)) {
                *place = Self::EMPTY;
            } else {
                let text = self.pool.get(self.range(number));
                self.crowded.remove(text.unwrap_or_default());
            }
        }
        self.ends.truncate(len);
        self.pool
            .truncate(self.ends.last().copied().unwrap_or_default());
    }

    /// The places that a text may take, the best first.
    fn places_of(&self, text: &str) -> impl Iterator<Item = usize> + use<> {
        let last = self.places.len() - 1;
        let hash = usize::try_from(hash(0, text) & u64::from(u32::MAX)).unwrap_or_default();
        (0..PROBES).map(move |probe| hash.wrapping_add(probe) & last)
    }

    fn put(&mut self, free: Option<usize>, number: u32) {
        if let Some(place) = free.and_then(|place| self.places.get_mut(place)) {
            *place = number;
        } else {
            let text = self.text(number).to_owned();
            self.crowded.insert(text, number.into());
        }
    }

    /// Gives all texts new places, in the order of their numbers.
    fn grow(&mut self) {
        self.places = vec![Self::EMPTY; self.places.len() * 4];
        self.crowded.clear();
        for number in 1..u32::try_from(self.ends.len()).unwrap_or(u32::MAX) {
            let mut places = self.places_of(self.text(number));
            let free = places.find(|place| self.places.get(*place) == Some(&Self::EMPTY));
            self.put(free, number);
        }
    }
}

/// A hash of a name of some kind, in memory only.
pub(super) fn hash(kind: u8, name: &str) -> u64 {
    let mut hasher = FixedState::with_seed(u64::from(kind)).build_hasher();
    hasher.write(name.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleared_texts_are_numbered_from_one() {
        let mut texts = Texts::default();
        for count in [3_u32, 5000, 3] {
            for number in 0..count {
                assert_eq!(texts.intern(&format!("ws-{count}-{number}")), number + 1);
            }
            texts.clear();
            assert_eq!(texts.text(1), "");
        }
    }

    #[test]
    fn equal_texts_have_one_number() {
        let mut texts = Texts::default();
        let text = |number: usize| format!("ws-{number:09}");
        let numbers: Vec<_> = (0..5000)
            .map(|number| texts.intern(&text(number)))
            .collect();
        for (number, at) in numbers.iter().zip(0..) {
            assert_eq!(texts.text(*number), text(at));
            assert_eq!(texts.length(*number), text(at).len());
        }
        let again: Vec<_> = (0..5000).map(|at| texts.intern(&text(at))).collect();
        assert_eq!(again, numbers);
        assert_eq!(texts.intern(""), Texts::EMPTY);
        assert_eq!(texts.text(Texts::EMPTY), "");
        assert_eq!(texts.text(u32::MAX), "");
    }

    #[test]
    fn truncate_drops_the_last_texts_and_keeps_the_others() {
        let mut texts = Texts::default();
        let text = |number: usize| format!("ws-{number:09}");
        let first: Vec<_> = (0..1000).map(|at| texts.intern(&text(at))).collect();
        let len = texts.len();
        for _ in 0..3 {
            for at in 500..5000 {
                texts.intern(&text(at));
            }
            texts.truncate(len);
            assert_eq!((texts.len(), texts.pool.len()), (len, 12 * 1000));
        }
        for (at, number) in first.iter().enumerate() {
            assert_eq!(texts.text(*number), text(at));
        }
        let again: Vec<_> = (0..1000).map(|at| texts.intern(&text(at))).collect();
        assert_eq!(again, first);
        let again = texts.intern(&text(4000));
        assert_eq!(texts.text(again), text(4000));
    }

    #[test]
    fn texts_with_one_hash_place_have_one_number_each() {
        let mut texts = Texts::default();
        let mut all = Vec::new();
        for number in 0.. {
            let text = format!("ws-{number}");
            // So also when the places have grown to 256.
            if hash(0, &text) & 255 == 7 {
                all.push(text);
            }
            if all.len() == 100 {
                break;
            }
        }
        let numbers: Vec<_> = all.iter().map(|text| texts.intern(text)).collect();
        assert_eq!(texts.len(), 101);
        assert_eq!(texts.crowded.len(), 92);
        let again: Vec<_> = all.iter().map(|text| texts.intern(text)).collect();
        assert_eq!(again, numbers);
        for (len, crowded) in [(50, 41), (5, 0)] {
            texts.truncate(len);
            assert_eq!(texts.crowded.len(), crowded);
            let again: Vec<_> = all.iter().map(|text| texts.intern(text)).collect();
            assert_eq!(again, numbers);
        }
    }
}
