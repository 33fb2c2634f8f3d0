//! Pages of lists that are read item by item.

use crate::error::Result;
use crate::store::table::Step;

use super::Reader;

/// How a step of a list ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageEnd {
    /// At the end of the list.
    Over,
    /// At the end of the page, after the bound of shown or examined items; the token continues the list.
    More(String),
    /// Because `show` broke; the next step continues the page.
    Stopped,
}

impl PageEnd {
    /// The token of the next page, if there is one.
    pub(crate) fn token(self) -> Option<String> {
        match self {
            Self::More(token) => Some(token),
            Self::Over | Self::Stopped => None,
        }
    }
}

/// A page of a list. Between two steps it holds no snapshot, only its position.
pub(crate) trait Listed {
    type Item;

    /// Shows the next items, until `show` breaks or the page ends.
    fn step(
        &mut self,
        reader: &Reader,
        show: &mut dyn FnMut(Self::Item) -> Step,
    ) -> Result<PageEnd>;
}

/// The items of a page, and the token of the next one.
pub(crate) fn collect<L: Listed>(
    mut list: L,
    reader: &Reader,
) -> Result<(Vec<L::Item>, Option<String>)> {
    let mut items = Vec::new();
    let end = list.step(reader, &mut |item| {
        items.push(item);
        Step::Continue(())
    })?;
    Ok((items, end.token()))
}
