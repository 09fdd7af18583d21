//! stub
use super::error::RedoError;
/// Codec.
pub trait Codec: Sized {
    /// encode
    fn encode(&self, out: &mut Vec<u8>);
    /// decode
    fn decode(bytes: &[u8]) -> Result<Self, RedoError>;
}
macro_rules! ints { ($($t:ty)*) => { $( impl Codec for $t {
    fn encode(&self, out: &mut Vec<u8>) { out.extend_from_slice(&self.to_le_bytes()); }
    fn decode(bytes: &[u8]) -> Result<Self, RedoError> { Ok(Self::from_le_bytes(bytes.try_into().map_err(|_| RedoError::Bad("length".into()))?)) }
} )* } }
ints!(u8 u16 u32 u64 i8 i16 i32 i64);
impl Codec for String {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
    fn decode(bytes: &[u8]) -> Result<Self, RedoError> {
        String::from_utf8(bytes.to_vec()).map_err(|_| RedoError::Bad("utf8".into()))
    }
}
