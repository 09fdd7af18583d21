//! Locks, counters and sequence locks on one thread, beside their peers: `cargo bench -p bench --bench sync`.
//! What threads do to each other is measured by `bench sync`, which interleaves its rounds.

use std::hint::black_box;
use std::time::Duration;

use bench::sync::counters::{
    Approx, Atomic, Cond, CondQuiet, Counter, Deferred, FastCounter, Mutex, Sharded, StdMutex,
};
use bench::sync::locks::{Control, Latchfree, Lock, ParkingLot, Spin, Std};
use bench::sync::seqlocks::{self, Cell, Chain, RwLock, SeqLock};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};

type Group<'a> = BenchmarkGroup<'a, WallTime>;

fn read_pair<L: Lock>(group: &mut Group<'_>) {
    let lock = L::new();
    group.bench_function(L::NAME, |b| b.iter(|| black_box(&lock).pair_read()));
}

fn write_pair<L: Lock>(group: &mut Group<'_>) {
    let lock = L::new();
    group.bench_function(L::NAME, |b| b.iter(|| black_box(&lock).pair_write()));
}

fn pairs(c: &mut Criterion) {
    let mut group = c.benchmark_group("pair_read");
    read_pair::<Latchfree>(&mut group);
    read_pair::<Std>(&mut group);
    read_pair::<ParkingLot>(&mut group);
    read_pair::<Spin>(&mut group);
    read_pair::<Control>(&mut group);
    group.finish();
    let mut group = c.benchmark_group("pair_write");
    write_pair::<Latchfree>(&mut group);
    write_pair::<Std>(&mut group);
    write_pair::<ParkingLot>(&mut group);
    write_pair::<Spin>(&mut group);
    write_pair::<Control>(&mut group);
    group.finish();
}

fn add<C: Counter>(group: &mut Group<'_>) {
    let counter = C::new();
    group.bench_function(C::NAME, |b| b.iter(|| black_box(&counter).add_one()));
}

fn exact<C: Counter>(group: &mut Group<'_>) {
    let counter = C::new();
    group.bench_function(format!("{} exact", C::NAME), |b| b.iter(|| black_box(&counter).exact()));
}

fn approx<C: Approx>(group: &mut Group<'_>) {
    let counter = C::new();
    group.bench_function(format!("{} approx", C::NAME), |b| b.iter(|| black_box(&counter).approx()));
}

fn counters(c: &mut Criterion) {
    let mut group = c.benchmark_group("counter_add");
    add::<Deferred>(&mut group);
    add::<Cond>(&mut group);
    add::<CondQuiet>(&mut group);
    add::<Sharded>(&mut group);
    add::<Atomic>(&mut group);
    add::<Mutex>(&mut group);
    add::<StdMutex>(&mut group);
    add::<FastCounter>(&mut group);
    group.finish();
    let mut group = c.benchmark_group("counter_read");
    approx::<Deferred>(&mut group);
    approx::<Sharded>(&mut group);
    exact::<Deferred>(&mut group);
    exact::<Sharded>(&mut group);
    exact::<Atomic>(&mut group);
    exact::<Mutex>(&mut group);
    exact::<FastCounter>(&mut group);
    group.finish();
}

fn read<C: Cell>(group: &mut Group<'_>) {
    let cell = C::new([7; 4]);
    group.bench_function(format!("{} loop", C::NAME), |b| b.iter(|| black_box(&cell).read()));
    let mut chain = Chain::<C>::new();
    group.bench_function(format!("{} chain", C::NAME), |b| b.iter(|| chain.step()));
}

fn seqlock(c: &mut Criterion) {
    let mut group = c.benchmark_group("seqlock_read");
    read::<seqlocks::Latchfree>(&mut group);
    read::<SeqLock>(&mut group);
    read::<RwLock>(&mut group);
    group.finish();
}

/// Short, since there are many: under a minute in all.
fn short() -> Criterion {
    Criterion::default()
        .sample_size(30)
        .nresamples(10_000)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(500))
}

criterion_group! {
    name = sync;
    config = short();
    targets = pairs, counters, seqlock
}
criterion_main!(sync);
