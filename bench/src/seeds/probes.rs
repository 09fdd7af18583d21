//! Index probes against a full scan: both must find the rows that are there, each as often as it is.

use std::io;

use super::hash::hash_uint32;
use super::{Index, Policy, SeedError, check};
use crate::crew;
use crate::output::cores;

/// A row of an index as one number: the key, then the tuple.
#[must_use]
pub fn row(key: u32, tuple: u32) -> u64 {
    u64::from(key) << 32 | u64::from(tuple)
}

/// All rows, by a scan, sorted.
#[must_use]
pub fn scanned(index: &Index) -> Vec<u64> {
    let mut rows: Vec<u64> = index.pin().iter().map(|(&key, &tuple)| row(key, tuple)).collect();
    rows.sort_unstable();
    rows
}

/// All rows of the keys that these rows have, by a probe for each key, sorted. The cores share the keys. Keys that are
/// likely to be in one bucket follow each other, so that its page is fetched once.
///
/// # Errors
///
/// If there are not enough threads.
pub fn probed(index: &Index, of: &[u64]) -> io::Result<Vec<u64>> {
    let mut keys: Vec<u32> =
        of.chunk_by(|a, b| a >> 32 == b >> 32).map(|same| (same[0] >> 32) as u32).collect();
    keys.sort_unstable_by_key(|&key| hash_uint32(key).reverse_bits());
    let threads = cores();
    let part = keys.len().div_ceil(threads as usize);
    let own = |thread: u32| {
        let keys = keys.iter().skip(thread as usize * part).take(part);
        let mut rows = Vec::new();
        for &key in keys {
            rows.extend(index.pin().get_all(&key).map(|&tuple| row(key, tuple)));
        }
        rows
    };
    let mut rows = crew::run(threads, own, || ())?.concat();
    rows.sort_unstable();
    Ok(rows)
}

/// Compares scan and probes with the rows that ought to be there, sorted.
///
/// # Errors
///
/// How many rows were found, or how many of them differ; or if there are not enough threads.
pub fn compare(
    scenario: &'static str,
    policy: Policy,
    index: &Index,
    expected: &[u64],
) -> Result<(), SeedError> {
    let differing = |found: &[u64]| found.iter().zip(expected).filter(|(a, b)| a != b).count() as u64;
    let scanned = scanned(index);
    let of_scan = [
        ("the number of rows in a scan", scanned.len() as u64, expected.len() as u64),
        ("the number of rows in a scan that differ from those inserted", differing(&scanned), 0),
    ];
    check(scenario, policy, &of_scan)?;
    drop(scanned);
    let probed = probed(index, expected)?;
    let of_probes = [
        ("the number of rows found by probes", probed.len() as u64, expected.len() as u64),
        ("the number of rows found by probes that differ from a scan's", differing(&probed), 0),
    ];
    check(scenario, policy, &of_probes)
}

#[cfg(test)]
mod tests {
    use super::{compare, row};
    use crate::seeds::Policy;

    #[test]
    fn a_row_that_is_missing_or_wrong_is_found_out() {
        let index = Policy::Exact.index().unwrap();
        for tuple in 0..1000 {
            index.pin().insert(tuple % 10, tuple);
        }
        let mut rows: Vec<u64> = (0..1000).map(|tuple| row(tuple % 10, tuple)).collect();
        rows.sort_unstable();
        assert!(compare("test", Policy::Exact, &index, &rows).is_ok());
        assert!(compare("test", Policy::Exact, &index, &rows[1..]).is_err());
        let last = rows.len() - 1;
        rows[last] += 1;
        let error = compare("test", Policy::Exact, &index, &rows).unwrap_err().to_string();
        assert_eq!(
            error,
            "test, exact: the number of rows in a scan that differ from those inserted is 1, expected 0"
        );
    }
}
