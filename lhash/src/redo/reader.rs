//! Reading a log from its files to its end. Next: `feed.rs`, a log that grows meanwhile.

use super::error::RedoError;
use super::files::segments;
use super::frame::{Frame, frame_at, used};
use super::header::{HEADER, Header};
use super::record::Record;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads the records of a log, one segment after the other, and tells a torn tail from damage: after a torn tail there is no
/// whole record.
///
/// ```no_run
/// use lhash::redo::Reader;
///
/// let mut reader = Reader::open("/var/lib/app/index")?;
/// while let Some((lsn, record)) = reader.read()? {
///     println!("{lsn} {} {:?}", record.kind(), record.bucket());
/// }
/// println!("{} bytes are no whole record", reader.torn_bytes());
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    later: VecDeque<(u64, PathBuf)>,
    path: PathBuf,
    bytes: Vec<u8>,
    offset: usize,
    header: Header,
    torn_bytes: u64,
    /// The bytes of the frame read last.
    last: usize,
}

fn read(path: &Path) -> Result<Vec<u8>, RedoError> {
    fs::read(path).map_err(|error| RedoError::io("read the log", path, error))
}

fn damaged(path: &Path, offset: u64, why: impl Into<String>) -> RedoError {
    RedoError::Damaged { path: path.into(), offset, why: why.into() }
}

