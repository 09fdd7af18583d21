//! The aims that growth was built for, each with what came out.

use super::Row;
use crate::lhash::tables;
use crate::output::human::grouped;
use crate::sync::aims::Aim;

/// How many entries the aims speak of.
const ENTRIES: u32 = 10_000_000;
const P999_NS: u64 = 5_000;
/// What our tail may be of dashmap's.
const OF_DASHMAP: f64 = 0.1;
/// What the most bytes may be of the final ones.
const PEAK_TO_FINAL: f64 = 1.1;
/// What the bytes after removing may be of those at the start.
const EMPTIED_TO_START: f64 = 1.05;

/// All aims, judged by the rows of one run.
#[must_use]
pub fn judge(rows: &[Row]) -> Vec<Aim> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.entries == ENTRIES).collect();
    let ours = rows.iter().find(|row| row.table == tables::OURS).copied();
    let bytes = ours.map(|ours| ours.grown.bytes);
    let peak = bytes.and_then(|bytes| Some((bytes.peak?, bytes.full?)));
    let emptied = bytes.and_then(|bytes| Some((bytes.emptied?, bytes.start?)));
    vec![
        Aim::new(
            "insert p99.9 below 5 us",
            ours.map(|ours| (ours.insert_p999_ns < P999_NS, format!("{} ns", grouped(ours.insert_p999_ns)))),
        ),
        to_dashmap("insert p99.99", &rows, |row| row.insert_p9999_ns),
        below_peers("insert p99.99", &rows, |row| row.insert_p9999_ns),
        to_dashmap("longest insert", &rows, |row| row.insert_max_ns),
        below_peers("longest insert", &rows, |row| row.insert_max_ns),
        Aim::new(
            "peak bytes at most 1.1 of the final",
            peak.map(|(peak, full)| ratio(peak, full, PEAK_TO_FINAL)),
        ),
        Aim::new(
            "bytes after removing all within 5 % of the start",
            emptied.map(|(emptied, start)| ratio(emptied, start, EMPTIED_TO_START)),
        ),
    ]
}

fn ratio(bytes: i64, of: i64, limit: f64) -> (bool, String) {
    let shown = |bytes: i64| grouped(bytes.unsigned_abs());
    let ratio = bytes as f64 / of as f64;
    (ratio <= limit, format!("{ratio:.3} ({} of {})", shown(bytes), shown(of)))
}

fn to_dashmap(what: &str, rows: &[&Row], figure: fn(&Row) -> u64) -> Aim {
    let of = |name| rows.iter().find(|row| row.table == name).map(|row| figure(row));
    let found = of(tables::OURS).zip(of("dashmap")).map(|(ours, theirs)| {
        let ratio = ours as f64 / theirs.max(1) as f64;
        (ratio < OF_DASHMAP, format!("{ratio:.3} ({} of {} ns)", grouped(ours), grouped(theirs)))
    });
    Aim::new(format!("{what} below a tenth of dashmap's"), found)
}

/// Nothing, unless all peers have taken part.
fn below_peers(what: &str, rows: &[&Row], figure: fn(&Row) -> u64) -> Aim {
    let ours = rows.iter().find(|row| row.table == tables::OURS);
    let peers: Vec<&&Row> = rows.iter().filter(|row| row.is_peer()).collect();
    let all = peers.len() == tables::NAMES.len() - 2;
    let best = peers.into_iter().filter(|_| all).min_by_key(|row| figure(row));
    let found = ours.zip(best).map(|(ours, best)| {
        let (ours, theirs) = (figure(ours), figure(best));
        (ours < theirs, format!("{} ns, {} {} ns", grouped(ours), best.table, grouped(theirs)))
    });
    Aim::new(format!("{what} below every peer's"), found)
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES, judge};
    use crate::growth::grow::{Bytes, Grown};
    use crate::growth::pace::Pace;
    use crate::growth::{Plan, Row};
    use crate::lhash::tables::NAMES;
    use crate::sync::aims::Verdict;

    /// All maps: every insert of ours takes `ns`, of dashmap 20,000, of the others 3,000; of the one under a lock 1.
    fn rows(entries: u32, ns: u64, bytes: Bytes) -> Vec<Row> {
        let row = |table| {
            let mut inserts = Pace { rate: 1 }.record(1);
            let ns = match table {
                "lhash" => ns,
                "dashmap" => 20_000,
                "rwlock-hashbrown" => 1,
                _ => 3_000,
            };
            inserts.latency.saturating_record(ns);
            let (reads, removes) = (inserts.clone(), inserts.clone());
            let grown =
                Grown { inserts, reads, removes, bytes, rss_before_bytes: None, rss_after_bytes: None };
            Row::new(&Plan { entries, rate: 1 }, table, grown)
        };
        NAMES.into_iter().map(row).collect()
    }

    fn verdicts(rows: &[Row]) -> Vec<Verdict> {
        judge(rows).iter().map(|aim| aim.verdict).collect()
    }

    fn bytes(start: i64, peak: i64, full: i64, emptied: i64) -> Bytes {
        Bytes { start: Some(start), peak: Some(peak), full: Some(full), emptied: Some(emptied) }
    }

    #[test]
    fn nothing_is_judged_without_figures_of_all() {
        let not_judged = vec![Verdict::NotJudged; 7];
        assert_eq!(verdicts(&[]), not_judged);
        assert_eq!(verdicts(&rows(ENTRIES - 1, 1, bytes(1, 1, 1, 1))), not_judged);
        let mut some = rows(ENTRIES, 100, Bytes::default());
        some.retain(|row| row.table != "flurry");
        let judged = verdicts(&some);
        assert_eq!((judged[2], judged[4], judged[5]), (not_judged[0], not_judged[0], not_judged[0]));
    }

    #[test]
    fn times_and_bytes_have_to_be_within_their_bounds() {
        use Verdict::{NotReached, Reached};
        assert_eq!(verdicts(&rows(ENTRIES, 1_990, bytes(100, 110, 100, 105))), [Reached; 7]);
        let missed = [Reached, NotReached, Reached, NotReached, Reached, NotReached, NotReached];
        assert_eq!(verdicts(&rows(ENTRIES, 2_500, bytes(100, 111, 100, 106))), missed);
        let late = verdicts(&rows(ENTRIES, 5_100, bytes(100, 100, 100, 0)));
        assert_eq!(late, [NotReached, NotReached, NotReached, NotReached, NotReached, Reached, Reached]);
    }
}
