//! The open brackets of a text.

/// Open brackets, each an object or an array. Beyond 128 all count as arrays: a reader refuses such a record.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Brackets {
    objects: u128,
    pub(super) depth: usize,
}

impl Brackets {
    pub(super) fn push(&mut self, is_object: bool) {
        if let Some(bit) = Self::bit(self.depth) {
            self.objects = (self.objects & !bit) | if is_object { bit } else { 0 };
        }
        self.depth += 1;
    }

    pub(super) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether bracket `index`, from 0, is open and that of an object.
    pub(super) fn is_object(self, index: usize) -> bool {
        index < self.depth && Self::bit(index).is_some_and(|bit| self.objects & bit != 0)
    }

    /// Whether the innermost of the first `depth` is that of an object.
    pub(super) fn ends_in_object(self, depth: usize) -> bool {
        depth > 0 && self.is_object(depth - 1)
    }

    pub(super) fn has_object(self, depth: usize) -> bool {
        (0..depth.min(128)).any(|index| self.is_object(index))
    }

    fn bit(index: usize) -> Option<u128> {
        1_u128.checked_shl(u32::try_from(index).ok()?)
    }
}
