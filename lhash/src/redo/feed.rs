//! A log that grows while it is read: from its files, or from a reader that gives its bytes. Next: `standby.rs`.

use super::error::RedoError;
use super::files::{segment_path, segments};
use super::frame::{Frame, Reading, frame_at, used};
use super::header::{HEADER, Header, MAGIC};
use super::record::Record;
use core::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// So many bytes are asked for at a time.
const PIECE: usize = 1 << 16;

/// What came.
pub(crate) enum Fed<'a> {
    /// The position after a record, and the record.
    Record(u64, Record<'a>),
    /// There is nothing new yet.
    Nothing,
    /// There is no more.
    Ended,
}

pub(crate) struct Feed {
    source: Source,
    /// For messages.
    path: PathBuf,
    header: Header,
    bytes: Vec<u8>,
    offset: usize,
    /// The position after the last record.
    lsn: u64,
}

enum Source {
    Read(Box<dyn Read + Send>),
    /// The segment that is being followed, and its folder.
    Files(File, PathBuf),
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("path", &self.path).field("lsn", &self.lsn()).finish_non_exhaustive()
    }
}

fn open(path: &Path) -> Result<File, RedoError> {
    File::open(path).map_err(|error| RedoError::io("open the log", path, error))
}

impl Feed {
    /// Follows the files of a folder from a position on, with the last segment that begins before it: one that begins there
    /// may be without its header yet.
    pub(crate) fn of_path(dir: &Path, lsn: u64) -> Result<Self, RedoError> {
        let mut segments = segments(dir)?.into_iter().peekable();
        let Some((_, mut path)) = segments.next() else { return Err(RedoError::no_log(dir)) };
        while let Some((_, later)) = segments.next_if(|(start, _)| *start < lsn) {
            path = later;
        }
        let mut file = open(&path)?;
        let header = read_header(&mut file, &path)?;
        if header.start > lsn {
            return Err(RedoError::Pruned { path, lsn });
        }
        Ok(Self { lsn, ..Self::new(Source::Files(file, dir.to_owned()), path, header) })
    }

    /// Follows a reader that gives the bytes of segments, one after the other.
    pub(crate) fn of_read(mut read: Box<dyn Read + Send>) -> Result<Self, RedoError> {
        let path = PathBuf::from("the reader");
        let header = read_header(&mut read, &path)?;
        if header.start != 0 {
            let why = format!("the reader gives a log from {} on, and not from its beginning", header.start);
            return Err(RedoError::Mismatch { why });
        }
        Ok(Self::new(Source::Read(read), path, header))
    }

    fn new(source: Source, path: PathBuf, header: Header) -> Self {
        Self { source, path, header, bytes: Vec::new(), offset: 0, lsn: header.start }
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The position after the last record.
    pub(crate) fn lsn(&self) -> u64 {
        self.lsn
    }

    /// The position up to which the log was read.
    pub(crate) fn seen(&self) -> u64 {
        self.lsn + used(&self.bytes[self.offset..]) as u64
    }

    pub(crate) fn poll(&mut self) -> Result<Fed<'_>, RedoError> {
        loop {
            match frame_at(&self.bytes[self.offset..]) {
                Frame::Whole(payload, len) => {
                    if Record::decode(payload).is_none() {
                        return Err(self.damaged("a record of no known kind"));
                    }
                    let start = self.offset;
                    self.offset += len;
                    self.lsn += len as u64;
                    let lsn = self.lsn;
                    // Found above; the borrow must begin after the change.
                    let Frame::Whole(payload, _) = frame_at(&self.bytes[start..]) else {
                        return Ok(Fed::Nothing);
                    };
                    return Ok(
                        Record::decode(payload).map_or(Fed::Nothing, |record| Fed::Record(lsn, record))
                    );
                }
                // What is being written may be half there: in files, it is looked at again.
                _ if matches!(self.source, Source::Files(..)) => {
                    if !self.read_again()? {
                        return Ok(Fed::Nothing);
                    }
                }
                _ if self.bytes[self.offset..].starts_with(&MAGIC) => {
                    if !self.next_header()? {
                        return Ok(Fed::Ended);
                    }
                }
                Frame::Bad(why) => return Err(self.damaged(why)),
                Frame::Blank => {
                    // The rest of a segment, which positions don't count.
                    self.offset += 8;
                }
                Frame::Short => {
                    if self.read_more()? == 0 {
                        return Ok(Fed::Ended);
                    }
                }
            }
        }
    }

