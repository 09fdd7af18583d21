//! The log's files: segments in a folder, each named by the position of its first record. Next: `reader.rs`.

use super::calls::{Call, Faults, ask, write};
use super::error::RedoError;
use super::header::{HEADER, Header, MAGIC};
use super::lock::FolderLock;
use super::snapshots;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The bytes of a segment, which are allocated when it is made. A single write may make one longer.
pub(crate) const SEGMENT: u64 = 16 << 20;

#[derive(Debug)]
pub(crate) struct Files {
    dir: PathBuf,
    header: Header,
    path: PathBuf,
    file: File,
    /// The position after the last byte that was written.
    end: u64,
    pub(crate) faults: Option<Arc<dyn Faults>>,
    pub(crate) fsyncs: u64,
    /// With more bytes than that, another segment begins.
    pub(crate) segment_bytes: u64,
    _lock: FolderLock,
}

/// The segments of a folder by their positions.
pub(crate) fn segments(dir: &Path) -> Result<Vec<(u64, PathBuf)>, RedoError> {
    let failed = |error| RedoError::io("list the segments of the log", dir, error);
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let start = name.strip_suffix(".redo").filter(|name| name.len() == 16);
        if let Some(start) = start.and_then(|start| u64::from_str_radix(start, 16).ok()) {
            all.push((start, path));
        }
    }
    all.sort_unstable();
    Ok(all)
}

pub(crate) fn segment_path(dir: &Path, start: u64) -> PathBuf {
    dir.join(format!("{start:016x}.redo"))
}

fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        // A file system that allocates nothing beforehand.
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
        done => return Ok(done?),
    }
    file.set_len(bytes)
}

/// Makes a folder's new entries last.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), RedoError> {
    #[cfg(unix)]
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(|error| RedoError::io("bring the folder to the disk", dir, error))?;
    Ok(())
}

fn new_segment(dir: &Path, header: &Header, bytes: u64) -> Result<(PathBuf, File), RedoError> {
    let path = segment_path(dir, header.start);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let failed = |error| RedoError::io("make a segment", &path, error);
    let mut file = options.open(&path).map_err(failed)?;
    allocate(&file, bytes).map_err(failed)?;
    file.write_all(&header.encode(MAGIC)).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    sync_dir(dir)?;
    Ok((path, file))
}

fn must_be_new(dir: &Path) -> Result<(), RedoError> {
    if segments(dir)?.is_empty() && snapshots::all(dir)?.is_empty() {
        return Ok(());
    }
    let there = io::Error::new(io::ErrorKind::AlreadyExists, "there is a log already");
    Err(RedoError::io("make a log", dir, there))
}

impl Files {
    /// A log's first segment, in a folder that is made if need be and has none yet.
    pub(crate) fn create(dir: &Path, header: Header) -> Result<Self, RedoError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(dir).map_err(|error| RedoError::io("make the folder of the log", dir, error))?;
        must_be_new(dir)?;
        let lock = FolderLock::take(dir)?;
        must_be_new(dir)?;
        let (path, file) = new_segment(dir, &header, SEGMENT)?;
        if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_dir(parent)?;
        }
        Ok(Self::over(dir, header, path, file, header.start, lock))
    }

    /// Goes on with a log that ends at `end`: what is after it in the last segment is cut off.
    pub(crate) fn resume(dir: &Path, header: Header, end: u64, lock: FolderLock) -> Result<Self, RedoError> {
        let path = segment_path(dir, header.start);
        for (_, later) in segments(dir)?.into_iter().filter(|(start, _)| *start > header.start) {
            fs::remove_file(&later).map_err(|error| RedoError::io("remove a torn segment", later, error))?;
        }
        let failed = |error| RedoError::io("go on with a segment", &path, error);
        let mut file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
        let offset = HEADER as u64 + end - header.start;
        file.set_len(offset).map_err(failed)?;
        allocate(&file, SEGMENT.max(offset)).map_err(failed)?;
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        snapshots::remove_unfinished(dir, None)?;
        Ok(Self::over(dir, header, path, file, end, lock))
    }

    fn over(dir: &Path, header: Header, path: PathBuf, file: File, end: u64, lock: FolderLock) -> Self {
        let (dir, faults) = (dir.into(), None);
        Self { dir, header, path, file, end, faults, fsyncs: 0, segment_bytes: SEGMENT, _lock: lock }
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Appends whole frames, if need be in a new segment.
    pub(crate) fn append(&mut self, frames: &[u8]) -> Result<(), RedoError> {
        let written = HEADER as u64 + self.end - self.header.start;
        if self.end > self.header.start && written + frames.len() as u64 > self.segment_bytes {
            self.sync()?;
            let header = Header { start: self.end, ..self.header };
            (self.path, self.file) = new_segment(&self.dir, &header, self.segment_bytes)?;
            self.header = header;
        }
        let failed = |error| RedoError::io("write", &self.path, error);
        write(self.faults.as_deref(), &mut self.file, frames).map_err(failed)?;
        self.end += frames.len() as u64;
        Ok(())
    }

    /// Brings what was appended to the disk.
    pub(crate) fn sync(&mut self) -> Result<(), RedoError> {
        let done = ask(self.faults.as_deref(), Call::Sync).and_then(|()| self.file.sync_data());
        done.map_err(|error| RedoError::io("bring what was written to the disk", &self.path, error))?;
        self.fsyncs += 1;
        Ok(())
    }
}
