//! The questions about the fleet, a handler each.

mod fleet;
mod top;
mod workspaces;

use crate::model::Question;

use super::{Call, Handled};

pub(super) fn answer(call: &Call<'_>, question: Question) -> Handled {
    match question {
        Question::Workspaces => workspaces::answer(call),
        Question::Top => top::answer(call),
        Question::Fleet => fleet::answer(call),
    }
}
