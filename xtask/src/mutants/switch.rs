//! What the tool adds to the copied crate: a module that says which mutant is on.
//!
//! It allocates nothing, since tests count allocations and refuse them: the environment is read from `/proc`. Nor does it
//! need a stack: those of models are small.

/// The number of the mutant that is on; none if it isn't set.
pub(super) const MUTANT: &str = "LATCHFREE_MUTANT";
/// A file to which each mutant's number is appended when it is first asked for, four bytes little-endian.
pub(super) const REACHED: &str = "LATCHFREE_MUTANT_REACHED";

/// The module's text; numbers go up to `last`.
pub(super) fn module(last: u32) -> String {
    TEXT.replace("LAST", &last.to_string()).replace("N_MUTANT", MUTANT).replace("N_REACHED", REACHED)
}

const TEXT: &str = r#"
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, OnceLock};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const UNREAD: u32 = u32::MAX;
const RECORDING: u32 = u32::MAX - 1;

static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
static REACHED: [AtomicBool; LAST + 1] = [const { AtomicBool::new(false) }; LAST + 1];
static RECORD: OnceLock<Option<File>> = OnceLock::new();
static ENVIRONMENT: Mutex<[u8; 1 << 16]> = Mutex::new([0; 1 << 16]);

#[inline]
pub(crate) fn on(number: u32) -> bool {
    let active = ACTIVE.load(Ordering::Relaxed);
    if active >= RECORDING { rare(number, active) } else { active == number }
}

#[cold]
#[inline(never)]
fn rare(number: u32, active: u32) -> bool {
    if active == UNREAD {
        let active = read();
        ACTIVE.store(active, Ordering::Relaxed);
        return on(number);
    }
    if !REACHED[number as usize].swap(true, Ordering::Relaxed) {
        if let Some(Some(mut file)) = RECORD.get().map(|file| file.as_ref()) {
            file.write_all(&number.to_le_bytes()).expect("the record of what is reached can be written");
        }
    }
    false
}

fn read() -> u32 {
    let Ok(mut bytes) = ENVIRONMENT.lock() else { return 0 };
    let mut len = 0;
    let mut file = File::open("/proc/self/environ").expect("/proc is there");
    loop {
        let count = file.read(&mut bytes[len..]).expect("the environment can be read");
        if count == 0 {
            break;
        }
        len += count;
    }
    if let Some(path) = find(&bytes[..len], b"N_REACHED=") {
        RECORD.get_or_init(|| OpenOptions::new().append(true).create(true).open(OsStr::from_bytes(path)).ok());
        return RECORDING;
    }
    let digits = find(&bytes[..len], b"N_MUTANT=").unwrap_or_default();
    digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}

fn find<'a>(bytes: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    bytes.split(|byte| *byte == 0).find_map(|pair| pair.strip_prefix(name))
}
"#;
