//! Records and their frames. Next: `frame.rs`, the bytes.

use super::frame::{FRAME_HEAD, Reading, padded, put, varint_len};

/// What the metapage's count took when a record's change was counted.
///
/// ```
/// use lhash::redo::{LoggedMap, Options, Ntuples, Reader, Record};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
/// map.pin().insert(1, 2)?;
/// map.flush()?;
/// let mut reader = Reader::open(&path)?;
/// let (_, record) = reader.read()?.expect("there is one");
/// assert!(matches!(record, Record::Insert { ntuples: Ntuples::Itself | Ntuples::By(1), .. }));
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ntuples {
    /// Nothing: a later one counts it.
    Nothing,
    /// The change itself, +1 or -1. Leaves no number in the record, like `Nothing`.
    Itself,
    /// Another number: the change, and what others had left pending.
    By(i32),
}

/// A change of the table.
///
/// ```
/// use lhash::redo::{LoggedMap, Options, Reader, Record};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
/// map.pin().insert(1, 2)?;
/// map.flush()?;
/// let mut reader = Reader::open(&path)?;
/// let (_, record) = reader.read()?.expect("there is one");
/// assert!(matches!(record, Record::Insert { key, .. } if key == 1_u64.to_le_bytes()));
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "`bucket`, `hash`, `key`, `value` and `digest`, of the bucket after the change unless it says otherwise, say it"
)]
pub enum Record<'a> {
    /// An entry came.
    Insert { bucket: u32, hash: u32, key: &'a [u8], value: &'a [u8], ntuples: Ntuples, digest: Option<u64> },
    /// A map's key got another value.
    Replace { bucket: u32, hash: u32, key: &'a [u8], value: &'a [u8], digest: Option<u64> },
    /// An entry went.
    Remove { bucket: u32, hash: u32, key: &'a [u8], value: &'a [u8], ntuples: Ntuples, digest: Option<u64> },
    /// The insert that follows in that bucket takes another overflow page.
    AddPage { bucket: u32 },
    /// Bucket `to` was split off.
    Split { from: u32, to: u32, digests: Option<(u64, u64)> },
    /// Bucket `from` was merged into `to`.
    Merge { from: u32, to: u32, digest: Option<u64> },
    /// The chain of a bucket was squeezed.
    Squeeze { bucket: u32, digest: Option<u64> },
    /// A vacuum has ended. `exact` is the count that it put back, if entries are counted with losses.
    Vacuum { removed: u64, exact: Option<u64> },
    /// All entries of a bucket went, `removed` of them; `digest` is theirs.
    Clear { bucket: u32, removed: u32, ntuples: Ntuples, digest: Option<u64> },
}

const INSERT: u8 = 1;
const REPLACE: u8 = 2;
const REMOVE: u8 = 3;
const ADD_PAGE: u8 = 4;
const SPLIT: u8 = 5;
const MERGE: u8 = 6;
const SQUEEZE: u8 = 7;
const VACUUM: u8 = 8;
const CLEAR: u8 = 9;

/// More entries than an address space has room for: a map that is said to have more could not count on from there.
pub(crate) const MOST_ENTRIES: u64 = 1 << 48;

const KIND: u8 = 0x0f;
const ITSELF: u8 = 0x10;
const BY: u8 = 0x20;
/// There is room for a number, whether there is one or not: a frame's length is fixed before the count is known.
const ROOM: u8 = 0x40;
const DIGEST: u8 = 0x80;

type Entry<'a> = (u8, u32, u32, &'a [u8], &'a [u8], Option<Ntuples>, Option<u64>);

