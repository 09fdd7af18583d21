//! stub
/// What the metapage took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ntuples {
    /// n
    Nothing,
    /// i
    Itself,
    /// b
    By(i64),
}
/// Record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Record<'a> {
    Insert { bucket: u32, hash: u32, key: &'a [u8], value: &'a [u8], ntuples: Ntuples, digest: Option<u64> },
    Replace { bucket: u32, hash: u32, key: &'a [u8], value: &'a [u8], digest: Option<u64> },
    Remove { bucket: u32, hash: u32, key: &'a [u8], value: &'a [u8], ntuples: Ntuples, digest: Option<u64> },
    AddPage { bucket: u32 },
    Split { from: u32, to: u32, digests: Option<(u64, u64)> },
    Merge { from: u32, to: u32, digest: Option<u64> },
    Squeeze { bucket: u32, digest: Option<u64> },
    Vacuum { removed: u64, exact: Option<u64> },
}
fn nt(n: Ntuples) -> (u8, i64) {
    match n {
        Ntuples::Nothing => (0, 0),
        Ntuples::Itself => (1, 0),
        Ntuples::By(n) => (2, n),
    }
}
impl<'a> Record<'a> {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 8]);
        let entry = |out: &mut Vec<u8>,
                     kind: u8,
                     bucket: u32,
                     hash: u32,
                     key: &[u8],
                     value: &[u8],
                     ntuples: Ntuples,
                     digest: Option<u64>| {
            out.push(kind | (u8::from(digest.is_some()) << 7));
            out.extend_from_slice(&bucket.to_le_bytes());
            out.extend_from_slice(&hash.to_le_bytes());
            let (tag, n) = nt(ntuples);
            out.push(tag);
            out.extend_from_slice(&n.to_le_bytes());
            out.extend_from_slice(&(key.len() as u32).to_le_bytes());
            out.extend_from_slice(key);
            if let Some(d) = digest {
                out.extend_from_slice(&d.to_le_bytes());
            }
            out.extend_from_slice(value);
        };
        let two = |out: &mut Vec<u8>, kind: u8, a: u32, b: u32, d: &[Option<u64>]| {
            out.push(kind | (u8::from(d[0].is_some()) << 7));
            out.extend_from_slice(&a.to_le_bytes());
            out.extend_from_slice(&b.to_le_bytes());
            for d in d.iter().flatten() {
                out.extend_from_slice(&d.to_le_bytes());
            }
        };
        match *self {
            Record::Insert { bucket, hash, key, value, ntuples, digest } => {
                entry(out, 1, bucket, hash, key, value, ntuples, digest)
            }
            Record::Replace { bucket, hash, key, value, digest } => {
                entry(out, 2, bucket, hash, key, value, Ntuples::Nothing, digest)
            }
            Record::Remove { bucket, hash, key, value, ntuples, digest } => {
                entry(out, 3, bucket, hash, key, value, ntuples, digest)
            }
            Record::AddPage { bucket } => two(out, 4, bucket, 0, &[None]),
            Record::Split { from, to, digests } => {
                two(out, 5, from, to, &[digests.map(|d| d.0), digests.map(|d| d.1)])
            }
            Record::Merge { from, to, digest } => two(out, 6, from, to, &[digest]),
            Record::Squeeze { bucket, digest } => two(out, 7, bucket, 0, &[digest]),
            Record::Vacuum { removed, exact } => {
                out.push(8);
                out.extend_from_slice(&removed.to_le_bytes());
                if let Some(e) = exact {
                    out.extend_from_slice(&e.to_le_bytes());
                }
            }
        }
        let len = (out.len() - start - 8) as u32;
        let crc = crc32fast::hash(&out[start + 8..]);
        out[start..start + 4].copy_from_slice(&len.to_le_bytes());
        out[start + 4..start + 8].copy_from_slice(&crc.to_le_bytes());
    }
    pub(crate) fn frame_len(&self) -> usize {
        let mut v = Vec::new();
        self.encode(&mut v);
        v.len()
    }
    /// The first frame: record and frame length; None if torn or the end.
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<(Record<'a>, usize)> {
        let len = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let crc = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
        let body = bytes.get(8..8 + len)?;
        if len == 0 || crc32fast::hash(body) != crc {
            return None;
        }
        let has = body[0] & 128 != 0;
        let u4 = |at: usize| Some(u32::from_le_bytes(body.get(at..at + 4)?.try_into().ok()?));
        let u8_ = |at: usize| Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?));
        let record = match body[0] & 127 {
            kind @ 1..=3 => {
                let (bucket, hash) = (u4(1)?, u4(5)?);
                let ntuples = match body[9] {
                    0 => Ntuples::Nothing,
                    1 => Ntuples::Itself,
                    _ => Ntuples::By(u8_(10)? as i64),
                };
                let k = u4(18)? as usize;
                let key = body.get(22..22 + k)?;
                let (digest, v) = if has { (Some(u8_(22 + k)?), 30 + k) } else { (None, 22 + k) };
                let value = &body[v..];
                match kind {
                    1 => Record::Insert { bucket, hash, key, value, ntuples, digest },
                    2 => Record::Replace { bucket, hash, key, value, digest },
                    _ => Record::Remove { bucket, hash, key, value, ntuples, digest },
                }
            }
            4 => Record::AddPage { bucket: u4(1)? },
            5 => Record::Split {
                from: u4(1)?,
                to: u4(5)?,
                digests: if has { Some((u8_(9)?, u8_(17)?)) } else { None },
            },
            6 => Record::Merge { from: u4(1)?, to: u4(5)?, digest: if has { u8_(9) } else { None } },
            7 => Record::Squeeze { bucket: u4(1)?, digest: if has { u8_(9) } else { None } },
            8 => Record::Vacuum { removed: u8_(1)?, exact: u8_(9) },
            _ => return None,
        };
        Some((record, 8 + len))
    }
}
