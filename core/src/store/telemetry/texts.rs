//! Texts by number.

/// Places that are looked at for a text before it gets another number.
const PROBES: usize = 8;
/// Places at first; a power of two.
const PLACES_MIN: usize = 64;
/// Most places that are kept when all texts are dropped.
const PLACES_KEPT: usize = 1024;

/// Texts, each with a number. Equal texts nearly always have one number, but where too many hashes meet they may have
/// several: who must know compares the texts.
#[derive(Debug)]
pub(super) struct Texts {
    pool: String,
    ends: Vec<usize>,
    /// By hash, numbers; [`Self::EMPTY`] where there is none.
    places: Vec<u32>,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            pool: String::new(),
            ends: vec![0],
            places: vec![Self::EMPTY; PLACES_MIN],
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

    /// The text of a number; empty when there is none.
    pub(super) fn text(&self, number: u32) -> &str {
        let number = number as usize;
        let end = self.ends.get(number).copied().unwrap_or_default();
        let before = number.checked_sub(1).and_then(|at| self.ends.get(at));
        let start = before.copied().unwrap_or_default();
        self.pool.get(start..end).unwrap_or_default()
    }

    /// The bytes of a text.
    pub(super) fn length(&self, number: u32) -> usize {
        let number = number as usize;
        let end = self.ends.get(number).copied().unwrap_or_default();
        let before = number.checked_sub(1).and_then(|at| self.ends.get(at));
        end.saturating_sub(before.copied().unwrap_or_default())
    }

    /// The number of a text, a new one if need be.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return Self::EMPTY;
        }
        if self.ends.len() * 2 > self.places.len() {
            self.grow();
        }
        let hash = hash(text);
        let mut free = None;
        for probe in 0..PROBES {
            let place = self.place(hash, probe);
            let number = self.places.get(place).copied().unwrap_or(Self::EMPTY);
            if number == Self::EMPTY {
                free = Some(place);
                break;
            }
            if self.text(number) == text {
                return number;
            }
        }
        self.pool.push_str(text);
        self.ends.push(self.pool.len());
        let number = u32::try_from(self.ends.len() - 1).unwrap_or(u32::MAX);
        let place = free.unwrap_or_else(|| self.place(hash, 0));
        if let Some(place) = self.places.get_mut(place) {
            *place = number;
        }
        number
    }

    /// How many texts there are, the empty one included.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Drops all but the first `len` texts.
    pub(super) fn cut(&mut self, len: usize) {
        // The last first, so that the places before one are those that were taken when it came.
        for number in (len..self.ends.len()).rev() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let hash = hash(self.text(number));
            let taken = (0..PROBES)
                .map(|probe| self.place(hash, probe))
                .find(|place| self.places.get(*place) == Some(&number));
            if let Some(place) = taken.and_then(|place| self.places.get_mut(place)) {
                *place = Self::EMPTY;
            }
        }
        self.ends.truncate(len);
        self.pool
            .truncate(self.ends.last().copied().unwrap_or_default());
    }

    fn place(&self, hash: usize, probe: usize) -> usize {
        hash.wrapping_add(probe) & (self.places.len() - 1)
    }

    fn grow(&mut self) {
        let places = vec![Self::EMPTY; self.places.len() * 4];
        let before = std::mem::replace(&mut self.places, places);
        for number in before.into_iter().filter(|number| *number != Self::EMPTY) {
            let hash = hash(self.text(number));
            let free = (0..PROBES)
                .map(|probe| self.place(hash, probe))
                .find(|place| self.places.get(*place) == Some(&Self::EMPTY));
            if let Some(place) = free.and_then(|place| self.places.get_mut(place)) {
                *place = number;
            }
        }
    }
}

/// Quick and no more: a text that loses its place is only stored again.
fn hash(text: &str) -> usize {
    const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15;
    let mut rest = text.as_bytes();
    let mut hash = rest.len() as u64;
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let mut mix = |word: [u8; 8]| {
        let product = u128::from(hash ^ u64::from_le_bytes(word)) * FACTOR;
        hash = (product >> 64) as u64 ^ product as u64;
    };
    while let Some((word, behind)) = rest.split_first_chunk() {
        mix(*word);
        rest = behind;
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        for (byte, stored) in word.iter_mut().zip(rest) {
            *byte = *stored;
        }
        mix(word);
    }
    usize::try_from(hash & u64::from(u32::MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleared_texts_begin_anew() {
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
        let again = (0..5000).map(|number| texts.intern(&text(number)));
        let moved = again.zip(&numbers).filter(|(again, first)| again != *first);
        assert!(moved.count() < 50);
        assert_eq!(texts.intern(""), Texts::EMPTY);
        assert_eq!(texts.text(Texts::EMPTY), "");
        assert_eq!(texts.text(u32::MAX), "");
    }

    #[test]
    fn cut_drops_the_last_texts_and_keeps_the_others() {
        let mut texts = Texts::default();
        let text = |number: usize| format!("ws-{number:09}");
        let first: Vec<_> = (0..1000).map(|at| texts.intern(&text(at))).collect();
        let len = texts.len();
        for _ in 0..3 {
            for at in 500..5000 {
                texts.intern(&text(at));
            }
            texts.cut(len);
            assert_eq!((texts.len(), texts.pool.len()), (len, 12 * 1000));
        }
        for (at, number) in first.iter().enumerate() {
            assert_eq!(texts.text(*number), text(at));
        }
        let again = texts.intern(&text(4000));
        assert_eq!(texts.text(again), text(4000));
    }
}
