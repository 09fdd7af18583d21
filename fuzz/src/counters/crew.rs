//! Threads that do what they are told, one at a time.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};

use sync::prim::{SLOTS, thread_number};

type Job<'env> = Box<dyn FnOnce() + Send + 'env>;

/// One thread, and the way to tell it.
struct Member<'scope, 'env> {
    jobs: Sender<Job<'env>>,
    done: Receiver<()>,
    thread: ScopedJoinHandle<'scope, ()>,
    /// The number of the thread's slot in any counter.
    slot: usize,
}

/// The threads of an input. They begin when they are first asked.
pub(super) struct Crew<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    members: Vec<Option<Member<'scope, 'env>>>,
}

impl<'scope, 'env> Crew<'scope, 'env> {
    /// Up to `size` threads.
    pub(super) fn new(scope: &'scope Scope<'scope, 'env>, size: usize) -> Self {
        Self { scope, members: (0..size).map(|_| None).collect() }
    }

    /// Does `job` on the thread of that number and returns when it is done.
    pub(super) fn run<R: Send + 'env>(&mut self, number: u8, job: impl FnOnce() -> R + Send + 'env) -> R {
        let member = self.member(number);
        let (result, answer) = channel();
        let job = move || result.send(job()).unwrap_or_else(|_| unreachable!("the answer is waited for"));
        member.jobs.send(Box::new(job)).expect("the thread waits for jobs");
        match answer.recv() {
            Ok(answer) => {
                member.done.recv().expect("the job is done");
                answer
            }
            // It panicked.
            Err(_) => self.replace(number).expect("the thread has begun"),
        }
    }

    /// The slot of the thread of that number.
    pub(super) fn slot(&mut self, number: u8) -> usize {
        self.member(number).slot
    }

    fn member(&mut self, number: u8) -> &mut Member<'scope, 'env> {
        let (at, scope) = (usize::from(number) % self.members.len(), self.scope);
        self.members[at].get_or_insert_with(|| Self::begin(scope))
    }

    fn begin(scope: &'scope Scope<'scope, 'env>) -> Member<'scope, 'env> {
        let (jobs, todo) = channel::<Job<'env>>();
        let (finished, done) = channel();
        let (told, slot) = channel();
        let thread = scope.spawn(move || {
            told.send(thread_number() as usize % SLOTS).unwrap_or_else(|_| unreachable!("it is waited for"));
            for job in todo {
                job();
                finished.send(()).unwrap_or_else(|_| unreachable!("the end of a job is waited for"));
            }
        });
        Member { jobs, done, thread, slot: slot.recv().expect("the thread begins by telling its slot") }
    }

    /// Ends the thread of that number; `None` if there is none. Goes on with its panic if it ended by one.
    pub(super) fn replace<R>(&mut self, number: u8) -> Option<R> {
        let at = usize::from(number) % self.members.len();
        let Member { jobs, thread, .. } = self.members[at].take()?;
        drop(jobs);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        None
    }
}
