//! The `flatmap` command: one operation after the other on flatmap and other tables from tags to slots, in interleaved
//! rounds, with checked answers.
//!
//! For each number of slots every table is filled once. What is compared with each other takes turns: the
//! tables at one operation, and among them flatmap's batches, flatmap while its buckets are split and merged, and plain
//! loads from as much memory as flatmap takes.
//!
//! Next: `flatmap/stage.rs`, how it is done; `flatmap/steps.rs`, what; `flatmap/waits.rs`, `--waits`.

pub mod aims;
pub mod floor;
pub mod keys;
pub mod report;
mod resizer;
pub mod stage;
pub mod steps;
pub mod waits;

use std::time::Duration;

use serde::Serialize;

use crate::peers::{dashmap, dynahash, flatmap, hashbrown, papaya, scc};
use crate::rounds::bootstrap::{Ratio, Spread};
use crate::rounds::{Measured, Outcome, Schedule, interleave};
use crate::sync::{Sample, SyncError};
use floor::{MEMORY_CHAIN, MEMORY_INDEPENDENT, UNSHARED};
use stage::{Full, Pass, Stage};

/// The names of the tables, in the order of the output. The last one is for one thread.
pub const NAMES: [&str; 8] =
    ["flatmap", "flatmap-huge", "dynahash", "rwlock-hashbrown", "dashmap", "papaya", "scc", UNSHARED];
/// The table that the others are compared with.
pub const OURS: &str = NAMES[0];
/// The same on huge pages.
pub const HUGE: &str = NAMES[1];
/// What PostgreSQL has.
pub const BASELINE: &str = NAMES[2];
/// How many keys are looked up together.
const BATCHES: [u32; 4] = [8, 16, 32, 64];
/// What flatmap takes for a slot.
const BYTES_A_SLOT: usize = 40;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Looking up keys that are there.
    Hit,
    /// The same, each key dependent on the answer before.
    HitChain,
    /// The same, several together.
    HitBatch,
    /// Looking up keys that are not there.
    Miss,
    /// Mapping keys to slots that were given up before.
    Insert,
    /// Unmapping keys.
    Remove,
    /// 95 % lookups of keys that are there, 5 % slots that get another key.
    #[serde(rename = "mix_95_5")]
    Mix,
    /// Looking up the same key.
    Hot,
}

/// What a stage is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Lookups of keys that are there.
    Hit,
    /// Those that depend on each other.
    HitChain,
    /// So many together.
    HitBatch(u32),
    /// Lookups of keys that are not there.
    Miss,
    /// Inserts and removes in turns.
    Change,
    /// Lookups, and slots that get another key.
    Mix,
    /// Lookups of one key.
    Hot,
}

/// What a stage is asked to do, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// What.
    pub task: Task,
    /// On how many threads.
    pub threads: u32,
    /// While another thread splits and merges buckets.
    pub resizing: bool,
}

/// In the order of the passes.
const TASKS: [Task; 6] = [Task::Hit, Task::HitChain, Task::Miss, Task::Hot, Task::Change, Task::Mix];

/// So many slots, and the tables that take part.
#[derive(Debug, Clone)]
pub struct Case {
    /// The number of slots: at least 1.
    pub slots: u32,
    /// The numbers of threads, one after the other.
    pub threads: Vec<u32>,
    /// The tables, or all if none is named.
    pub tables: Vec<&'static str>,
}

impl Case {
    fn has(&self, name: &str) -> bool {
        self.tables.is_empty() || self.tables.contains(&name)
    }

    /// The stages by their names, filled; the memory last.
    fn stages(&self) -> Result<Vec<Box<dyn Stage>>, SyncError> {
        let mut stages: Vec<Box<dyn Stage>> = Vec::new();
        for name in NAMES.into_iter().filter(|name| self.has(name)) {
            let slots = self.slots;
            stages.push(match name {
                "flatmap" => Box::new(Full::<flatmap::Flatmap<flatmap::Plain>>::new(slots)?),
                "flatmap-huge" => Box::new(Full::<flatmap::Flatmap<flatmap::Huge>>::new(slots)?),
                "dynahash" => Box::new(Full::<dynahash::Dynahash>::new(slots)?),
                "rwlock-hashbrown" => Box::new(Full::<hashbrown::RwLockHashbrown>::new(slots)?),
                "dashmap" => Box::new(Full::<dashmap::Dashmap>::new(slots)?),
                "papaya" => Box::new(Full::<papaya::Papaya>::new(slots)?),
                "scc" => Box::new(Full::<scc::Scc>::new(slots)?),
                _ => Box::new(floor::Unshared::new(slots)),
            });
        }
        stages.push(Box::new(floor::Memory::new(self.slots as usize * BYTES_A_SLOT)));
        Ok(stages)
    }

    /// What is compared with each other at a task: each with the index of its stage.
    fn group(&self, task: Task, threads: u32) -> Vec<(usize, Work)> {
        let names: Vec<&str> = NAMES.into_iter().filter(|name| self.has(name)).collect();
        let plain = Work { task, threads, resizing: false };
        let takes_part = |name: &&str| *name != UNSHARED || threads == 1;
        let mut group: Vec<(usize, Work)> = names
            .iter()
            .enumerate()
            .filter(|(_, name)| takes_part(name))
            .map(|(index, _)| (index, plain))
            .collect();
        let ours = names.iter().enumerate().filter(|(_, name)| [OURS, HUGE].contains(name));
        for (ours, name) in ours {
            if task == Task::Hit {
                group.extend(BATCHES.map(|batch| (ours, Work { task: Task::HitBatch(batch), ..plain })));
            }
            if matches!(task, Task::Hit | Task::Miss) && *name == OURS {
                group.push((ours, Work { resizing: true, ..plain }));
            }
        }
        if matches!(task, Task::Hit | Task::HitChain) {
            group.push((names.len(), plain));
        }
        group
    }