    fn damaged(&self, why: &str) -> RedoError {
        RedoError::Damaged { path: self.path.clone(), offset: self.lsn(), why: why.to_owned() }
    }

    fn forget_read(&mut self) {
        self.bytes.drain(..self.offset);
        self.offset = 0;
    }

    /// Reads on; of a reader.
    fn read_more(&mut self) -> Result<usize, RedoError> {
        self.forget_read();
        let Source::Read(read) = &mut self.source else { return Ok(0) };
        let before = self.bytes.len();
        self.bytes.resize(before + PIECE, 0);
        let read = read.read(&mut self.bytes[before..]);
        self.bytes.truncate(before + *read.as_ref().unwrap_or(&0));
        read.map_err(|error| RedoError::io("read the log", &self.path, error))
    }

    /// Reads the header of another segment; of a reader. `false` if it ends there.
    fn next_header(&mut self) -> Result<bool, RedoError> {
        while self.bytes.len() - self.offset < HEADER {
            if self.read_more()? == 0 {
                return Ok(false);
            }
        }
        let header = Header::decode(&self.bytes[self.offset..]).map_err(|why| self.damaged(&why))?;
        if header.start != self.lsn() {
            return Err(self.damaged(&format!("another segment begins at {}", header.start)));
        }
        self.header = header;
        self.offset += HEADER;
        Ok(true)
    }

    /// Reads the file again from the last record on, or the next one; whether there is a whole record.
    fn read_again(&mut self) -> Result<bool, RedoError> {
        self.forget_read();
        let lsn = self.lsn();
        let Source::Files(file, dir) = &mut self.source else { return Ok(false) };
        let failed = |error| RedoError::io("read the log", &self.path, error);
        let mut wanted = PIECE as u64;
        for _ in 0..2 {
            file.seek(SeekFrom::Start(HEADER as u64 + lsn - self.header.start)).map_err(failed)?;
            self.bytes.clear();
            file.by_ref().take(wanted).read_to_end(&mut self.bytes).map_err(failed)?;
            match frame_at(&self.bytes) {
                Frame::Whole(..) => return Ok(true),
                // A long record, or one that is being written.
                Frame::Short => {
                    wanted = u64::from(Reading(&self.bytes).word().unwrap_or(0)) + 2 * PIECE as u64
                }
                Frame::Blank | Frame::Bad(_) => break,
            }
        }
        let next = segment_path(dir, lsn);
        if lsn == self.header.start {
            return Ok(false);
        }
        let mut file = match File::open(&next) {
            Ok(file) => file,
            // A segment goes only after its successor has come: so if this one is gone and there is no successor, that one has
            // gone too.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return if self.path.exists() || next.exists() {
                    Ok(false)
                } else {
                    Err(RedoError::Pruned { path: next, lsn })
                };
            }
            Err(error) => return Err(RedoError::io("open the log", next, error)),
        };
        // It may be there without its header yet.
        let Ok(header) = read_header(&mut file, &next) else { return Ok(false) };
        (self.source, self.path, self.header) = (Source::Files(file, dir.clone()), next, header);
        self.bytes.clear();
        self.read_again()
    }
}

fn read_header(read: &mut impl Read, path: &Path) -> Result<Header, RedoError> {
    let mut bytes = [0; HEADER];
    read.read_exact(&mut bytes).map_err(|error| RedoError::io("read a header", path, error))?;
    Header::decode(&bytes).map_err(|why| RedoError::Damaged { path: path.into(), offset: 0, why })
}
