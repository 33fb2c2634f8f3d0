//! Walks through the list while it changes.

use crate::demand;
use crate::simulation::STABLE;
use crate::simulation::fact::{Ending, Fact, Intent, Observer, Verdict};

/// A walk returns every workspace that stays exactly once, and in order.
#[derive(Debug, Default)]
pub struct Pages {
    seen: Vec<String>,
    /// Whether the walk began with the first page.
    whole: bool,
}

impl Observer for Pages {
    fn promise(&self) -> &'static str {
        "a walk returns every workspace that stays exactly once"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        let Fact::Answered(_, Intent::Page { first, limit }, Ending::Done, answer) = fact else {
            return Ok(());
        };
        if *first {
            self.seen.clear();
            self.whole = true;
        }
        let page: serde_json::Value =
            serde_json::from_str(&answer.body).map_err(|error| error.to_string())?;
        let items = page["workSpaces"]
            .as_array()
            .ok_or("a page without items")?;
        demand!(items.len() <= *limit, "{} items of {limit}", items.len());
        let ids = items.iter().filter_map(|item| item["workSpId"].as_str());
        self.seen.extend(ids.map(str::to_owned));
        let ordered = self.seen.is_sorted_by(|left, right| left < right);
        demand!(ordered, "a walk out of order: {:?}", self.seen);
        let more = page["nextToken"].is_string();
        demand!(
            page["hasMore"] == more,
            "hasMore and nextToken differ: {page}"
        );
        if !more && std::mem::take(&mut self.whole) {
            for desk in STABLE {
                let there = self.seen.iter().any(|id| id == desk);
                demand!(there, "{desk} is not on a walk: {:?}", self.seen);
            }
        }
        Ok(())
    }
}
