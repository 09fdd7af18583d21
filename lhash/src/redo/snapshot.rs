//! The file of a snapshot: a header (`header.rs`), then frames (`frame.rs`), little-endian, the first byte of each its kind:
//!
//! ```text
//! state   1, max_bucket 4, ntuples 8, behind 8    first
//! row     2, hash 4, key length (varint), key, value
//! end     3, rows 8, CRC-32C of all bytes before this frame 4    last
//! ```
//!
//! Without its end it is no snapshot; so what is read of it counts only when the end has come. Next: `snapshots.rs`, how one is
//! made; `base.rs`, how a map begins from one.

use super::calls::{Call, Faults, ask, write};
use super::error::RedoError;
use super::frame::{FRAME_HEAD, Frame, MAX_PAYLOAD, Reading as Bytes, frame_at, padded, put, seal};
use super::header::{HEADER, Header, SNAPSHOT_MAGIC};
use super::record::MOST_ENTRIES;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

const STATE: u8 = 1;
const ROW: u8 = 2;
const END: u8 = 3;

/// So many bytes are written at a time.
const PIECE: usize = 1 << 18;

/// What records that follow need beside the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) max_bucket: u32,
    /// The metapage's count, as records have told it.
    pub(crate) ntuples: i64,
    /// Entries that no record has counted yet.
    pub(crate) behind: i64,
}

/// An entry, as in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) hash: u32,
    pub(crate) key: &'a [u8],
    pub(crate) value: &'a [u8],
}

/// A snapshot's file that is being written.
pub(crate) struct Writing<'a> {
    file: File,
    path: &'a Path,
    faults: Option<&'a dyn Faults>,
    buffer: Vec<u8>,
    frame: Vec<u8>,
    crc: u32,
    rows: u64,
    bytes: u64,
}

impl<'a> Writing<'a> {
    /// Makes the file, in the place of one that was not finished.
    pub(crate) fn new(path: &'a Path, faults: Option<&'a dyn Faults>) -> Result<Self, RedoError> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let made = ask(faults, Call::Create).and_then(|()| options.open(path));
        let file = made.map_err(|error| RedoError::io("make a snapshot", path, error))?;
        Ok(Self { file, path, faults, buffer: Vec::new(), frame: Vec::new(), crc: 0, rows: 0, bytes: 0 })
    }

    pub(crate) fn begin(&mut self, header: &Header, state: State) -> Result<(), RedoError> {
        self.append(&header.encode(SNAPSHOT_MAGIC))?;
        let longs = [state.ntuples as u64, state.behind as u64];
        self.frame(|out| put::tagged(out, STATE, &[state.max_bucket], &longs))
    }

    pub(crate) fn row(&mut self, Row { hash, key, value }: Row<'_>) -> Result<(), RedoError> {
        self.rows += 1;
        self.frame(|out| {
            put::tagged(out, ROW, &[hash], &[]);
            put::varint(out, key.len());
            out.extend_from_slice(key);
            out.extend_from_slice(value);
        })
    }

    /// Ends the file and brings it to the disk. Returns its rows and bytes.
    pub(crate) fn end(mut self) -> Result<(u64, u64), RedoError> {
        let (rows, crc) = (self.rows, self.crc);
        self.frame(|out| {
            put::tagged(out, END, &[], &[rows]);
            put::words(out, &[crc]);
        })?;
        self.write_out()?;
        let done = ask(self.faults, Call::Sync).and_then(|()| self.file.sync_all());
        done.map_err(|error| RedoError::io("bring a snapshot to the disk", self.path, error))?;
        Ok((self.rows, self.bytes))
    }

    fn frame(&mut self, payload: impl FnOnce(&mut Vec<u8>)) -> Result<(), RedoError> {
        let mut frame = core::mem::take(&mut self.frame);
        frame.clear();
        frame.resize(FRAME_HEAD, 0);
        payload(&mut frame);
        seal(&mut frame);
        let done = self.append(&frame);
        self.frame = frame;
        done
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), RedoError> {
        self.crc = crc32c::crc32c_append(self.crc, bytes);
        self.bytes += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < PIECE { Ok(()) } else { self.write_out() }
    }

    fn write_out(&mut self) -> Result<(), RedoError> {
        let done = write(self.faults, &mut self.file, &self.buffer);
        self.buffer.clear();
        done.map_err(|error| RedoError::io("write a snapshot", self.path, error))
    }
}

/// A snapshot's file that is being read.
pub(crate) struct Reading {
    path: PathBuf,
    file: BufReader<File>,
    pub(crate) header: Header,
    pub(crate) state: State,
    /// The frame read last.
    frame: Vec<u8>,
    /// Where it begins and where it ends.
    at: u64,
    end: u64,
    /// The CRC-32C of all before it, and with it.
    crc_before: u32,
    crc: u32,
    /// The bytes of the file.
    len: u64,
    rows: u64,
}

