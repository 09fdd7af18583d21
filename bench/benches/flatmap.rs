//! flatmap on one thread, beside two peers: `cargo bench -p bench --bench flatmap`. All operations, sizes, tables and
//! threads are measured by `bench flatmap`, which interleaves its rounds.

use std::hint::black_box;
use std::time::Duration;

use bench::flatmap::keys::tag;
use bench::peers::dashmap::Dashmap;
use bench::peers::dynahash::Dynahash;
use bench::peers::flatmap::{Flatmap, Plain};
use bench::table::Table;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};

const SLOTS: u32 = 65_536;

fn full<T: Table>() -> T {
    let table = T::with_slots(SLOTS);
    for index in 0..SLOTS {
        table.insert(&tag(index.into()), index);
    }
    table
}

/// Numbers below [`SLOTS`] without an order that the processor could see.
fn numbers() -> impl FnMut() -> u64 {
    let mut state = 1_u32;
    move || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        u64::from(state >> 16)
    }
}

fn lookups<T: Table>(group: &mut BenchmarkGroup<'_, WallTime>, from: u64) {
    let (table, mut next) = (full::<T>(), numbers());
    group.bench_function(T::NAME, |b| b.iter(|| black_box(&table).get(&tag(from + next()))));
}

fn changes<T: Table>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (table, mut next) = (full::<T>(), numbers());
    group.bench_function(T::NAME, |b| {
        b.iter(|| {
            let index = next();
            table.remove(&tag(index));
            table.insert(&tag(index), index as u32)
        })
    });
}

fn all(c: &mut Criterion) {
    for (name, from) in [("hit", 0), ("miss", u64::from(SLOTS))] {
        let mut group = c.benchmark_group(format!("flatmap_{name}"));
        lookups::<Flatmap<Plain>>(&mut group, from);
        lookups::<Dynahash>(&mut group, from);
        lookups::<Dashmap>(&mut group, from);
        group.finish();
    }
    let mut group = c.benchmark_group("flatmap_remove_and_insert");
    changes::<Flatmap<Plain>>(&mut group);
    changes::<Dynahash>(&mut group);
    changes::<Dashmap>(&mut group);
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(30)
        .nresamples(10_000)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(500))
}

criterion_group! {
    name = flatmap;
    config = short();
    targets = all
}
criterion_main!(flatmap);
