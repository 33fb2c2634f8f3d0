//! The one conversion of redb's errors into ours.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "redb's errors are non-exhaustive"
)]

use std::io;

use redb::{
    CommitError, CompactionError, DatabaseError, StorageError, TableError, TransactionError,
};

use crate::error::{EngineError, ErrorKind};

pub(super) fn from_storage(error: StorageError) -> EngineError {
    match error {
        StorageError::Corrupted(_) => EngineError::caused(
            ErrorKind::Corrupted,
            "the file is damaged: restore a backup",
            error,
        ),
        // redb reads nothing after the end of the file unless the bytes that send it there are wrong.
        StorageError::Io(error)
            if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
            ) =>
        {
            EngineError::caused(
                ErrorKind::Corrupted,
                "the file is damaged or cut short: restore a backup",
                error,
            )
        }
        StorageError::ValueTooLarge(_) => EngineError::caused(
            ErrorKind::Internal,
            "a value is larger than the store takes",
            error,
        ),
        // The cause itself, because redb's error around it hides it.
        StorageError::Io(error) => unavailable(error),
        other => unavailable(other),
    }
}

/// The medium fails now, and may work again later.
pub(super) fn unavailable(
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> EngineError {
    EngineError::caused(
        ErrorKind::StorageUnavailable,
        "the store cannot be read or written now; look for a full or read-only disk, then try again",
        error,
    )
}

/// Whether a write failed for lack of room: on the disk, in a quota, or below the limit of a file's size.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// The error of a commit that failed after its header was written.
pub(super) fn indeterminate(error: EngineError) -> EngineError {
    EngineError::caused(
        ErrorKind::Indeterminate,
        "the store failed while this was made durable: it may take effect or not; look before you try again",
        error,
    )
}

pub(super) fn from_table(error: TableError) -> EngineError {
    match error {
        TableError::Storage(error) => from_storage(error),
        error => EngineError::caused(
            ErrorKind::ForeignFile,
            "a table of the file is not as deskfleet makes it",
            error,
        ),
    }
}

pub(super) fn from_transaction(error: TransactionError) -> EngineError {
    match error {
        TransactionError::Storage(error) => from_storage(error),
        error => unavailable(error),
    }
}

pub(super) fn from_commit(error: CommitError) -> EngineError {
    match error {
        CommitError::Storage(error) => from_storage(error),
        error => unavailable(error),
    }
}

pub(super) fn from_compaction(error: CompactionError) -> EngineError {
    match error {
        CompactionError::Storage(error) => {
            let error = from_storage(error);
            if !error.is_for_space() {
                return error;
            }
            let message = "compacting moves what is stored before it gives any space back: free some space, or remove telemetry";
            EngineError::caused(ErrorKind::LowDisk, message, error)
        }
        error => EngineError::caused(
            ErrorKind::StorageUnavailable,
            "the file cannot be compacted while it is read or written; try again when the engine is idle",
            error,
        ),
    }
}

pub(super) fn from_database(error: DatabaseError) -> EngineError {
    match error {
        DatabaseError::Storage(error) => from_storage(error),
        DatabaseError::UpgradeRequired(_) => EngineError::caused(
            ErrorKind::ForeignFile,
            "the file was written by an older version of redb than any deskfleet used",
            error,
        ),
        DatabaseError::DatabaseAlreadyOpen => already_open(),
        error => unavailable(error),
    }
}

pub(super) fn already_open() -> EngineError {
    EngineError::new(
        ErrorKind::AlreadyOpen,
        "another process has the file open; a file belongs to one engine at a time: stop that process, \
         or send your requests to it",
    )
}
