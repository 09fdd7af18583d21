//! [`Codec`]: keys and values as bytes.

use core::fmt;

/// What keys and values of a logged map can be written as and read from. Equal values must be written alike: a record
/// names an entry by its bytes.
///
/// There are codecs for integers, `bool`, `char`, `()`, byte arrays, `Vec<u8>` and `String`, and with feature `serde` for whatever
/// can be serialized, wrapped in [`Serde`].
///
/// ```
/// use lhash::redo::{Codec, DecodeError};
///
/// #[derive(PartialEq, Debug)]
/// struct Point(u32, u32);
///
/// impl Codec for Point {
///     fn encode(&self, out: &mut Vec<u8>) {
///         self.0.encode(out);
///         self.1.encode(out);
///     }
///
///     fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
///         let (x, y) = bytes.split_at_checked(4).ok_or(DecodeError::new("a point has 8 bytes"))?;
///         Ok(Self(u32::decode(x)?, u32::decode(y)?))
///     }
/// }
/// let mut bytes = Vec::new();
/// Point(1, 2).encode(&mut bytes);
/// assert_eq!(Point::decode(&bytes), Ok(Point(1, 2)));
/// ```
pub trait Codec: Sized {
    /// Appends the value's bytes.
    fn encode(&self, out: &mut Vec<u8>);

    /// The value of exactly these bytes.
    ///
    /// # Errors
    /// If they are those of no value.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError>;
}

/// Bytes that are those of no value.
///
/// ```
/// use lhash::redo::{Codec, DecodeError};
///
/// #[derive(Debug, PartialEq)]
/// struct Even(u64);
///
/// impl Codec for Even {
///     fn encode(&self, out: &mut Vec<u8>) {
///         self.0.encode(out);
///     }
///
///     fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
///         let number = u64::decode(bytes)?;
///         if number % 2 == 0 { Ok(Self(number)) } else { Err(DecodeError::new("an odd number")) }
///     }
/// }
/// assert!(Even::decode(&3_u64.to_le_bytes()).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(String);

impl DecodeError {
    /// An error that says why.
    ///
    /// ```
    /// assert!(lhash::redo::DecodeError::new("an odd number").to_string().contains("odd"));
    /// ```
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

fn sized<const N: usize>(bytes: &[u8]) -> Result<[u8; N], DecodeError> {
    bytes.try_into().map_err(|_| DecodeError::new(format!("{} bytes where there must be {N}", bytes.len())))
}

macro_rules! integers {
    ($($integer:ty)*) => {
        $(
            /// Little-endian.
            impl Codec for $integer {
                fn encode(&self, out: &mut Vec<u8>) {
                    out.extend_from_slice(&self.to_le_bytes());
                }

                fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
                    sized(bytes).map(Self::from_le_bytes)
                }
            }
        )*
    };
}

integers!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);

impl Codec for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        match bytes {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(DecodeError::new(format!("{bytes:?} is not a bool"))),
        }
    }
}

impl Codec for char {
    fn encode(&self, out: &mut Vec<u8>) {
        u32::from(*self).encode(out);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let number = u32::decode(bytes)?;
        Self::from_u32(number).ok_or_else(|| DecodeError::new(format!("{number:#x} is not a char")))
    }
}

impl Codec for () {
    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        sized::<0>(bytes).map(drop)
    }
}

impl<const N: usize> Codec for [u8; N] {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        sized(bytes)
    }
}

impl Codec for Vec<u8> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(bytes.to_vec())
    }
}

impl Codec for String {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let text = core::str::from_utf8(bytes).map_err(|error| DecodeError::new(error.to_string()))?;
        Ok(text.to_owned())
    }
}

/// Wraps what can be serialized, in the format of the crate `postcard`.
///
/// ```
/// use lhash::redo::{Codec, Serde};
///
/// let mut bytes = Vec::new();
/// Serde((7_u32, "seven".to_owned())).encode(&mut bytes);
/// assert_eq!(Serde::<(u32, String)>::decode(&bytes).map(|both| both.0.1), Ok("seven".to_owned()));
/// ```
#[cfg(feature = "serde")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Serde<T>(pub T);

/// Panics if `T` can't be serialized, as something with a length that is not known beforehand.
#[cfg(feature = "serde")]
impl<T: serde::Serialize + serde::de::DeserializeOwned> Codec for Serde<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        match postcard::to_extend(&self.0, core::mem::take(out)) {
            Ok(longer) => *out = longer,
            Err(error) => panic!("the value can't be serialized: {error}"),
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        match postcard::take_from_bytes(bytes) {
            Ok((value, [])) => Ok(Self(value)),
            Ok((_, rest)) => Err(DecodeError::new(format!("{} bytes too many", rest.len()))),
            Err(error) => Err(DecodeError::new(error.to_string())),
        }
    }
}
