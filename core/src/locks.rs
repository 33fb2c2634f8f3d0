//! Locks that a panic does not poison: each guards plain data, which is whole between any two statements.

use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError,
};

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock, unless another holds it.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Waits up to `patience` for as long as `waits` says so.
pub(crate) fn wait_up_to<'g, T>(
    changed: &Condvar,
    guard: MutexGuard<'g, T>,
    patience: std::time::Duration,
    waits: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'g, T> {
    let waited = changed.wait_timeout_while(guard, patience, waits);
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Waits until `changed` is notified, with the lock given back meanwhile. May return earlier.
pub(crate) fn wait<'g, T>(changed: &Condvar, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
