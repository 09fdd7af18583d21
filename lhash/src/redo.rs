//! Feature `redo`: a log of every change, from which a map is rebuilt and which a standby follows.

mod apply;
mod codec;
mod error;
mod feed;
mod files;
mod frame;
mod hasher;
mod header;
mod log;
mod logged;
mod logged_map;
mod logged_multi;
mod options;
mod reader;
mod record;
mod recover;
pub(crate) mod ring;
mod standby;
mod stored;
mod telling;
mod writing;

#[cfg(feature = "serde")]
pub use codec::Serde;
pub use codec::{Codec, DecodeError};
pub use error::RedoError;
#[doc(hidden)]
pub use files::{Call, Faults};
pub use hasher::{SeededHasher, SeededState};
pub use logged::{Logged, LoggedMap, LoggedMultiMap, PinnedLogged, Rows};
pub use options::{Kind, Options};
pub use reader::Reader;
pub use record::{Ntuples, Record};
pub use recover::{OpenOptions, Opened, Recovery, open};
pub use standby::Standby;

/// When a change's call returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the change is in memory and its record in the log's buffer: a crash may lose the last changes, in the
    /// order of the log.
    #[default]
    Buffered,
    /// When the record is on the disk.
    Sync,
}
