//! The aims that the map was built for, each with what came out.

use super::{Dist, How, KeyKind, Op, Row, tables};
use crate::output::human::{counted, grouped};
use crate::sync::aims::{Aim, rounded};

/// How many entries the aims speak of, with keys that are words, uniformly drawn.
const ENTRIES: u32 = 1_000_000;
const THREADS: [u32; 2] = [1, 2];
const MIXES: [Op; 3] = [Op::Mix98, Op::Mix50, Op::Mix10];
/// How many times dashmap's bytes an entry may take.
const BYTES_TO_DASHMAP: f64 = 1.3;

/// All aims, judged by the rows of one run.
#[must_use]
pub fn judge(rows: &[Row]) -> Vec<Aim> {
    let fits = |row: &&Row| {
        (row.entries, row.dist, row.key) == (ENTRIES, Dist::Uniform, KeyKind::U64)
            && row.table != tables::ONE_LOCK
    };
    let rows = Rows(rows.iter().filter(fits).collect());
    let mut aims = Vec::new();
    for threads in THREADS {
        for (text, op, how) in [
            ("get hit in a loop", Op::GetHit, Some(How::Loop)),
            ("get hit in a chain", Op::GetHit, Some(How::Chain)),
            ("get miss", Op::GetMiss, None),
        ] {
            aims.push(rows.lookup(text, op, how, threads));
        }
    }
    aims.extend(THREADS.map(|threads| rows.mixes(threads)));
    aims.extend([rows.bytes_to("papaya", 1.0), rows.bytes_to("dashmap", BYTES_TO_DASHMAP)]);
    aims
}

struct Rows<'a>(Vec<&'a Row>);

impl Rows<'_> {
    /// Our speed to the fastest peer's, and which that is; nothing, unless all have taken part.
    fn speed(&self, op: Op, how: Option<How>, threads: u32) -> Option<(f64, &'static str)> {
        let group = self.0.iter().filter(|row| (row.op, row.how, row.threads) == (op, how, threads));
        let (ours, peers): (Vec<&Row>, Vec<&Row>) = group.partition(|row| row.table == tables::OURS);
        let all = peers.len() == tables::NAMES.len() - 2;
        let best = peers.into_iter().filter(|_| all).min_by(|a, b| a.ns_median.total_cmp(&b.ns_median))?;
        Some((rounded(ours.first()?.speed_to(best)), best.table))
    }

    fn lookup(&self, text: &str, op: Op, how: Option<How>, threads: u32) -> Aim {
        let found = self.speed(op, how, threads);
        Aim::new(
            format!("{text} ahead of every concurrent peer, {}", on(threads)),
            found.map(|(speed, peer)| (speed > 1.0, format!("{speed:.2} times as fast as {peer}"))),
        )
    }

    fn mixes(&self, threads: u32) -> Aim {
        let speeds: Option<Vec<_>> = MIXES.into_iter().map(|op| self.speed(op, None, threads)).collect();
        let found = speeds.map(|speeds| {
            let shown: Vec<String> =
                speeds.iter().map(|(speed, peer)| format!("{speed:.2} times {peer}'s")).collect();
            (speeds.iter().all(|(speed, _)| *speed >= 1.0), shown.join(", "))
        });
        Aim::new(
            format!("mixes 98/1/1, 50/25/25, 10/40/40 at least level with the best peer, {}", on(threads)),
            found,
        )
    }

    fn bytes_to(&self, peer: &str, limit: f64) -> Aim {
        let bytes = |name| self.0.iter().find(|row| row.table == name)?.memory.bytes_per_entry;
        let found = bytes(tables::OURS).zip(bytes(peer)).map(|(ours, theirs)| {
            // Below, where no more is allowed than the peer has.
            let reached = if limit > 1.0 { ours <= theirs * limit } else { ours < theirs };
            (reached, format!("{ours:.1}, {peer} {theirs:.1}"))
        });
        let text = if limit > 1.0 {
            format!("bytes an entry within {limit} times {peer}'s")
        } else {
            format!("bytes an entry below {peer}'s")
        };
        Aim::new(text, found)
    }
}

