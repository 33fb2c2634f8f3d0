//! What is known of one user.

use crate::error::Result;
use crate::model::{Received, Stream, Workspace, user_key};
use crate::store::telemetry::history;
use crate::store::telemetry::rows::Rows;
use crate::store::telemetry::users::{self, News, UserLatest};
use crate::timestamp::Timestamp;

use super::{Reader, workspaces};

/// A user: the workspaces, and the newest telemetry.
#[derive(Debug, Clone, PartialEq)]
pub struct UserView {
    /// The name as the workspaces have it, else as telemetry had it.
    pub username: String,
    /// The workspaces, in the order of their ids.
    pub workspaces: Vec<Workspace>,
    /// Whether one of them is on litigation hold.
    pub litigation_hold: bool,
    /// The newest activity.
    pub last_activity: Option<Received>,
    /// The newest time of any record.
    pub last_seen: Option<Timestamp>,
    /// The newest statistics.
    pub last_stats: Option<Received>,
    /// The newest startup timings.
    pub last_startup: Option<Received>,
}

/// The user of that name; `None` when neither a workspace nor telemetry knows one. Wants the queue of the user.
pub(crate) fn one(reader: &Reader, username: &str) -> Result<Option<UserView>> {
    let user = user_key(username);
    if user.is_empty() {
        return Ok(None);
    }
    let (workspaces, litigation_hold) = workspaces::of_user(reader, &user)?;
    let latest = latest(reader, &user)?;
    let named = workspaces
        .iter()
        .find_map(|workspace| workspace.username.clone());
    let Some(username) = named.or_else(|| latest.as_ref().map(|latest| latest.username.clone()))
    else {
        return Ok(None);
    };
    let mut view = UserView {
        username,
        workspaces,
        litigation_hold,
        last_activity: None,
        last_seen: None,
        last_stats: None,
        last_startup: None,
    };
    if let Some(latest) = latest {
        view.last_seen = Some(latest.last_seen);
        view.last_activity = latest.activity;
        view.last_stats = latest.stats;
        view.last_startup = latest.startup;
    }
    Ok(Some(view))
}

/// The newest telemetry of a user, filed and queued. A queued repetition of a filed record tells nothing new.
fn latest(reader: &Reader, user: &str) -> Result<Option<UserLatest>> {
    let known = users::get(&reader.snapshot, user)?;
    let mut rows = Rows::default();
    for stream in Stream::ALL {
        let newest = known.as_ref().and_then(|known| known.newest(stream));
        reader.add_newest(&mut rows, stream, newest, |rows, row| {
            user_key(rows.username(row)) == user
        })?;
    }
    let fresh = history::fresh(&reader.snapshot, &mut rows)?;
    let Some(first) = fresh.first() else {
        return Ok(known);
    };
    let mut news = News::of(&rows, *first);
    for row in &fresh {
        news.see(&rows, *row);
    }
    UserLatest::with(known, &rows, &news).map(Some)
}
