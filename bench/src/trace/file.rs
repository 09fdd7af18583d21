//! Unpacking a trace file, never further than its own header allows.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use super::{HEADER_BYTES, Header, Trace, TraceError, decode};

const FILE_NAME: &str = "pgbench-tpcb-1M.pgbt.zst";
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Where the shipped trace lies: beside this crate's sources, or else in `bench/data` of the current folder.
#[must_use]
pub fn default_path() -> PathBuf {
    let beside_sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(FILE_NAME);
    if beside_sources.exists() { beside_sources } else { Path::new("bench/data").join(FILE_NAME) }
}

/// Unpacks and decodes the trace at `path`, drawing a progress bar on standard error if that is a terminal.
///
/// # Errors
///
/// A [`TraceError`] that says what is wrong with the file.
pub fn read_file(path: &Path) -> Result<Trace, TraceError> {
    let file = File::open(path).map_err(TraceError::Io)?;
    let file_bytes = file.metadata().map_err(TraceError::Io)?.len();
    let style = ProgressStyle::with_template("reading the trace {bar:40} {percent:>3} %");
    let bar = ProgressBar::new(file_bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let result = read(BufReader::new(bar.wrap_read(file)));
    bar.finish_and_clear();
    decode(&result?)
}

/// Unpacks a compressed trace, stopping where it gets longer than its header says.
fn read(mut compressed: impl BufRead) -> Result<Vec<u8>, TraceError> {
    let start = compressed.fill_buf().map_err(TraceError::Io)?;
    if !start.starts_with(&ZSTD_MAGIC) {
        let start = &start[..start.len().min(ZSTD_MAGIC.len())];
        return Err(TraceError::NotZstd { found: start.escape_ascii().to_string() });
    }
    let mut unpacked = zstd::stream::read::Decoder::with_buffer(compressed).map_err(TraceError::Io)?;
    let mut bytes = Vec::new();
    append(&mut unpacked, HEADER_BYTES as u64, &mut bytes)?;
    let limit_bytes = Header::parse(&bytes)?.max_bytes() + 1;
    let rest_bytes = u64::try_from(limit_bytes).unwrap_or(u64::MAX) - HEADER_BYTES as u64;
    append(&mut unpacked, rest_bytes, &mut bytes)?;
    Ok(bytes)
}

/// Unpacks up to `limit_bytes` more; the buffer grows with what arrives, not with what is promised.
fn append(from: &mut impl Read, limit_bytes: u64, to: &mut Vec<u8>) -> Result<(), TraceError> {
    match from.by_ref().take(limit_bytes).read_to_end(to) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(TraceError::TruncatedFrame { unpacked_bytes: to.len() })
        }
        Err(source) => Err(TraceError::Corrupt { unpacked_bytes: to.len(), source }),
    }
}
