//! [`RedoError`].

use crate::ConfigError;
use core::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a logged map, its recovery or a standby can't do what it was asked for.
///
/// ```
/// use lhash::redo::{LoggedMap, Options, RedoError};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let first: LoggedMap<u64, u64> = Options::new().create(&path)?;
/// let second: Result<LoggedMap<u64, u64>, _> = Options::new().create(&path);
/// assert!(matches!(second, Err(RedoError::Io { .. }))); // there is a log already
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RedoError {
    /// The system failed to do something with a file of the log. If that was a write, the map takes no more changes.
    Io {
        /// What was to be done.
        doing: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system says.
        error: Arc<io::Error>,
    },
    /// A file is not what it must be, and valid records follow, or it is no log at all.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it, in bytes.
        offset: u64,
        /// What is wrong there.
        why: String,
    },
    /// Records that were to be followed are gone: a snapshot has let their segment go. Follow the log anew, from that snapshot.
    Pruned {
        /// Where they were.
        path: PathBuf,
        /// The position of the first of them.
        lsn: u64,
    },
    /// A record can't be applied, or a bucket is not what the log says: log and map are not of one origin, or one of them
    /// was tampered with.
    Diverged {
        /// The position after the record.
        lsn: u64,
        /// What differs.
        why: String,
    },
    /// Another map, of this process or of another one, has the log open to write.
    Locked {
        /// The folder of the log.
        path: PathBuf,
    },
    /// The log is of another kind of map.
    Mismatch {
        /// What differs.
        why: String,
    },
    /// A setting is out of bounds.
    Config(ConfigError),
    /// An entry is too long for the log's buffer.
    TooLong {
        /// The bytes of its record.
        bytes: usize,
        /// The most there can be.
        max: usize,
    },
    /// A standby takes no changes of its own.
    ReadOnly,
    /// What a standby follows has ended.
    Ended {
        /// The position after the last record.
        lsn: u64,
    },
}

impl RedoError {
    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self::Io { doing, path: path.into(), error: Arc::new(error) }
    }

    pub(crate) fn no_log(path: &Path) -> Self {
        Self::Damaged { path: path.into(), offset: 0, why: "there is no segment of a log".to_owned() }
    }
}

impl fmt::Display for RedoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, error } => write!(f, "{}: can't {doing}: {error}", path.display()),
            Self::Damaged { path, offset, why } => write!(f, "{}: at byte {offset}: {why}", path.display()),
            Self::Pruned { path, lsn } => write!(
                f,
                "{}: the records from {lsn} on are gone with what a snapshot has let go: follow the log anew",
                path.display()
            ),
            Self::Diverged { lsn, why } => write!(f, "at the record that ends at {lsn}: {why}"),
            Self::Locked { path } => write!(
                f,
                "{}: another map, of this process or of another one, has this log open to write: drop that one first, or \
                 follow the log with a standby",
                path.display()
            ),
            Self::Mismatch { why } => f.write_str(why),
            Self::Config(error) => write!(f, "{error}"),
            Self::TooLong { bytes, max } => {
                write!(f, "a record of {bytes} bytes is too long: {max} at most")
            }
            Self::ReadOnly => f.write_str("a standby takes no changes of its own"),
            Self::Ended { lsn } => write!(f, "the log ended at {lsn}"),
        }
    }
}

impl std::error::Error for RedoError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(&**error),
            Self::Config(error) => Some(error),
            _ => None,
        }
    }
}
