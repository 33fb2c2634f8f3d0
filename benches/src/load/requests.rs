//! Posts to send: made beforehand, and no two alike.

use std::time::SystemTime;

use deskfleet::Timestamp;

use crate::fixture::stats_json;

/// Posts that all clients together walk through before the first comes again, with another time in it.
const POSTS: u64 = 8192;
const HEAD: &str = "POST /api/Stats/Post HTTP/1.1\r\nhost: 127.0.0.1\r\n\
     content-type: application/json\r\ncontent-length: ";
const TIME: &[u8] = b"\"updatetime\":\"";
/// Digits of a second's fraction.
const FRACTION: usize = 7;

/// One post: the bytes to send, and where its body and the fraction of its time begin.
#[derive(Debug)]
struct Post {
    bytes: Vec<u8>,
    body: usize,
    fraction: usize,
}

/// The posts of one client. They are taken now, as the server's clock has it: a fleet's records are about the present.
#[derive(Debug)]
pub(super) struct Requests {
    posts: Vec<Post>,
    turn: usize,
    number: u64,
    step: u64,
}

impl Requests {
    /// Those of client `client` of so many.
    pub(super) fn new(client: usize, clients: usize) -> Self {
        let now = Timestamp::from(SystemTime::now()).to_string();
        let second = now.get(..19).expect("a date and a time");
        let (client, clients) = (client as u64, clients as u64);
        let share = (POSTS / clients).max(1);
        let posts = (0..share).map(|index| Post::new(client + index * clients, second));
        Self {
            posts: posts.collect(),
            turn: 0,
            number: client,
            step: clients,
        }
    }

    /// The next request, head and body.
    pub(super) fn next(&mut self) -> &[u8] {
        &self.next_post().bytes
    }

    /// The body of the next request.
    pub(super) fn next_body(&mut self) -> &[u8] {
        let post = self.next_post();
        post.bytes.get(post.body..).unwrap_or_default()
    }

    fn next_post(&mut self) -> &Post {
        let number = self.number;
        self.number += self.step;
        self.turn = (self.turn + 1) % self.posts.len();
        let post = self.posts.get_mut(self.turn).expect("a post");
        post.stamp(number);
        post
    }
}

impl Post {
    fn new(number: u64, second: &str) -> Self {
        let body = stats_json(number);
        let mut bytes = format!("{HEAD}{}\r\n\r\n", body.len()).into_bytes();
        let start = bytes.len();
        bytes.extend_from_slice(&body);
        let name = bytes.windows(TIME.len()).position(|part| part == TIME);
        let time = name.expect("a time") + TIME.len();
        let fraction = time + second.len() + 1;
        let place = bytes.get_mut(time..time + second.len()).expect("a time");
        place.copy_from_slice(second.as_bytes());
        Self {
            bytes,
            body: start,
            fraction,
        }
    }

    /// Writes `number` into the fraction of the time, so that no two records are the same.
    fn stamp(&mut self, mut number: u64) {
        let place = self.bytes.get_mut(self.fraction..self.fraction + FRACTION);
        for digit in place.expect("a fraction").iter_mut().rev() {
            *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
        }
    }
}
