//! Threads that take turns: one runs at a time, and hands the baton on at its own points, to whom the input says. So
//! an interleaving is part of the input and comes again with it.
//!
//! A thread must not hand the baton on while it holds a lock that others may want.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

/// Where the threads meet.
#[derive(Debug)]
struct Stage {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Who has the baton.
    turn: usize,
    /// Who has not ended yet.
    acting: Vec<bool>,
    /// Who gets the baton at each point, and which point is the next.
    schedule: Vec<u8>,
    next: usize,
    /// How often the baton has gone to another thread.
    switches: u64,
    /// Time: how many points were passed.
    now: u64,
}

impl State {
    /// Gives the baton to the thread that the schedule names, or the next one that has not ended.
    fn pass(&mut self) {
        let threads = self.acting.len();
        // Beyond the schedule's end, the thread goes on.
        let wanted = self.schedule.get(self.next).map_or(self.turn, |&byte| usize::from(byte) % threads);
        self.next += 1;
        let acting = (0..threads).map(|n| (wanted + n) % threads).find(|&thread| self.acting[thread]);
        let turn = acting.unwrap_or(self.turn);
        self.switches += u64::from(turn != self.turn);
        self.turn = turn;
    }
}

thread_local! {
    /// The part that this thread plays, if it does.
    static PART: RefCell<Option<Part>> = const { RefCell::new(None) };
}

/// A thread's place on a stage.
#[derive(Debug, Clone)]
struct Part {
    stage: Arc<Stage>,
    number: usize,
}

impl Part {
    fn state(&self) -> MutexGuard<'_, State> {
        self.stage.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait(&self) {
        let mut state = self.state();
        while state.turn != self.number {
            state = self.stage.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

/// A point where another thread may go on. Does nothing on a thread that plays no part.
pub(crate) fn point() {
    let Some(part) = PART.with_borrow(Clone::clone) else { return };
    {
        let mut state = part.state();
        state.now += 1;
        state.pass();
        if state.turn == part.number {
            return;
        }
        part.stage.changed.notify_all();
    }
    part.wait();
}

/// The time: it goes on at every look and every point.
pub(crate) fn now() -> u64 {
    PART.with_borrow(|part| {
        let mut state = part.as_ref().expect("a thread of the stage asks").state();
        state.now += 1;
        state.now
    })
}

/// Ends a thread's part, also by a panic.
struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        let Some(part) = PART.take() else { return };
        let mut state = part.state();
        state.acting[part.number] = false;
        state.pass();
        part.stage.changed.notify_all();
    }
}

/// Runs `threads` threads in turns as `schedule` says; returns what they return, and how often the baton has changed
/// hands.
pub(crate) fn play<R: Send>(
    threads: usize,
    schedule: &[u8],
    act: impl Fn(usize) -> R + Sync,
) -> (Vec<R>, u64) {
    let state = State {
        turn: 0,
        acting: vec![true; threads],
        schedule: schedule.to_vec(),
        next: 0,
        switches: 0,
        now: 0,
    };
    let stage = Arc::new(Stage { state: Mutex::new(state), changed: Condvar::new() });
    let results = thread::scope(|scope| {
        let begin = |number| {
            let part = Part { stage: Arc::clone(&stage), number };
            let act = &act;
            scope.spawn(move || {
                PART.set(Some(part.clone()));
                let _exit = Exit;
                part.wait();
                act(number)
            })
        };
        let threads: Vec<_> = (0..threads).map(begin).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, R>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let switches = stage.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).switches;
    (results, switches)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(threads: usize, schedule: &[u8]) -> (Vec<usize>, u64) {
        let said = Mutex::new(Vec::new());
        let (_, switches) = play(threads, schedule, |number| {
            for _ in 0..2 {
                said.lock().expect("no panic").push(number);
                point();
            }
        });
        (said.into_inner().expect("no panic"), switches)
    }

    #[test]
    fn the_schedule_says_who_goes_on() {
        assert_eq!(told(2, &[]), (vec![0, 0, 1, 1], 1));
        assert_eq!(told(2, &[1, 0, 1, 0]), (vec![0, 1, 0, 1], 5));
        assert_eq!(told(3, &[2, 1, 0]), (vec![0, 2, 1, 0, 1, 2], 5));
    }

    #[test]
    fn a_thread_that_panics_lets_the_others_go_on() {
        let said = Mutex::new(Vec::new());
        let panics = std::panic::AssertUnwindSafe(|| {
            play(2, &[1, 0], |number| {
                point();
                said.lock().expect("no panic").push(number);
                if number == 0 {
                    std::panic::resume_unwind(Box::new("it ends"));
                }
            })
        });
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(said.into_inner().expect("no panic"), [0, 1]);
    }

    #[test]
    fn time_goes_on_and_a_thread_without_a_part_passes_no_point() {
        point();
        let (times, _) = play(2, &[1, 0, 1, 0], |_| {
            let before = now();
            point();
            (before, now())
        });
        assert!(times.iter().all(|(before, after)| before < after));
    }
}
