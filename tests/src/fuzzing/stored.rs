//! A file whose tables hold arbitrary values: every codec of the store, through the engine that reads it.

use std::sync::LazyLock;

use redb::{Database, TableDefinition};

use super::image::{Image, filled, use_everything};

const TABLES: [&str; 16] = [
    "history",
    "queue",
    "workspaces",
    "audit",
    "users",
    "recent",
    "pending",
    "holds",
    "keys",
    "meta",
    "workspaces_by_user",
    "workspaces_by_computer",
    "latest",
    "daily",
    "hourly",
    "events",
];

static FILLED: LazyLock<Vec<u8>> = LazyLock::new(|| filled().bytes());

/// Most values in one run.
const VALUES_MAX: usize = 8;

/// Writes values into the tables of a valid file: a byte for the table, one for the key (an existing key, or else a
/// length and a key), a length, a value. A value may also be an edit of the existing one. Then opens the file and reads
/// all of it: nothing may panic.
///
/// # Panics
/// When the engine does.
pub fn stored(input: &[u8]) {
    let image = Image::from_bytes(&FILLED);
    let mut input = Input(input);
    {
        let database = Database::builder().create_with_backend(image.backend());
        let database = database.expect("a valid file");
        let transaction = database.begin_write().expect("a valid file");
        for _ in 0..VALUES_MAX {
            let Some((table, key, value)) = entry(&mut input, &database) else {
                break;
            };
            let table: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new(table);
            let mut table = transaction.open_table(table).expect("a table of ours");
            table.insert(&*key, &*value).expect("a valid file");
        }
        transaction.commit().expect("a valid file");
    }
    use_everything(&image);
}

struct Input<'i>(&'i [u8]);

impl<'i> Input<'i> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes(&mut self) -> Option<&'i [u8]> {
        let length = usize::from(self.byte()?);
        let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        Some(bytes)
    }
}

/// The next entry to write.
fn entry(input: &mut Input<'_>, database: &Database) -> Option<(&'static str, Vec<u8>, Vec<u8>)> {
    use redb::{ReadableDatabase, ReadableTable};
    let name = TABLES[usize::from(input.byte()?) % TABLES.len()];
    let definition: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new(name);
    let read = database.begin_read().ok()?;
    let there = read.open_table(definition).ok()?;
    let known: Vec<(Vec<u8>, Vec<u8>)> = there
        .iter()
        .ok()?
        .filter_map(Result::ok)
        .map(|(key, value)| (key.value().to_vec(), value.value().to_vec()))
        .collect();
    let way = input.byte()?;
    let known = known.get(usize::from(way >> 1) % known.len().max(1));
    match known {
        Some((key, value)) if way & 1 == 0 => {
            // Edits of the existing value: pairs of a place and a byte.
            let mut value = value.clone();
            for edit in input.bytes()?.chunks_exact(2) {
                let place = usize::from(edit[0]) % value.len().max(1);
                if let Some(byte) = value.get_mut(place) {
                    *byte = edit[1];
                }
            }
            Some((name, key.clone(), value))
        }
        Some((key, _)) if way & 2 == 0 => Some((name, key.clone(), input.bytes()?.to_vec())),
        _ => Some((name, input.bytes()?.to_vec(), input.bytes()?.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unedited_file_passes_the_check() {
        stored(&[]);
        assert!(use_everything(&Image::from_bytes(&FILLED)).is_some());
    }
}