impl<'a> Record<'a> {
    /// In one word.
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
    /// assert_eq!(reader.read()?.expect("there is one").1.kind(), "insert");
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Insert { .. } => "insert",
            Self::Replace { .. } => "replace",
            Self::Remove { .. } => "remove",
            Self::AddPage { .. } => "add_page",
            Self::Split { .. } => "split",
            Self::Merge { .. } => "merge",
            Self::Squeeze { .. } => "squeeze",
            Self::Vacuum { .. } => "vacuum",
            Self::Clear { .. } => "clear",
        }
    }

    /// The bucket: of a split the new one, of a merge the one that goes.
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
    /// assert!(reader.read()?.expect("there is one").1.bucket().is_some());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    #[must_use]
    pub fn bucket(&self) -> Option<u32> {
        match *self {
            Self::Insert { bucket, .. }
            | Self::Replace { bucket, .. }
            | Self::Remove { bucket, .. }
            | Self::AddPage { bucket }
            | Self::Squeeze { bucket, .. }
            | Self::Clear { bucket, .. } => Some(bucket),
            Self::Split { to, .. } => Some(to),
            Self::Merge { from, .. } => Some(from),
            Self::Vacuum { .. } => None,
        }
    }

    /// What the metapage took, where it took another number than the change itself.
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
    /// assert!(reader.read()?.expect("there is one").1.ntuples().is_none_or(|n| n == 1));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    #[must_use]
    pub fn ntuples(&self) -> Option<i32> {
        match *self {
            Self::Insert { ntuples: Ntuples::By(n), .. }
            | Self::Remove { ntuples: Ntuples::By(n), .. }
            | Self::Clear { ntuples: Ntuples::By(n), .. } => Some(n),
            _ => None,
        }
    }

    fn entry(&self) -> Option<Entry<'a>> {
        match *self {
            Self::Insert { bucket, hash, key, value, ntuples, digest } => {
                Some((INSERT, bucket, hash, key, value, Some(ntuples), digest))
            }
            Self::Replace { bucket, hash, key, value, digest } => {
                Some((REPLACE, bucket, hash, key, value, None, digest))
            }
            Self::Remove { bucket, hash, key, value, ntuples, digest } => {
                Some((REMOVE, bucket, hash, key, value, Some(ntuples), digest))
            }
            _ => None,
        }
    }

    /// The bytes of its frame, with `room` for a number if entries may be counted later.
    pub(crate) fn frame_len(&self, room: bool) -> usize {
        padded(FRAME_HEAD + 1 + self.body_len(room))
    }

    fn body_len(&self, room: bool) -> usize {
        if let Some((_, _, _, key, value, ntuples, digest)) = self.entry() {
            let number = if room && ntuples.is_some() { 4 } else { 0 };
            let digest = if digest.is_some() { 8 } else { 0 };
            return 8 + number + digest + varint_len(key.len()) + key.len() + value.len();
        }
        match self {
            Self::AddPage { .. } => 4,
            Self::Split { digests, .. } => 8 + digests.map_or(0, |_| 16),
            Self::Merge { digest, .. } => 8 + digest.map_or(0, |_| 8),
            Self::Squeeze { digest, .. } => 4 + digest.map_or(0, |_| 8),
            Self::Vacuum { exact, .. } => 8 + exact.map_or(0, |_| 8),
            Self::Clear { digest, .. } => 8 + if room { 4 } else { 0 } + digest.map_or(0, |_| 8),
            Self::Insert { .. } | Self::Replace { .. } | Self::Remove { .. } => unreachable!("handled above"),
        }
    }

    /// Appends its payload: kind, then body.
    pub(crate) fn encode(&self, room: bool, out: &mut Vec<u8>) {
        let with = |kind: u8, digest: bool| kind | if digest { DIGEST } else { 0 };
        if let Some((kind, bucket, hash, key, value, ntuples, digest)) = self.entry() {
            put_counted(out, room, kind, [bucket, hash], ntuples, digest);
            put::varint(out, key.len());
            out.extend_from_slice(key);
            out.extend_from_slice(value);
            return;
        }
        match *self {
            Self::AddPage { bucket } => put::tagged(out, ADD_PAGE, &[bucket], &[]),
            Self::Split { from, to, digests } => {
                let both = digests.map(|(stay, go)| [stay, go]);
                put::tagged(
                    out,
                    with(SPLIT, both.is_some()),
                    &[from, to],
                    both.as_ref().map_or(&[], |b| &b[..]),
                );
            }
            Self::Merge { from, to, digest } => {
                put::tagged(out, with(MERGE, digest.is_some()), &[from, to], digest.as_slice());
            }
            Self::Squeeze { bucket, digest } => {
                put::tagged(out, with(SQUEEZE, digest.is_some()), &[bucket], digest.as_slice());
            }
            Self::Vacuum { removed, exact } => {
                put::tagged(out, with(VACUUM, exact.is_some()), &[], &[removed]);
                put::longs(out, exact.as_slice());
            }
            Self::Clear { bucket, removed, ntuples, digest } => {
                put_counted(out, room, CLEAR, [bucket, removed], Some(ntuples), digest);
            }
            Self::Insert { .. } | Self::Replace { .. } | Self::Remove { .. } => {}
        }
    }

    /// Reads a payload.
    pub(crate) fn decode(payload: &'a [u8]) -> Option<Self> {
        let (&tag, body) = payload.split_first()?;
        let mut body = Reading(body);
        let has_digest = tag & DIGEST != 0;
        let record = match tag & KIND {
            kind @ (INSERT | REPLACE | REMOVE) => return Self::decode_entry(kind, tag, body),
            ADD_PAGE => Self::AddPage { bucket: body.word()? },
            SPLIT => {
                let (from, to) = (body.word()?, body.word()?);
                let digests = if has_digest { Some((body.long()?, body.long()?)) } else { None };
                Self::Split { from, to, digests }
            }
            MERGE => Self::Merge { from: body.word()?, to: body.word()?, digest: body.long_if(has_digest)? },
            SQUEEZE => Self::Squeeze { bucket: body.word()?, digest: body.long_if(has_digest)? },
            VACUUM => {
                let (removed, exact) = (body.long()?, body.long_if(has_digest)?);
                Self::Vacuum { removed, exact: if exact > Some(MOST_ENTRIES) { return None } else { exact } }
            }
            CLEAR => {
                let (bucket, removed, ntuples, digest) = counted(tag, &mut body)?;
                Self::Clear { bucket, removed, ntuples, digest }
            }
            _ => return None,
        };
        body.0.is_empty().then_some(record)
    }

    fn decode_entry(kind: u8, tag: u8, mut body: Reading<'a>) -> Option<Self> {
        let (bucket, hash, ntuples, digest) = counted(tag, &mut body)?;
        let len = body.varint()?;
        let (key, value) = body.0.split_at_checked(len)?;
        Some(match kind {
            INSERT => Self::Insert { bucket, hash, key, value, ntuples, digest },
            REPLACE => Self::Replace { bucket, hash, key, value, digest },
            _ => Self::Remove { bucket, hash, key, value, ntuples, digest },
        })
    }
}

