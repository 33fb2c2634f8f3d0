//! Posts to send: prepared in advance, and all different.

use std::time::SystemTime;

use deskfleet::Timestamp;

use crate::fixture::Template;

/// The posts, at least, that all clients together send before the first is repeated with another time.
const POSTS: u64 = 8192;
const HEAD: &str = "POST /api/Stats/Post HTTP/1.1\r\nhost: 127.0.0.1\r\n\
     content-type: application/json\r\ncontent-length: ";

/// The posts of one client, dated now by the server's clock, because a fleet's records are recent.
#[derive(Debug)]
pub(super) struct Requests {
    /// Each with the length of its head.
    posts: Vec<(Template, usize)>,
    turn: usize,
    number: u64,
    step: u64,
}

impl Requests {
    /// The posts of client `client` of `clients`, which together report on `desktops` desktops.
    pub(super) fn new(client: usize, clients: usize, desktops: u64) -> Self {
        let now = Timestamp::from(SystemTime::now()).to_string();
        let second = now.get(..19).expect("a date and a time");
        let (client, clients) = (client as u64, clients as u64);
        let share = POSTS.max(desktops).div_ceil(clients);
        let posts = (0..share).map(|index| {
            let mut post = Template::new(client + index * clients, desktops);
            post.set_second(second);
            let head = format!("{HEAD}{}\r\n\r\n", post.bytes.len());
            post.put_before(head.as_bytes());
            (post, head.len())
        });
        Self {
            posts: posts.collect(),
            turn: 0,
            number: client,
            step: clients,
        }
    }

    /// The next request, head and body.
    pub(super) fn next(&mut self) -> &[u8] {
        &self.next_post().0.bytes
    }

    /// The body of the next request.
    pub(super) fn next_body(&mut self) -> &[u8] {
        let (post, head) = self.next_post();
        post.bytes.get(*head..).unwrap_or_default()
    }

    fn next_post(&mut self) -> &(Template, usize) {
        self.turn = (self.turn + 1) % self.posts.len();
        let post = self.posts.get_mut(self.turn).expect("a post");
        post.0.set_fraction(self.number);
        self.number += self.step;
        post
    }
}