impl Reader {
    /// Opens the log in a folder, or one segment of it. If a snapshot has let the first segments go, it begins after them.
    ///
    /// # Errors
    /// If it can't be read, or if its first header is none.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Reader};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// map.flush()?;
    /// let mut reader = Reader::open(&path)?;
    /// assert!(reader.read()?.is_some());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RedoError> {
        let path = path.as_ref();
        let later = if path.is_dir() {
            segments(path)?.into()
        } else {
            VecDeque::from([(u64::MAX, path.to_owned())])
        };
        Self::with(path, later)
    }

    fn with(path: &Path, mut later: VecDeque<(u64, PathBuf)>) -> Result<Self, RedoError> {
        let Some((start, first)) = later.pop_front() else {
            return Err(RedoError::no_log(path));
        };
        let bytes = read(&first)?;
        let header = Header::decode(&bytes).map_err(|why| damaged(&first, 0, why))?;
        if start != u64::MAX && header.start != start {
            return Err(damaged(
                &first,
                0,
                format!("it begins at {}, and its name says {start}", header.start),
            ));
        }
        Ok(Self { later, path: first, bytes, offset: HEADER, header, torn_bytes: 0, last: 0 })
    }

    /// Opens the log in a folder at a position, from which a snapshot goes on: with the last segment that begins before it,
    /// for one that begins there may be torn.
    pub(crate) fn open_at(dir: &Path, lsn: u64) -> Result<Self, RedoError> {
        let mut later: VecDeque<(u64, PathBuf)> = segments(dir)?.into();
        while later.get(1).is_some_and(|(start, _)| *start < lsn) {
            later.pop_front();
        }
        let mut reader = Self::with(dir, later)?;
        let end = reader.header.start + (reader.bytes.len() - HEADER) as u64;
        if reader.header.start > lsn || end < lsn {
            let why = format!("it ends at {end}, and a snapshot is of position {lsn}: it is cut");
            return Err(damaged(&reader.path, reader.bytes.len() as u64, why));
        }
        reader.offset += (lsn - reader.header.start) as usize;
        Ok(reader)
    }

    /// An error where it is.
    pub(crate) fn damaged(&self, why: impl Into<String>) -> RedoError {
        damaged(&self.path, self.offset as u64, why)
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The position after the record read last, in bytes.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Reader};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// map.flush()?;
    /// let mut reader = Reader::open(&path)?;
    /// let start = reader.lsn();
    /// reader.read()?;
    /// assert!(reader.lsn() > start);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    #[must_use]
    pub fn lsn(&self) -> u64 {
        self.header.start + (self.offset - HEADER) as u64
    }

    /// The bytes of the record read last, with its frame.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Reader};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// map.flush()?;
    /// let mut reader = Reader::open(&path)?;
    /// reader.read()?;
    /// assert!(reader.record_bytes() < 100);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        self.last
    }

    /// Once there are no more records: the bytes after the last one that are no whole record.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Reader};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// map.flush()?;
    /// let mut reader = Reader::open(&path)?;
    /// while reader.read()?.is_some() {}
    /// assert_eq!(reader.torn_bytes(), 0);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    #[must_use]
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// The next record and the position after it; `None` at the end.
    ///
    /// # Errors
    /// If a file is damaged and valid records follow, or if it can't be read.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Reader};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// map.flush()?;
    /// let mut reader = Reader::open(&path)?;
    /// let (_, record) = reader.read()?.expect("there is one");
    /// assert_eq!(record.kind(), "insert");
    /// assert!(reader.read()?.is_none());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn read(&mut self) -> Result<Option<(u64, Record<'_>)>, RedoError> {
        loop {
            let why = match frame_at(&self.bytes[self.offset..]) {
                Frame::Whole(payload, len) => match Record::decode(payload) {
                    Some(_) => {
                        self.last = len;
                        break;
                    }
                    // Its checksum is right: it was written so.
                    None => return Err(damaged(&self.path, self.offset as u64, "a record of no known kind")),
                },
                Frame::Blank => "zeros",
                Frame::Short => "a record that is not whole",
                Frame::Bad(why) => why,
            };
            if !self.go_on(why)? {
                return Ok(None);
            }
        }
        let start = self.offset;
        self.offset += self.last;
        let lsn = self.lsn();
        let Frame::Whole(payload, _) = frame_at_trusted(&self.bytes[start..]) else { return Ok(None) };
        Ok(Record::decode(payload).map(|record| (lsn, record)))
    }

    /// Goes on with the next segment, if this one ends here.
    fn go_on(&mut self, why: &str) -> Result<bool, RedoError> {
        let rest = &self.bytes[self.offset..];
        let torn = used(rest);
        let lsn = self.lsn();
        if torn > 0 {
            let follows = (8..torn).step_by(8).any(|at| is_record(&rest[at..]));
            if follows || self.has_later_records() {
                return Err(damaged(
                    &self.path,
                    self.offset as u64,
                    format!("{why}, and valid records follow"),
                ));
            }
            self.torn_bytes += torn as u64;
            return Ok(false);
        }
        let Some((start, path)) = self.later.pop_front() else { return Ok(false) };
        let bytes = read(&path)?;
        let header = match Header::decode(&bytes) {
            Ok(header) => header,
            // Torn when it was made.
            Err(_) if self.later.is_empty() && !has_records(&bytes) => {
                self.torn_bytes +=
                    bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last as u64 + 1);
                return Ok(false);
            }
            Err(why) => return Err(damaged(&path, 0, why)),
        };
        if header.start != start || start != lsn {
            let why = format!("it begins at {start}, where {lsn} is expected: a segment is missing or cut");
            return Err(damaged(&path, 0, why));
        }
        (self.path, self.bytes, self.offset, self.header) = (path, bytes, HEADER, header);
        Ok(true)
    }

    fn has_later_records(&self) -> bool {
        self.later.iter().any(|(_, path)| read(path).is_ok_and(|bytes| has_records(&bytes)))
    }
}

fn is_record(bytes: &[u8]) -> bool {
    matches!(frame_at(bytes), Frame::Whole(payload, _) if Record::decode(payload).is_some())
}

fn has_records(bytes: &[u8]) -> bool {
    bytes.get(HEADER..).is_some_and(is_record)
}

/// As `frame_at`, of a frame that it has found whole before.
fn frame_at_trusted(bytes: &[u8]) -> Frame<'_> {
    let len = bytes.first_chunk().map_or(0, |len| u32::from_le_bytes(*len) as usize);
    let head = super::frame::FRAME_HEAD;
    bytes.get(head..head + len).map_or(Frame::Short, |payload| Frame::Whole(payload, len))
}
