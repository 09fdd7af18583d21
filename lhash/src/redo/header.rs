//! stub
use super::error::RedoError;
/// Header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    #[allow(missing_docs)]
    pub seed: u64,
    #[allow(missing_docs)]
    pub fill_factor: u32,
    #[allow(missing_docs)]
    pub page_slots: u32,
    #[allow(missing_docs)]
    pub min_buckets: u32,
    #[allow(missing_docs)]
    pub policy: u32,
    #[allow(missing_docs)]
    pub cap: u32,
    #[allow(missing_docs)]
    pub flags: u32,
    #[allow(missing_docs)]
    pub buckets: u32,
    #[allow(missing_docs)]
    pub shrink: u32,
}
impl Header {
    pub(crate) fn encode(&self) -> [u8; 64] {
        let mut b = [0; 64];
        b[..8].copy_from_slice(b"LHREDO01");
        b[8..16].copy_from_slice(&self.seed.to_le_bytes());
        for (i, v) in [
            self.fill_factor,
            self.page_slots,
            self.min_buckets,
            self.policy,
            self.cap,
            self.flags,
            self.buckets,
            self.shrink,
        ]
        .iter()
        .enumerate()
        {
            b[16 + 4 * i..20 + 4 * i].copy_from_slice(&v.to_le_bytes());
        }
        b
    }
    pub(crate) fn decode(b: &[u8]) -> Result<Self, RedoError> {
        if b.len() < 64 || &b[..8] != b"LHREDO01" {
            return Err(RedoError::Bad("header".into()));
        }
        let v = |i: usize| u32::from_le_bytes(b[16 + 4 * i..20 + 4 * i].try_into().unwrap());
        Ok(Self {
            seed: u64::from_le_bytes(b[8..16].try_into().unwrap()),
            fill_factor: v(0),
            page_slots: v(1),
            min_buckets: v(2),
            policy: v(3),
            cap: v(4),
            flags: v(5),
            buckets: v(6),
            shrink: v(7),
        })
    }
}
