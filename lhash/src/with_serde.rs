//! Feature `serde`: a map is a map, a multimap a sequence of pairs.

use crate::map::LHashMap;
use crate::multimap::LHashMultiMap;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

impl<K: Serialize, V: Serialize, S, const N: usize> Serialize for LHashMap<K, V, S, N> {
    /// The entries as [`Pinned::iter`](crate::Pinned::iter) meets them, collected first: a map's length is told
    /// before its entries.
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let pin = self.pin();
        serializer.collect_map(pin.iter().collect::<Vec<_>>())
    }
}

impl<'de, K, V, S> Deserialize<'de> for LHashMap<K, V, S>
where
    K: Deserialize<'de> + Hash + Eq + Send + 'static,
    V: Deserialize<'de> + Send + 'static,
    S: BuildHasher + Default,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData::<Self>))
    }
}

struct Entries<M>(PhantomData<M>);

impl<'de, K, V, S> Visitor<'de> for Entries<LHashMap<K, V, S>>
where
    K: Deserialize<'de> + Hash + Eq + Send + 'static,
    V: Deserialize<'de> + Send + 'static,
    S: BuildHasher + Default,
{
    type Value = LHashMap<K, V, S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    // The announced length comes from the input: it reserves nothing.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let map = LHashMap::with_hasher(S::default());
        {
            let pin = map.pin();
            while let Some((key, value)) = entries.next_entry()? {
                pin.insert(key, value);
            }
        }
        Ok(map)
    }
}

impl<K: Serialize, V: Serialize, S, const N: usize> Serialize for LHashMultiMap<K, V, S, N> {
    /// The entries as [`Pinned::iter`](crate::Pinned::iter) meets them.
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let pin = self.pin();
        serializer.collect_seq(pin.iter().collect::<Vec<_>>())
    }
}

impl<'de, K, V> Deserialize<'de> for LHashMultiMap<K, V>
where
    K: Deserialize<'de> + Hash + Eq + Send + 'static,
    V: Deserialize<'de> + Send + 'static,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries(PhantomData::<Self>))
    }
}

impl<'de, K, V> Visitor<'de> for Entries<LHashMultiMap<K, V>>
where
    K: Deserialize<'de> + Hash + Eq + Send + 'static,
    V: Deserialize<'de> + Send + 'static,
{
    type Value = LHashMultiMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence of pairs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let map = LHashMultiMap::new();
        {
            let pin = map.pin();
            while let Some((key, value)) = entries.next_element()? {
                pin.insert(key, value);
            }
        }
        Ok(map)
    }
}
