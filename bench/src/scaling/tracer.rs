//! The tracer: starts a program for a case, lets it run until a thread is at its operations, and goes through those one
//! instruction at a time.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::count::{LINE_BYTES, Trace, Write};
use super::steps::Instructions;
use super::work::traced::{END, mark};
use super::{Case, ScalingError};
use crate::crew::Pinned;
use crate::output::cores;

/// So far below and above where a thread begins its operations, its stack and what it has for itself lie at most.
const STACK_BYTES: u64 = 128 << 10;
const THREAD_BYTES: u64 = 4 << 10;
/// An address of a program takes fewer.
const ADDRESS_BITS: u32 = 48;

/// Where the traced program's functions lie that the tracer has to know.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Addresses {
    mark: u64,
    malloc: u64,
    calloc: u64,
    realloc: u64,
    posix_memalign: u64,
    free: u64,
}

impl Addresses {
    /// Those of the process that asks.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self {
            mark: mark as *const () as u64,
            malloc: libc::malloc as *const () as u64,
            calloc: libc::calloc as *const () as u64,
            realloc: libc::realloc as *const () as u64,
            posix_memalign: libc::posix_memalign as *const () as u64,
            free: libc::free as *const () as u64,
        }
    }
}

/// A call of the allocator, which is not looked into.
#[derive(Debug, Clone, Copy)]
struct Call {
    returns_to: u64,
    stack: u64,
    bytes: u64,
    /// Where it writes the block's address, if it does not return that.
    told_at: Option<u64>,
}

/// What is known of the program, whichever thread is followed.
struct Program {
    addresses: Addresses,
    instructions: Instructions,
    /// How often each cache line was allocated: what one thread frees and another gets was never shared.
    lives: HashMap<u64, u64>,
}

/// A thread that is followed.
struct Followed<'a> {
    thread: Pid,
    program: &'a mut Program,
    ops: Vec<Trace>,
    /// What it has for itself.
    private: Range<u64>,
    /// What was allocated in this operation.
    fresh: Vec<Range<u64>>,
    call: Option<Call>,
}

/// Runs a case in a program of its own, and notes what its two threads write.
///
/// # Errors
///
/// If it can't be started or traced, or fails.
pub fn trace(case: Case) -> Result<[Vec<Trace>; 2], ScalingError> {
    let failed = |doing| move |error| ScalingError::Trace { doing, error };
    let table = case.contestant.name;
    let mut process = command(case)
        .and_then(|mut command| command.spawn())
        .map_err(failed("starting the traced program"))?;
    let ended = |what: String| ScalingError::Ended { table, op: case.op, what };
    let mut line = String::new();
    let out = process.stdout.take().ok_or_else(|| ended("has no output".to_owned()))?;
    BufReader::new(out).read_line(&mut line).map_err(failed("reading what the traced program says"))?;
    let Ok(addresses) = serde_json::from_str(&line) else {
        let output = process.wait_with_output().map_err(failed("waiting for the traced program"))?;
        return Err(ended(format!("can't be traced: {}", String::from_utf8_lossy(&output.stderr).trim())));
    };
    // Both are on one core then: a step takes no wake-up of another.
    let _pinned = pinned(process.id());
    let traced = follow_all(Pid::from_raw(process.id() as i32), addresses).map_err(failed("tracing"));
    let traced = traced.inspect_err(|_| drop(process.kill()))?;
    match (traced.status, <[Vec<Trace>; 2]>::try_from(traced.threads)) {
        (0, Ok(threads)) if threads.iter().all(|ops| ops.len() == case.ops as usize) => Ok(threads),
        (status, _) => {
            let mut said = String::new();
            let read = process.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said));
            read.transpose().map_err(failed("reading what the traced program says"))?;
            Err(ended(format!("ended with status {status}: {}", said.trim())))
        }
    }
}

/// Keeps this thread on the core of a traced program.
pub(super) fn pinned(process: u32) -> Option<Pinned> {
    Pinned::to(process % cores(), 1)
}

