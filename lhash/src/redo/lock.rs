//! The lock of a log's folder: one map writes there at a time, of whatever process. Who only reads takes no lock.

use super::error::RedoError;
#[cfg(unix)]
use std::fs::File;
use std::path::Path;

/// The file that is locked. It is never removed: who waits for it could have another one open then.
#[cfg(unix)]
const LOCK: &str = "lock";

/// Held from when a log is made or opened until its last byte was written.
#[derive(Debug)]
pub(crate) struct FolderLock {
    #[cfg(unix)]
    file: File,
    /// Who took it: a child after `fork` has the same lock, and must leave it to its parent.
    #[cfg(unix)]
    process: u32,
}

impl FolderLock {
    #[cfg(unix)]
    pub(crate) fn take(dir: &Path) -> Result<Self, RedoError> {
        use std::os::unix::fs::OpenOptionsExt;
        let path = dir.join(LOCK);
        let failed = |error| RedoError::io("lock the log", &path, error);
        let mut options = File::options();
        let file =
            options.write(true).create(true).truncate(false).mode(0o600).open(&path).map_err(failed)?;
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { file, process: std::process::id() }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(RedoError::Locked { path: dir.into() }),
            Err(error) => Err(failed(error.into())),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn take(_: &Path) -> Result<Self, RedoError> {
        Ok(Self {})
    }
}

#[cfg(unix)]
impl Drop for FolderLock {
    fn drop(&mut self) {
        // Not left to the end of the file: a program that another thread is just starting has it open for a moment too.
        if self.process == std::process::id() {
            let _ = rustix::fs::flock(&self.file, rustix::fs::FlockOperation::Unlock);
        }
    }
}
