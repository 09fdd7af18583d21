//! stub
use super::error::RedoError;
use super::record::Record;
use std::fs::File;
use std::io::Write;
use std::sync::Mutex;
#[derive(Debug)]
pub(crate) struct Log {
    inner: Mutex<Inner>,
}
#[derive(Debug)]
struct Inner {
    file: File,
    written: usize,
    buffer: Vec<u8>,
    holes: usize,
    records: u64,
    fsyncs: u64,
}
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    log: &'a Log,
}
#[derive(Debug)]
pub(crate) struct Place {
    log: *const Log,
    at: usize,
    len: usize,
}
impl Log {
    pub(crate) fn new(file: File, written: usize) -> Self {
        Self { inner: Mutex::new(Inner { file, written, buffer: Vec::new(), holes: 0, records: 0, fsyncs: 0 }) }
    }
    pub(crate) fn permit(&self, _: usize) -> Result<Permit<'_>, RedoError> {
        Ok(Permit { log: self })
    }
    pub(crate) fn end(&self) -> u64 {
        let i = self.inner.lock().unwrap();
        (i.written + i.buffer.len()) as u64
    }
    pub(crate) fn flush(&self, lsn: u64) -> Result<(), RedoError> {
        loop {
            let mut i = self.inner.lock().unwrap();
            if i.written as u64 >= lsn {
                return Ok(());
            }
            if i.holes == 0 {
                let i = &mut *i;
                i.file.write_all(&i.buffer)?;
                i.file.sync_data()?;
                i.fsyncs += 1;
                i.written += i.buffer.len();
                i.buffer.clear();
                return Ok(());
            }
            drop(i);
            std::thread::yield_now();
        }
    }
}
impl Permit<'_> {
    pub(crate) fn reserve(&mut self, len: usize) -> Place {
        let mut i = self.log.inner.lock().unwrap();
        let at = i.written + i.buffer.len();
        let n = i.buffer.len() + len;
        i.buffer.resize(n, 0);
        i.holes += 1;
        i.records += 1;
        Place { log: self.log, at, len }
    }
}
impl Place {
    pub(crate) fn end(&self) -> u64 {
        (self.at + self.len) as u64
    }
    #[allow(unsafe_code)]
    pub(crate) fn fill(self, record: &Record<'_>) {
        let log = unsafe { &*self.log };
        let mut out = Vec::new();
        record.encode(&mut out);
        assert_eq!(out.len(), self.len);
        let mut i = log.inner.lock().unwrap();
        let at = self.at - i.written;
        i.buffer[at..at + out.len()].copy_from_slice(&out);
        i.holes -= 1;
    }
}
impl Log {
    pub(crate) fn create(path: &std::path::Path, header: &super::header::Header) -> Result<Self, RedoError> {
        let mut file = File::options().create_new(true).write(true).open(path)?;
        file.write_all(&header.encode())?;
        file.sync_data()?;
        Ok(Self::new(file, 64))
    }
    pub(crate) fn resume(path: &std::path::Path, reader: Reader) -> Result<Self, RedoError> {
        use std::io::Seek;
        let mut file = File::options().write(true).open(path)?;
        file.set_len(reader.at as u64)?;
        file.seek(std::io::SeekFrom::End(0))?;
        Ok(Self::new(file, reader.at))
    }
}
#[derive(Debug)]
pub(crate) struct Reader {
    bytes: Vec<u8>,
    at: usize,
    header: super::header::Header,
}
impl Reader {
    pub(crate) fn open(path: &std::path::Path) -> Result<Self, RedoError> {
        let bytes = std::fs::read(path)?;
        let header = super::header::Header::decode(&bytes)?;
        Ok(Self { bytes, at: 64, header })
    }
    pub(crate) fn header(&self) -> &super::header::Header {
        &self.header
    }
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Record<'_>)>, RedoError> {
        let Some((record, len)) = Record::decode(&self.bytes[self.at..]) else { return Ok(None) };
        self.at += len;
        Ok(Some((self.at as u64, record)))
    }
    pub(crate) fn lsn(&self) -> u64 {
        self.at as u64
    }
    pub(crate) fn torn_bytes(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }
}
pub(crate) enum Fed<'a> {
    Record(u64, Record<'a>),
    Nothing,
    Ended,
}
pub(crate) struct Feed {
    read: Box<dyn std::io::Read + Send>,
    waits: bool,
    buffer: Vec<u8>,
    at: usize,
    base: u64,
    header: super::header::Header,
}
impl Feed {
    pub(crate) fn of_path(path: &std::path::Path) -> Result<Self, RedoError> {
        Self::new(Box::new(File::open(path)?), true)
    }
    pub(crate) fn of_read(read: Box<dyn std::io::Read + Send>) -> Result<Self, RedoError> {
        Self::new(read, false)
    }
    fn new(mut read: Box<dyn std::io::Read + Send>, waits: bool) -> Result<Self, RedoError> {
        let mut header = [0; 64];
        read.read_exact(&mut header)?;
        let header = super::header::Header::decode(&header)?;
        Ok(Self { read, waits, buffer: Vec::new(), at: 0, base: 64, header })
    }
    pub(crate) fn header(&self) -> &super::header::Header {
        &self.header
    }
    pub(crate) fn lsn(&self) -> u64 {
        self.base + self.at as u64
    }
    pub(crate) fn seen(&self) -> u64 {
        self.base + self.buffer.len() as u64
    }
    pub(crate) fn poll(&mut self) -> Result<Fed<'_>, RedoError> {
        if Record::decode(&self.buffer[self.at..]).is_none() {
            self.buffer.drain(..self.at);
            self.base += self.at as u64;
            self.at = 0;
            let old = self.buffer.len();
            self.buffer.resize(old + (1 << 16), 0);
            let n = self.read.read(&mut self.buffer[old..])?;
            self.buffer.truncate(old + n);
            if Record::decode(&self.buffer).is_none() {
                return Ok(if n == 0 && !self.waits { Fed::Ended } else { Fed::Nothing });
            }
        }
        let (record, len) = Record::decode(&self.buffer[self.at..]).expect("there is one");
        self.at += len;
        Ok(Fed::Record(self.base + self.at as u64, record))
    }
}

impl Log {
    pub(crate) fn records(&self) -> u64 {
        self.inner.lock().unwrap().records
    }
    pub(crate) fn fsyncs(&self) -> u64 {
        self.inner.lock().unwrap().fsyncs
    }
}
