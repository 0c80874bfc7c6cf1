//! From frame to frame.

use std::collections::hash_map::Entry;

use gimli::UnwindContext;
use rustc_hash::FxHashMap;

use crate::expression::MAX_OPERATIONS;
use crate::image::{self, Image};
use crate::registers::Registers;
use crate::rule::{Halt, Rule, step_by_frame_pointer, step_over_trampoline};
use crate::stack::Stack;

/// Frames of a chain; deeper ones are cut.
pub const MAX_FRAMES: usize = 512;

/// Bytes of instructions that are carried out for a chain. Real rows cost about a hundred, and are mostly found again.
const MAX_WORK: usize = 1 << 20;

/// An image at an address.
#[derive(Clone, Copy, Debug)]
pub struct ImageAt<'a> {
    /// The image.
    pub image: &'a Image,
    /// What tells it from all others that were ever given to the same [`Unwinder`].
    pub key: u32,
    /// The address as the image's file counts them; see [`Image::address_of`].
    pub address: u64,
}

/// Why there is no image at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing<Reason> {
    /// No file was mapped there: JIT code, or no code.
    NoImage,
    /// A file was, but it cannot be had.
    Unusable(Reason),
}

/// What is mapped in the process whose stack it is.
pub trait Space {
    /// Why a file cannot be had.
    type Reason;

    /// What lies at an address.
    ///
    /// # Errors
    ///
    /// Nothing, or something that cannot be used.
    fn image_at(&mut self, address: u64) -> Result<ImageAt<'_>, Missing<Self::Reason>>;

    /// Whether code without an image that has called `callee`, and returns to `caller` if it is one, is known to be a trampoline: it
    /// takes nothing of the stack but what aligns it for the call.
    fn is_trampoline(&mut self, callee: u64, caller: u64) -> bool {
        let _ = (callee, caller);
        false
    }
}

/// Where a chain ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<Reason> {
    /// At the root of the stack.
    Root,
    /// At a frame whose caller lies beyond the copy of the stack.
    Cut {
        /// An address in its code.
        address: u64,
    },
    /// At a frame without an image.
    Missing {
        /// An address in its code.
        address: u64,
        /// What is missing.
        missing: Missing<Reason>,
    },
    /// At a frame that its image has no unwind information for.
    NoUnwindInformation {
        /// An address in its code.
        address: u64,
    },
    /// At a frame whose unwind information is damaged, cannot be followed with the registers that are known, or leads nowhere.
    Lost {
        /// An address in its code.
        address: u64,
    },
    /// At [`MAX_FRAMES`], or where the work became too much.
    TooLong,
}

/// How the unwinding went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain<Reason> {
    /// Where the chain ends.
    pub end: End<Reason>,
    /// Callers that were found by frame pointers, because nothing better was known of their callee's code.
    pub by_frame_pointer: usize,
}

/// A rule that was found, or not.
#[derive(Debug)]
enum Cached {
    Rule(Rule, usize),
    Nothing,
    Damaged,
}

/// Unwinds stacks, and remembers the rules that it met.
#[derive(Debug)]
pub struct Unwinder {
    context: UnwindContext<usize>,
    rules: FxHashMap<(u32, u64), Cached>,
    /// Bytes of the rules.
    used: usize,
    budget: usize,
}

/// Why a frame's rule leads to no caller.
#[derive(Clone, Copy, Debug)]
enum Stop {
    /// There is no rule.
    Nothing,
    Halt(Halt),
}