fn on(threads: u32) -> String {
    format!("{} entries, {}", grouped(ENTRIES.into()), counted(threads, "thread", "threads"))
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES, MIXES, judge};
    use crate::latency::empty_histogram;
    use crate::lhash::life::Memory;
    use crate::lhash::tables::NAMES;
    use crate::lhash::{Case, Dist, How, KeyKind, Op, Policy, Row};
    use crate::rounds::Measured;
    use crate::sync::Sample;
    use crate::sync::aims::Verdict;

    /// All maps at one operation: ours takes `ns`, papaya 100, the others 120, the one under a lock 1; ours holds
    /// `bytes`, papaya 40, the others 30.
    fn group(op: Op, how: Option<How>, threads: u32, ns: u64, bytes: f64) -> Vec<Row> {
        let case = Case { threads, ..Case::new(ENTRIES, Dist::Uniform, KeyKind::U64, Policy::Deferred) };
        let row = |name| {
            let (ns, bytes) = match name {
                "lhash" => (ns, bytes),
                "papaya" => (100, 40.0),
                "rwlock-hashbrown" => (1, 1.0),
                _ => (120, 30.0),
            };
            let rounds = vec![Sample::of_workers(threads, ns, 1)];
            let memory = Memory { bytes_per_entry: Some(bytes), ..Memory::default() };
            Row::new(&case, op, how, (name, memory), Measured { rounds, latency: empty_histogram() })
        };
        NAMES.into_iter().map(row).collect()
    }

    fn verdict(rows: &[Row], begin: &str, end: &str) -> Verdict {
        let fits = |text: &str| text.starts_with(begin) && text.ends_with(end);
        judge(rows).iter().find(|aim| fits(&aim.text)).unwrap_or_else(|| panic!("{begin}")).verdict
    }

    #[test]
    fn nothing_is_judged_without_figures_of_all() {
        assert!(judge(&[]).iter().all(|aim| aim.verdict == Verdict::NotJudged));
        let mut rows = group(Op::GetMiss, None, 1, 50, 20.0);
        rows.retain(|row| row.table != "flurry");
        assert_eq!(verdict(&rows, "get miss", "1 thread"), Verdict::NotJudged);
        let mut rows = group(Op::GetMiss, None, 1, 50, 20.0);
        rows.iter_mut().for_each(|row| row.entries -= 1);
        assert!(judge(&rows).iter().all(|aim| aim.verdict == Verdict::NotJudged));
    }

    #[test]
    fn lookups_have_to_be_ahead_and_mixes_level() {
        for (ns, hit, mix) in [
            (99, Verdict::Reached, Verdict::Reached),
            (100, Verdict::NotReached, Verdict::Reached),
            (101, Verdict::NotReached, Verdict::NotReached),
        ] {
            let rows = group(Op::GetHit, Some(How::Chain), 2, ns, 20.0);
            assert_eq!(verdict(&rows, "get hit in a chain", "2 threads"), hit, "{ns}");
            assert_eq!(verdict(&rows, "get hit in a chain", "1 thread"), Verdict::NotJudged, "{ns}");
            let rows: Vec<Row> = MIXES.into_iter().flat_map(|op| group(op, None, 1, ns, 20.0)).collect();
            assert_eq!(verdict(&rows, "mixes", "1 thread"), mix, "{ns}");
        }
    }

    #[test]
    fn bytes_are_compared_with_both() {
        for (bytes, papaya, dashmap) in [
            (39.0, Verdict::Reached, Verdict::Reached),
            (39.5, Verdict::Reached, Verdict::NotReached),
            (40.0, Verdict::NotReached, Verdict::NotReached),
        ] {
            let rows = group(Op::Insert, None, 1, 50, bytes);
            assert_eq!(verdict(&rows, "bytes", "papaya's"), papaya, "{bytes}");
            assert_eq!(verdict(&rows, "bytes", "dashmap's"), dashmap, "{bytes}");
        }
    }
}
