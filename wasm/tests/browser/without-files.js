// An old browser: it has no files that a worker can write.
delete globalThis.FileSystemSyncAccessHandle;