impl Unwinder {
    /// `budget` bounds the bytes of remembered rules.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self { context: UnwindContext::new(), rules: FxHashMap::default(), used: 0, budget }
    }

    /// Replaces `chain` by the call chain, leaf first: the instruction pointer, then return addresses as they are. A chain that
    /// ends early has the frames up to there.
    pub fn unwind<S: Space>(
        &mut self,
        registers: &Registers,
        stack: Stack<'_>,
        space: &mut S,
        chain: &mut Vec<u64>,
    ) -> Chain<S::Reason> {
        chain.clear();
        let mut by_frame_pointer = 0;
        let end = self.walk(*registers, stack, space, chain, &mut by_frame_pointer);
        Chain { end, by_frame_pointer }
    }

    fn walk<S: Space>(
        &mut self,
        mut registers: Registers,
        stack: Stack<'_>,
        space: &mut S,
        chain: &mut Vec<u64>,
        by_frame_pointer: &mut usize,
    ) -> End<S::Reason> {
        let architecture = registers.architecture();
        let mut work = MAX_WORK;
        // The leaf was interrupted and so was who is below a signal handler; all others have called, and the instruction
        // behind their call may belong to something else.
        let mut has_called = false;
        let place = |registers: &Registers| {
            (registers.get(architecture.instruction_pointer()), registers.get(architecture.stack_pointer()))
        };
        while let Some(pointer) = registers.get(architecture.instruction_pointer()) {
            if chain.len() == MAX_FRAMES {
                return End::TooLong;
            }
            chain.push(pointer);
            let address = if has_called { pointer.wrapping_sub(1) } else { pointer };
            let before = place(&registers);
            let (is_signal, missing) = match space.image_at(address) {
                Ok(found) => (self.step(&found, &mut registers, stack, &mut work), None),
                Err(Missing::NoImage) => (Err(Stop::Nothing), Some(Missing::NoImage)),
                Err(missing) => return End::Missing { address, missing },
            };
            let is_signal = match is_signal {
                Ok(is_signal) => is_signal,
                Err(Stop::Halt(Halt::Root)) => return End::Root,
                Err(Stop::Halt(Halt::NoMemory)) => return End::Cut { address },
                Err(Stop::Halt(Halt::Lost)) => return End::Lost { address },
                Err(Stop::Nothing) => {
                    let callee = chain.len().checked_sub(2).and_then(|callee| chain.get(callee)).copied();
                    if missing.is_some()
                        && has_called
                        && let Some(callee) = callee
                        && step_over_trampoline(&mut registers, stack, |caller| {
                            space.is_trampoline(callee, caller.wrapping_sub(1))
                        })
                        .is_some()
                    {
                        continue;
                    }
                    // Code that was made at run time may have been called by its like; else the caller is in an image.
                    let is_code = |pointer: u64| {
                        missing.is_some() || !matches!(space.image_at(pointer - 1), Err(Missing::NoImage))
                    };
                    if step_by_frame_pointer(&mut registers, stack, is_code).is_none() {
                        return missing
                            .map_or(End::NoUnwindInformation { address }, |missing| End::Missing { address, missing });
                    }
                    *by_frame_pointer += 1;
                    false
                }
            };
            if place(&registers) == before {
                return End::Lost { address };
            }
            if work == 0 {
                return End::TooLong;
            }
            has_called = !is_signal;
        }
        End::Root
    }

    /// Steps to the caller; gives whether the frame left is that of a signal.
    fn step(
        &mut self,
        found: &ImageAt<'_>,
        registers: &mut Registers,
        stack: Stack<'_>,
        work: &mut usize,
    ) -> Result<bool, Stop> {
        if found.image.architecture() != registers.architecture() {
            return Err(Stop::Halt(Halt::Lost));
        }
        if self.used > self.budget {
            self.rules = FxHashMap::default();
            self.used = 0;
        }
        let cached = match self.rules.entry((found.key, found.address)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let (rule, cost) = found.image.rule(found.address, &mut self.context);
                *work = work.saturating_sub(cost);
                let (cached, bytes) = match rule {
                    image::FoundRule::Rule(rule, section) => {
                        let bytes = rule.bytes();
                        (Cached::Rule(rule, section), bytes)
                    }
                    image::FoundRule::Nothing => (Cached::Nothing, 0),
                    image::FoundRule::Damaged => (Cached::Damaged, 0),
                };
                // Hash maps are up to half empty.
                self.used += bytes + 2 * size_of::<((u32, u64), Cached)>();
                entry.insert(cached)
            }
        };
        let (rule, section) = match cached {
            Cached::Rule(rule, section) => (rule, *section),
            Cached::Nothing => return Err(Stop::Nothing),
            Cached::Damaged => return Err(Stop::Halt(Halt::Lost)),
        };
        *work = work.saturating_sub(rule.expressions().saturating_mul(MAX_OPERATIONS as usize));
        rule.step(registers, stack, found.image.data(section)).map_err(Stop::Halt)?;
        Ok(rule.is_signal)
    }
}
