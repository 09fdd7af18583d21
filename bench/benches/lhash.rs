//! lhash on one thread, beside two peers: `cargo bench -p bench --bench lhash`. All operations, sizes, maps and threads are
//! measured by `bench lhash`, which interleaves its rounds, and growth by `bench growth`.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use dashmap::DashMap;
use lhash::LHashMap;
use papaya::HashMap;

const ENTRIES: u64 = 65_536;

/// Numbers below [`ENTRIES`] without an order that the processor could see.
fn numbers() -> impl FnMut() -> u64 {
    let mut state = 1_u32;
    move || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        u64::from(state >> 16)
    }
}

fn entries() -> impl Iterator<Item = (u64, u64)> {
    (0..ENTRIES).map(|key| (key, key))
}

fn run(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut once: impl FnMut(u64) -> Option<u64>) {
    let mut next = numbers();
    group.bench_function(name, |b| b.iter(|| once(next())));
}

fn lookups(c: &mut Criterion) {
    let (ours, papaya, dashmap): (LHashMap<_, _>, HashMap<_, _>, DashMap<_, _>) =
        (entries().collect(), entries().collect(), entries().collect());
    for (name, from) in [("hit", 0), ("miss", ENTRIES)] {
        let mut group = c.benchmark_group(format!("lhash_{name}"));
        run(&mut group, "lhash", |n| black_box(&ours).pin().get(&(from + n)).copied());
        run(&mut group, "papaya", |n| black_box(&papaya).pin().get(&(from + n)).copied());
        run(&mut group, "dashmap", |n| black_box(&dashmap).get(&(from + n)).map(|value| *value));
        group.finish();
    }
}

fn changes(c: &mut Criterion) {
    let (ours, papaya, dashmap): (LHashMap<_, _>, HashMap<_, _>, DashMap<_, _>) =
        (entries().collect(), entries().collect(), entries().collect());
    let mut group = c.benchmark_group("lhash_remove_and_insert");
    run(&mut group, "lhash", |n| {
        let pin = ours.pin();
        pin.remove(&n);
        pin.insert(n, n).copied()
    });
    run(&mut group, "papaya", |n| {
        let pin = papaya.pin();
        pin.remove(&n);
        pin.insert(n, n).copied()
    });
    run(&mut group, "dashmap", |n| {
        dashmap.remove(&n);
        dashmap.insert(n, n)
    });
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
    name = lhash_benches;
    config = short();
    targets = lookups, changes
}
criterion_main!(lhash_benches);
