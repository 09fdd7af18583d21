//! Calls of the system that tests can let fail. Next: `files.rs`, the log's; `snapshots.rs`, those of a snapshot.

use std::fs::File;
use std::io::{self, Write};

/// A call of the system that can be made to fail, for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A file of a snapshot is made.
    Create,
    /// A write of so many bytes.
    Write(usize),
    /// A call of fsync.
    Sync,
    /// A snapshot gets its name.
    Rename,
    /// A segment or a snapshot is removed.
    Remove,
}

/// Says of a call how many bytes it may write before it fails, or that it fails. For tests.
#[doc(hidden)]
pub trait Faults: Send + Sync + core::fmt::Debug {
    /// What becomes of a call. A write that may write all of its bytes does not fail.
    fn on(&self, call: Call) -> io::Result<usize>;
}

/// Whether a call may be made.
pub(crate) fn ask(faults: Option<&dyn Faults>, call: Call) -> io::Result<()> {
    faults.map_or(Ok(()), |faults| faults.on(call).map(drop))
}

/// Writes all of the bytes, or some of them and an error.
pub(crate) fn write(faults: Option<&dyn Faults>, file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let may = faults.map_or(Ok(bytes.len()), |faults| faults.on(Call::Write(bytes.len())))?;
    file.write_all(&bytes[..may.min(bytes.len())])?;
    if may < bytes.len() {
        return Err(io::Error::new(io::ErrorKind::StorageFull, "a short write"));
    }
    Ok(())
}