fn command(case: Case) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let name = |value: Option<clap::builder::PossibleValue>| value.map(|value| value.get_name().to_owned());
    let family = name(case.contestant.family.to_possible_value()).unwrap_or_default();
    let op = name(case.op.to_possible_value()).unwrap_or_default();
    command.args(["scaling", "--traced", &format!("{family}/{}/{op}", case.contestant.name)]);
    command.arg("--ops").arg(case.ops.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// What came of a program.
struct Traced {
    threads: Vec<Vec<Trace>>,
    status: i32,
}

/// Lets a program run to its end, and follows each thread that asks for it by a signal.
fn follow_all(process: Pid, addresses: Addresses) -> io::Result<Traced> {
    waitpid(process, None)?;
    ptrace::setoptions(process, Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL)?;
    ptrace::cont(process, None)?;
    let mut program = Program { addresses, instructions: Instructions::default(), lives: HashMap::new() };
    let mut threads = Vec::new();
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL))? {
            WaitStatus::Exited(ended, status) if ended == process => return Ok(Traced { threads, status }),
            WaitStatus::Signaled(ended, signal, _) if ended == process => {
                return Err(io::Error::other(format!("the traced program was ended by {signal}")));
            }
            WaitStatus::Stopped(thread, Signal::SIGUSR2) => {
                threads.push(Followed::new(thread, &mut program)?.run()?);
                ptrace::cont(thread, None)?;
            }
            // A new thread begins stopped, and its creator stops to tell of it.
            WaitStatus::Stopped(thread, Signal::SIGSTOP) | WaitStatus::PtraceEvent(thread, ..) => {
                ptrace::cont(thread, None)?;
            }
            WaitStatus::Stopped(thread, signal) => ptrace::cont(thread, signal)?,
            _ => {}
        }
    }
}

impl<'a> Followed<'a> {
    fn new(thread: Pid, program: &'a mut Program) -> io::Result<Self> {
        let registers = ptrace::getregs(thread)?;
        let private = registers.rsp - STACK_BYTES..registers.fs_base + THREAD_BYTES;
        Ok(Self { thread, program, ops: Vec::new(), private, fresh: Vec::new(), call: None })
    }

    /// Goes on until the operations are over.
    fn run(mut self) -> io::Result<Vec<Trace>> {
        loop {
            let registers = ptrace::getregs(self.thread)?;
            if registers.rip == self.program.addresses.mark {
                if registers.rdi == END {
                    return Ok(self.ops);
                }
                self.ops.push(Trace::default());
                self.fresh.clear();
            }
            self.look(&registers)?;
            self.step()?;
        }
    }

    /// Notes what the next instruction does.
    fn look(&mut self, registers: &libc::user_regs_struct) -> io::Result<()> {
        if let Some(call) = self.call {
            if registers.rip == call.returns_to && registers.rsp > call.stack {
                self.returned(call, registers.rax)?;
            } else {
                return Ok(());
            }
        }
        self.call = self.called(registers)?;
        let Some(op) = self.ops.last_mut() else { return Ok(()) };
        if self.call.is_some() {
            return Ok(());
        }
        let (private, fresh) = (&self.private, &self.fresh);
        let is_seen = |write: &Write| {
            !private.contains(&write.at) && !fresh.iter().any(|block| block.contains(&write.at))
        };
        let Program { instructions, lives, .. } = &mut *self.program;
        let writes = instructions.writes(self.thread, registers)?.filter(is_seen);
        op.writes.extend(writes.map(|write| {
            let life = lives.get(&(write.at / LINE_BYTES)).copied().unwrap_or_default();
            Write { at: write.at + (life << ADDRESS_BITS), ..write }
        }));
        Ok(())
    }

    /// Is the allocator about to begin?
    fn called(&self, registers: &libc::user_regs_struct) -> io::Result<Option<Call>> {
        let known = self.program.addresses;
        let (bytes, told_at) = match registers.rip {
            at if at == known.malloc => (registers.rdi, None),
            at if at == known.calloc => (registers.rdi * registers.rsi, None),
            at if at == known.realloc => (registers.rsi, None),
            at if at == known.posix_memalign => (registers.rdx, Some(registers.rdi)),
            at if at == known.free => (0, None),
            _ => return Ok(None),
        };
        let returns_to = self.read(registers.rsp)?;
        Ok(Some(Call { returns_to, stack: registers.rsp, bytes, told_at }))
    }

    /// The allocator has ended, with that result.
    fn returned(&mut self, call: Call, result: u64) -> io::Result<()> {
        let block = call.told_at.map_or(Ok(result), |at| self.read(at))?;
        if call.bytes > 0 {
            let end = block + call.bytes;
            self.fresh.push(block..end);
            for line in block.div_ceil(LINE_BYTES)..end / LINE_BYTES {
                *self.program.lives.entry(line).or_default() += 1;
            }
            self.ops.last_mut().into_iter().for_each(|op| op.allocations += 1);
        }
        Ok(())
    }

    fn read(&self, at: u64) -> io::Result<u64> {
        Ok(ptrace::read(self.thread, at as ptrace::AddressType)? as u64)
    }

    /// Executes one instruction.
    fn step(&self) -> io::Result<()> {
        let mut signal = None;
        loop {
            ptrace::step(self.thread, signal)?;
            match waitpid(self.thread, Some(WaitPidFlag::__WALL))? {
                WaitStatus::Stopped(_, Signal::SIGTRAP) => return Ok(()),
                WaitStatus::Stopped(_, other) => signal = Some(other),
                other => return Err(io::Error::other(format!("a thread stopped being followed: {other:?}"))),
            }
        }
    }
}
