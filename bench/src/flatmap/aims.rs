//! The aims that the table was built for, each with what came out.

use super::floor::MEMORY_CHAIN;
use super::{BASELINE, Head, OURS, Op, Row};
use crate::output::human::{counted, grouped};
use crate::sync::aims::{Aim, rounded};

/// The numbers of slots that most aims speak of.
const SLOTS: [u32; 2] = [524_288, 2_097_152];
/// How many times as fast as the model of PostgreSQL's table.
const HITS: f64 = 4.0;
const BATCHED: f64 = 10.0;
const CHANGES: f64 = 2.5;
/// A lookup waits for a head and for an entry, one after the other, and may take a quarter longer.
const CHAIN: f64 = 2.0 * 1.25;
const RESIZING: f64 = 0.8;
const BYTES: f64 = 40.0;
const ALL: [Op; 7] = [Op::Hit, Op::HitChain, Op::Miss, Op::Insert, Op::Remove, Op::Mix, Op::Hot];

/// All aims, judged by the rows of one run.
#[must_use]
pub fn judge(rows: &[Row]) -> Vec<Aim> {
    let mut aims = Vec::new();
    for slots in SLOTS {
        let mut threads: Vec<u32> =
            rows.iter().filter(|row| row.head.slots == slots).map(|row| row.head.threads).collect();
        threads.dedup();
        if threads.is_empty() {
            threads.push(1);
        }
        for threads in threads {
            let at = At { rows, slots, threads };
            aims.extend([at.times(Op::Hit, 1, HITS), at.batched()]);
            aims.extend([at.times(Op::Insert, 1, CHANGES), at.times(Op::Remove, 1, CHANGES)]);
            aims.extend([at.ahead(), at.chain(), at.resizing()]);
        }
        aims.push(At { rows, slots, threads: 1 }.bytes());
    }
    aims
}

struct At<'a> {
    rows: &'a [Row],
    slots: u32,
    threads: u32,
}

impl At<'_> {
    fn row(&self, op: Op, table: &'static str, batch: u32, resizing: bool) -> Option<&Row> {
        let head = Head { op, table, slots: self.slots, threads: self.threads, batch, resizing };
        self.rows.iter().find(|row| row.head == head)
    }

    fn ours(&self, op: Op) -> Option<&Row> {
        self.row(op, OURS, 1, false)
    }

    fn text(&self, what: &str) -> String {
        format!(
            "{what}: {} slots, {}",
            grouped(self.slots.into()),
            counted(self.threads, "thread", "threads")
        )
    }

    fn times(&self, op: Op, batch: u32, limit: f64) -> Aim {
        let name = match op {
            Op::Insert => "insert",
            Op::Remove => "remove",
            _ => "hit",
        };
        let speed = self.row(op, OURS, batch, false).zip(self.row(op, BASELINE, 1, false));
        let found = speed.map(|(ours, theirs)| {
            let speed = rounded(ours.speed_to(theirs));
            (speed >= limit, format!("{speed:.2}, {BASELINE} {:.0} ns", theirs.ns_median))
        });
        Aim::new(self.text(&format!("{name} at least {limit} times as fast as {BASELINE}")), found)
    }

    fn batched(&self) -> Aim {
        let rows = self.rows.iter().filter(|row| {
            (row.head.op, row.head.slots, row.head.threads) == (Op::HitBatch, self.slots, self.threads)
        });
        let best = rows.min_by(|a, b| a.ns_median.total_cmp(&b.ns_median));
        let found = best.zip(self.row(Op::Hit, BASELINE, 1, false)).map(|(ours, theirs)| {
            let speed = rounded(ours.speed_to(theirs));
            (speed >= BATCHED, format!("{speed:.2}, {} keys together", ours.head.batch))
        });
        Aim::new(self.text(&format!("batched hit at least {BATCHED} times as fast as {BASELINE}")), found)
    }

    fn ahead(&self) -> Aim {
        let mut least: Option<(f64, Op, &'static str)> = None;
        let mut is_whole = true;
        for op in ALL {
            let Some(ours) = self.ours(op) else {
                return Aim::new(self.text("ahead of dashmap, papaya and scc"), None);
            };
            let peers: Vec<&Row> = self
                .rows
                .iter()
                .filter(|row| row.is_peer() && row.head.op == op && row.is_in_group_of(ours))
                .collect();
            is_whole &= peers.len() == 3;
            for peer in peers {
                let speed = rounded(ours.speed_to(peer));
                if least.is_none_or(|(other, ..)| speed < other) {
                    least = Some((speed, op, peer.head.table));
                }
            }
        }
        let found = least.filter(|_| is_whole).map(|(speed, op, peer)| {
            (speed > 1.0, format!("least {speed:.2}, {} against {peer}", super::report::name(op)))
        });
        Aim::new(self.text("every operation ahead of dashmap, papaya and scc"), found)
    }

    fn chain(&self) -> Aim {
        let found = self.ours(Op::HitChain).zip(self.row(Op::HitChain, MEMORY_CHAIN, 1, false)).map(
            |(ours, memory)| {
                let share = rounded(ours.measured.ratio_to(&memory.measured));
                (share <= CHAIN, format!("{share:.2}, memory_chain {:.0} ns", memory.ns_median))
            },
        );
        Aim::new(self.text(&format!("hit_chain takes at most {CHAIN} times memory_chain")), found)
    }

    fn resizing(&self) -> Aim {
        let found = self.row(Op::Hit, OURS, 1, true).zip(self.ours(Op::Hit)).map(|(busy, rest)| {
            let speed = rounded(busy.speed_to(rest));
            (speed >= RESIZING, format!("{speed:.2}"))
        });
        Aim::new(
            self.text(&format!("hits during resizing at least {RESIZING} times as fast as at rest")),
            found,
        )
    }

    fn bytes(&self) -> Aim {
        let found = self.ours(Op::Hit).and_then(|row| row.bytes_per_slot);
        let found = found.map(|bytes| (bytes <= BYTES, format!("{bytes:.2}")));
        Aim::new(format!("at most {BYTES} bytes a slot: {} slots", grouped(self.slots.into())), found)
    }
}

#[cfg(test)]
mod tests;