impl Reading {
    /// Opens the snapshot of that position.
    pub(crate) fn open(path: &Path, lsn: u64) -> Result<Self, RedoError> {
        let failed = |error| RedoError::io("read a snapshot", path, error);
        let file = File::open(path).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let mut file = BufReader::new(file);
        let mut bytes = Vec::with_capacity(HEADER);
        file.by_ref().take(HEADER as u64).read_to_end(&mut bytes).map_err(failed)?;
        let damaged = |why| RedoError::Damaged { path: path.into(), offset: 0, why };
        let header = Header::decode_as(SNAPSHOT_MAGIC, &bytes).map_err(damaged)?;
        if header.start != lsn {
            return Err(damaged(format!("it is of position {}, and its name says {lsn}", header.start)));
        }
        let (at, crc) = (HEADER as u64, crc32c::crc32c(&bytes));
        let state = State { max_bucket: 0, ntuples: 0, behind: 0 };
        let (path, frame) = (path.to_owned(), Vec::new());
        let mut reading =
            Self { path, file, header, state, frame, at, end: at, crc_before: crc, crc, len, rows: 0 };
        reading.read_state()?;
        Ok(reading)
    }

    /// An error at the frame read last.
    pub(crate) fn damaged(&self, why: impl Into<String>) -> RedoError {
        RedoError::Damaged { path: self.path.clone(), offset: self.at, why: why.into() }
    }

    fn read_state(&mut self) -> Result<(), RedoError> {
        self.next_frame()?;
        let state =
            state_of(payload(&self.frame)).ok_or_else(|| self.damaged("there is no table's state"))?;
        let buckets = u64::from(state.max_bucket) + 1;
        if buckets < u64::from(self.header.min_buckets) || buckets > u64::from(u32::MAX) {
            return Err(self.damaged(format!("{buckets} buckets are not a table's")));
        }
        self.state = state;
        Ok(())
    }

    /// The next entry: hash, key and value. `None` once the end has come, and all of the file was as it was written.
    pub(crate) fn row(&mut self) -> Result<Option<Row<'_>>, RedoError> {
        self.next_frame()?;
        if payload(&self.frame).first() == Some(&END) {
            return self.check_end().map(|()| None);
        }
        self.rows += 1;
        if row_of(payload(&self.frame)).is_none() {
            return Err(self.damaged("a frame of no known kind"));
        }
        Ok(row_of(payload(&self.frame)))
    }

    fn check_end(&self) -> Result<(), RedoError> {
        let mut body = Bytes(&payload(&self.frame)[1..]);
        let end = body.long().zip(body.word());
        if end != Some((self.rows, self.crc_before)) || !body.0.is_empty() {
            return Err(self.damaged("its end is not that of the rows before it"));
        }
        if self.end != self.len {
            return Err(self.damaged("bytes follow its end"));
        }
        Ok(())
    }

    /// Reads the next frame, whole.
    fn next_frame(&mut self) -> Result<(), RedoError> {
        (self.at, self.crc_before) = (self.end, self.crc);
        self.frame.clear();
        self.read_on(FRAME_HEAD)?;
        let len = Bytes(&self.frame).word().unwrap_or(0) as usize;
        if len <= MAX_PAYLOAD {
            self.read_on(padded(FRAME_HEAD + len) - FRAME_HEAD)?;
        }
        match frame_at(&self.frame) {
            Frame::Whole(payload, _) if !payload.is_empty() => {}
            Frame::Whole(..) | Frame::Blank => return Err(self.damaged("zeros")),
            Frame::Short => return Err(self.damaged("the file ends before its end")),
            Frame::Bad(why) => return Err(self.damaged(why)),
        }
        self.end += self.frame.len() as u64;
        self.crc = crc32c::crc32c_append(self.crc, &self.frame);
        Ok(())
    }

    /// Reads so many bytes more of the frame, or those there are.
    fn read_on(&mut self, bytes: usize) -> Result<(), RedoError> {
        let read = self.file.by_ref().take(bytes as u64).read_to_end(&mut self.frame);
        read.map(drop).map_err(|error| RedoError::io("read a snapshot", &self.path, error))
    }
}

/// Of a frame that is whole.
fn payload(frame: &[u8]) -> &[u8] {
    let len = frame.first_chunk().map_or(0, |len| u32::from_le_bytes(*len) as usize);
    frame.get(FRAME_HEAD..FRAME_HEAD + len).unwrap_or_default()
}

fn state_of(payload: &[u8]) -> Option<State> {
    let (&STATE, body) = payload.split_first()? else { return None };
    let mut body = Bytes(body);
    let max_bucket = body.word()?;
    let (ntuples, behind) = (body.long()? as i64, body.long()? as i64);
    let is_possible = [ntuples, behind].iter().all(|count| count.unsigned_abs() <= MOST_ENTRIES);
    (body.0.is_empty() && is_possible).then_some(State { max_bucket, ntuples, behind })
}

fn row_of(payload: &[u8]) -> Option<Row<'_>> {
    let (&ROW, body) = payload.split_first()? else { return None };
    let mut body = Bytes(body);
    let (hash, len) = (body.word()?, body.varint()?);
    let (key, value) = body.0.split_at_checked(len)?;
    Some(Row { hash, key, value })
}
