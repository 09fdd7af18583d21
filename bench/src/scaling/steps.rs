//! What an instruction writes, and where, for the registers that it begins with.

use std::collections::HashMap;
use std::io;

use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, Mnemonic, OpAccess, Register, UsedMemory};
use nix::libc::user_regs_struct as Registers;
use nix::sys::ptrace;
use nix::unistd::Pid;

use super::count::Write;

const WORD_BYTES: usize = size_of::<usize>();

/// The instructions that have been met, each decoded once.
#[expect(missing_debug_implementations, reason = "the decoder has none")]
pub struct Instructions {
    known: HashMap<u64, Writes>,
    factory: InstructionInfoFactory,
}

/// What an instruction writes.
#[derive(Debug)]
struct Writes {
    memory: Vec<UsedMemory>,
    is_rmw: bool,
}

impl Default for Instructions {
    fn default() -> Self {
        Self { known: HashMap::new(), factory: InstructionInfoFactory::new() }
    }
}

impl Instructions {
    /// What the next instruction of a stopped thread writes.
    ///
    /// # Errors
    ///
    /// If its memory can't be read, or the instruction is unknown.
    pub fn writes(&mut self, thread: Pid, registers: &Registers) -> io::Result<impl Iterator<Item = Write>> {
        if !self.known.contains_key(&registers.rip) {
            let writes = self.decoded(thread, registers.rip)?;
            self.known.insert(registers.rip, writes);
        }
        let writes = &self.known[&registers.rip];
        let address = |memory: &UsedMemory| {
            // Only gathers and scatters have more than one element, or one without a general register.
            memory.virtual_address(0, |register, _, _| value(register, registers))
        };
        Ok(writes.memory.iter().filter_map(address).map(|at| Write { at, is_rmw: writes.is_rmw }))
    }

    fn decoded(&mut self, thread: Pid, at: u64) -> io::Result<Writes> {
        let instruction = Decoder::with_ip(64, &code(thread, at)?, at, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(io::Error::other(format!("an unknown instruction at {at:#x}")));
        }
        let memory: Vec<UsedMemory> = self
            .factory
            .info(&instruction)
            .used_memory()
            .iter()
            .filter(|memory| is_written(memory))
            .copied()
            .collect();
        let is_exchange = instruction.mnemonic() == Mnemonic::Xchg;
        let is_rmw = instruction.has_lock_prefix() || (is_exchange && !memory.is_empty());
        Ok(Writes { memory, is_rmw })
    }
}

/// The bytes of the longest instruction that there is; fewer at the end of what is mapped.
fn code(thread: Pid, at: u64) -> io::Result<Vec<u8>> {
    let word = |at: u64| ptrace::read(thread, at as ptrace::AddressType).map(|word| word.to_le_bytes());
    let mut code = word(at)?.to_vec();
    code.extend(word(at + WORD_BYTES as u64).iter().flatten());
    Ok(code)
}

fn is_written(memory: &UsedMemory) -> bool {
    matches!(
        memory.access(),
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

/// A register's value; `None` for those that no address is made of.
fn value(register: Register, registers: &Registers) -> Option<u64> {
    Some(match register {
        Register::FS => registers.fs_base,
        Register::GS => registers.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => match register.full_register() {
            Register::RAX => registers.rax,
            Register::RBX => registers.rbx,
            Register::RCX => registers.rcx,
            Register::RDX => registers.rdx,
            Register::RSI => registers.rsi,
            Register::RDI => registers.rdi,
            Register::RBP => registers.rbp,
            Register::RSP => registers.rsp,
            Register::R8 => registers.r8,
            Register::R9 => registers.r9,
            Register::R10 => registers.r10,
            Register::R11 => registers.r11,
            Register::R12 => registers.r12,
            Register::R13 => registers.r13,
            Register::R14 => registers.r14,
            Register::R15 => registers.r15,
            Register::RIP => registers.rip,
            _ => return None,
        },
    })
}