/// Appends how the records begin that change the count: tag, two words, the number if there is room for one, the digest.
fn put_counted(
    out: &mut Vec<u8>,
    room: bool,
    kind: u8,
    words: [u32; 2],
    ntuples: Option<Ntuples>,
    digest: Option<u64>,
) {
    let (counted, number) = match ntuples {
        Some(Ntuples::Itself) => (ITSELF, 0),
        Some(Ntuples::By(n)) if room => (BY, n),
        _ => (0, 0),
    };
    let room = if room && ntuples.is_some() { ROOM } else { 0 };
    out.push(kind | counted | room | if digest.is_some() { DIGEST } else { 0 });
    put::words(out, &words);
    if room != 0 {
        put::words(out, &[number as u32]);
    }
    put::longs(out, digest.as_slice());
}

/// Reads what `put_counted` wrote after the tag.
fn counted(tag: u8, body: &mut Reading<'_>) -> Option<(u32, u32, Ntuples, Option<u64>)> {
    let words = (body.word()?, body.word()?);
    let number = if tag & ROOM == 0 { 0 } else { body.word()? as i32 };
    let ntuples = match tag & (ITSELF | BY) {
        0 => Ntuples::Nothing,
        ITSELF => Ntuples::Itself,
        BY if tag & ROOM != 0 => Ntuples::By(number),
        _ => return None,
    };
    Some((words.0, words.1, ntuples, body.long_if(tag & DIGEST != 0)?))
}

#[cfg(test)]
mod tests {
    use super::{MOST_ENTRIES, Record};

    #[test]
    fn a_count_that_no_map_can_have_is_no_record() {
        let record = |exact| {
            let mut payload = Vec::new();
            Record::Vacuum { removed: 0, exact: Some(exact) }.encode(false, &mut payload);
            Record::decode(&payload).map(|record| record.kind())
        };
        assert_eq!(record(MOST_ENTRIES), Some("vacuum"));
        assert_eq!([MOST_ENTRIES + 1, i64::MAX as u64, u64::MAX].map(record), [None; 3]);
    }
}
