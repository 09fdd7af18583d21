//! stub
use std::sync::Arc;
/// Error.
#[derive(Clone, Debug)]
pub enum RedoError {
    /// io
    Io(Arc<std::io::Error>),
    /// bad
    Bad(String),
    /// standby
    ReadOnly,
    /// config
    Config(crate::ConfigError),
    /// ended
    Ended {
        /// l
        lsn: u64,
    },
    /// diverged
    Diverged {
        /// l
        lsn: u64,
        /// w
        why: String,
    },
}
impl core::fmt::Display for RedoError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{self:?}")
    }
}
impl std::error::Error for RedoError {}
impl From<std::io::Error> for RedoError {
    fn from(e: std::io::Error) -> Self {
        Self::Io(Arc::new(e))
    }
}