    /// How many passes there are.
    #[must_use]
    pub fn passes(&self, schedule: Schedule) -> u64 {
        let groups =
            self.threads.iter().flat_map(|&threads| TASKS.map(|task| self.group(task, threads).len() as u64));
        groups.sum::<u64>() * schedule.passes()
    }

    /// Runs all passes, each of about a `slice`; `tick` is called after each.
    ///
    /// # Errors
    ///
    /// The first wrong answer.
    pub fn run(&self, schedule: Schedule, slice: Duration, tick: impl Fn()) -> Result<Vec<Row>, SyncError> {
        let mut stages = self.stages()?;
        let mut rows = Vec::new();
        for &threads in &self.threads {
            for task in TASKS {
                let group = self.group(task, threads);
                let all = interleave(schedule, group.len(), |index, _| {
                    let (stage, work) = group[index];
                    stages[stage].run(work, slice).inspect(|_| tick())
                })?;
                if matches!(task, Task::Change | Task::Mix) {
                    stages.iter_mut().try_for_each(|stage| stage.restore())?;
                }
                for (&(stage, work), measured) in group.iter().zip(all) {
                    self.add(&mut rows, &*stages[stage], work, measured);
                }
            }
        }
        Ok(rows)
    }

    fn add(&self, rows: &mut Vec<Row>, stage: &dyn Stage, work: Work, measured: Measured<Pass>) {
        let name = match (stage.name(), work.task) {
            (MEMORY_INDEPENDENT, Task::HitChain) => MEMORY_CHAIN,
            (name, _) => name,
        };
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for pass in measured.rounds {
            match pass {
                Pass::Of(sample) => first.push(sample),
                Pass::Change { inserts, removes } => {
                    first.push(inserts);
                    second.push(removes);
                }
            }
        }
        let (op, batch) = match work.task {
            Task::Hit => (Op::Hit, 1),
            Task::HitChain => (Op::HitChain, 1),
            Task::HitBatch(batch) => (Op::HitBatch, batch),
            Task::Miss => (Op::Miss, 1),
            Task::Change => (Op::Insert, 1),
            Task::Mix => (Op::Mix, 1),
            Task::Hot => (Op::Hot, 1),
        };
        let head = Head {
            op,
            table: name,
            slots: self.slots,
            threads: work.threads,
            batch,
            resizing: work.resizing,
        };
        let bytes = stage.bytes_per_slot();
        rows.push(Row::new(head, bytes, first));
        if !second.is_empty() {
            rows.push(Row::new(Head { op: Op::Remove, ..head }, bytes, second));
        }
    }
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Head {
    /// What was measured.
    pub op: Op,
    /// The table.
    pub table: &'static str,
    /// Its slots, all of them mapped.
    pub slots: u32,
    /// The number of threads.
    pub threads: u32,
    /// How many keys were looked up together.
    pub batch: u32,
    /// Whether another thread split and merged buckets meanwhile.
    pub resizing: bool,
}

/// What one table came to; as JSON, a line of output whose field names are a promise to its readers.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The command.
    pub cmd: &'static str,
    /// What it is about.
    #[serde(flatten)]
    pub head: Head,
    /// The median round's time x threads per operation.
    pub ns_median: f64,
    /// The quartiles, and between which times the median lies with 95 % confidence, if that was asked for.
    #[serde(flatten)]
    pub spread: Option<Spread>,
    /// The fastest round's.
    pub ns_min: f64,
    /// The table's bytes for each slot, where it can tell.
    pub bytes_per_slot: Option<f64>,
    /// The rounds, for ratios.
    #[serde(skip)]
    pub measured: Measured<Sample>,
}

impl Row {
    fn new(head: Head, bytes_per_slot: Option<f64>, rounds: Vec<Sample>) -> Self {
        let measured = Measured { rounds, latency: crate::latency::empty_histogram() };
        let round = |value: f64| (value * 100.0).round() / 100.0;
        let fastest = measured.rounds.iter().map(Sample::time_ns).fold(f64::INFINITY, f64::min);
        Self {
            cmd: "flatmap",
            head,
            ns_median: round(measured.median().time_ns()),
            spread: None,
            ns_min: round(fastest),
            bytes_per_slot: bytes_per_slot.map(round),
            measured,
        }
    }

    /// Is it a concurrent table of somebody else, which ours has to be ahead of?
    #[must_use]
    pub fn is_peer(&self) -> bool {
        matches!(self.head.table, "dashmap" | "papaya" | "scc")
    }

    /// Was it compared with the other, round by round?
    #[must_use]
    pub fn is_in_group_of(&self, other: &Self) -> bool {
        let group = |head: &Head| {
            let op = match head.op {
                Op::HitBatch => Op::Hit,
                Op::Remove => Op::Insert,
                op => op,
            };
            (op, head.slots, head.threads)
        };
        group(&self.head) == group(&other.head)
    }

    /// How many times as fast as the other it was, in the median round.
    #[must_use]
    pub fn speed_to(&self, other: &Self) -> f64 {
        other.measured.ratio_to(&self.measured)
    }

    /// The same with its interval.
    #[must_use]
    pub fn trusted_speed_to(&self, other: &Self) -> Ratio {
        other.measured.trusted_ratio_to(&self.measured)
    }
}
