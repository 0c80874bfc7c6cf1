//! Finds the registers of a caller from the registers of a frame.

use gimli::{CfaRule, Register, RegisterRule, UnwindExpression, UnwindTableRow};

use crate::architecture::Architecture;
use crate::expression::evaluate;
use crate::registers::Registers;
use crate::stack::Stack;

/// A row of the table that call frame information describes.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    cfa: Cfa,
    /// The register whose value in the caller is the return address.
    return_address: u8,
    saved: Box<[(u8, Saved)]>,
    /// The frame is the kernel's, around a signal handler: its caller was interrupted and did not call.
    pub(crate) is_signal: bool,
}

/// The canonical frame address: the caller's stack pointer.
#[derive(Clone, Copy, Debug)]
enum Cfa {
    Register { register: u8, offset: i64 },
    Expression(UnwindExpression<usize>),
}

/// Where a register of the caller is.
#[derive(Clone, Copy, Debug)]
enum Saved {
    /// Nowhere: of the return address it means that there is no caller.
    Undefined,
    Same,
    /// In memory, so many bytes from the canonical frame address.
    At(i64),
    /// So many bytes from the canonical frame address.
    Is(i64),
    In(u8),
    AtExpression(UnwindExpression<usize>),
    IsExpression(UnwindExpression<usize>),
    Constant(u64),
}

/// Why there is no caller to step to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The frame has none.
    Root,
    /// Memory is needed that is not there.
    NoMemory,
    /// A register is needed that is not known, or what the rule says cannot be done.
    Lost,
}

fn number(register: Register) -> Option<u8> {
    u8::try_from(register.0).ok()
}

impl Rule {
    /// `None` if the row cannot be used.
    pub(crate) fn new(row: &UnwindTableRow<usize>, return_address: Register, is_signal: bool) -> Option<Self> {
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                Cfa::Register { register: number(*register)?, offset: *offset }
            }
            CfaRule::Expression(expression) => Cfa::Expression(*expression),
        };
        let mut saved = Vec::new();
        for (register, rule) in row.registers() {
            let place = match rule {
                RegisterRule::Undefined => Saved::Undefined,
                RegisterRule::SameValue => Saved::Same,
                RegisterRule::Offset(offset) => Saved::At(*offset),
                RegisterRule::ValOffset(offset) => Saved::Is(*offset),
                RegisterRule::Register(register) => Saved::In(number(*register)?),
                RegisterRule::Expression(expression) => Saved::AtExpression(*expression),
                RegisterRule::ValExpression(expression) => Saved::IsExpression(*expression),
                RegisterRule::Constant(value) => Saved::Constant(*value),
                _ => return None,
            };
            // Those of vectors do not lead anywhere.
            saved.extend(number(*register).map(|register| (register, place)));
        }
        Some(Self { cfa, return_address: number(return_address)?, saved: saved.into_boxed_slice(), is_signal })
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.saved)
    }

    /// Expressions among its parts, which cost more than the rest.
    pub(crate) fn expressions(&self) -> usize {
        let is_expression = |saved: &&(u8, Saved)| matches!(saved.1, Saved::AtExpression(_) | Saved::IsExpression(_));
        usize::from(matches!(self.cfa, Cfa::Expression(_))) + self.saved.iter().filter(is_expression).count()
    }

    /// Turns a frame's registers into those of its caller; `data` is the section that the rule is from. Where there is none they
    /// are undefined.
    pub(crate) fn step(&self, registers: &mut Registers, stack: Stack<'_>, data: &[u8]) -> Result<(), Halt> {
        let architecture = registers.architecture();
        let callee = *registers;
        let word = |address: u64| stack.word(address).ok_or(Halt::NoMemory);
        let cfa = match self.cfa {
            Cfa::Register { register, offset } => callee.get(register).ok_or(Halt::Lost)?.wrapping_add_signed(offset),
            Cfa::Expression(expression) => evaluate(expression, data, None, &callee, stack)?,
        };
        let top = callee.get(architecture.stack_pointer());
        registers.set(architecture.stack_pointer(), cfa);
        // It may still be in its register, as in a function that calls none.
        let kept = self.return_address != architecture.instruction_pointer();
        let mut target = if kept { callee.get(self.return_address).ok_or(Halt::Lost) } else { Err(Halt::Lost) };
        for &(register, saved) in &self.saved {
            let value = match saved {
                Saved::Undefined => Err(Halt::Root),
                Saved::Same => continue,
                Saved::At(offset) => {
                    let address = cfa.wrapping_add_signed(offset);
                    if register != self.return_address && top.is_some_and(|top| address < top) {
                        // At the end of a function compilers do not always say that it is back in its register.
                        continue;
                    }
                    word(address)
                }
                Saved::Is(offset) => Ok(cfa.wrapping_add_signed(offset)),
                Saved::In(other) => callee.get(other).ok_or(Halt::Lost),
                Saved::AtExpression(expression) => evaluate(expression, data, Some(cfa), &callee, stack).and_then(word),
                Saved::IsExpression(expression) => evaluate(expression, data, Some(cfa), &callee, stack),
                Saved::Constant(value) => Ok(value),
            };
            // Registers that cannot be had may never be needed.
            registers.put(register, value.ok());
            if register == self.return_address {
                target = value;
            }
        }
        let target = architecture.code_address(target?);
        if target == 0 {
            return Err(Halt::Root);
        }
        registers.set(architecture.instruction_pointer(), target);
        Ok(())
    }
}

/// Turns a frame's registers into those of its caller by the chain of frame pointers, for code of which nothing better is known.
/// `is_code` judges the return address; without a caller the registers stay as they are.
pub(crate) fn step_by_frame_pointer(
    registers: &mut Registers,
    stack: Stack<'_>,
    is_code: impl FnOnce(u64) -> bool,
) -> Option<()> {
    let architecture = registers.architecture();
    let frame = registers.get(architecture.frame_pointer())?;
    let top = registers.get(architecture.stack_pointer())?;
    if frame < top || !frame.is_multiple_of(8) {
        return None;
    }
    let (before, target) = (stack.word(frame)?, stack.word(frame.checked_add(8)?)?);
    let target = architecture.code_address(target);
    // The chain leads upwards; its last link may be 0.
    if before != 0 && before <= frame || target == 0 || !is_code(target) {
        return None;
    }
    registers.set(architecture.frame_pointer(), before);
    registers.set(architecture.stack_pointer(), frame.checked_add(16)?);
    registers.set(architecture.instruction_pointer(), target);
    Some(())
}

/// Turns the registers of a trampoline that has called into those of its caller; `is_caller` judges who that would be. The stack pointer was
/// moved by eight bytes, or the frame pointer was saved, which [`step_by_frame_pointer`] follows.
pub(crate) fn step_over_trampoline(
    registers: &mut Registers,
    stack: Stack<'_>,
    is_caller: impl FnOnce(u64) -> bool,
) -> Option<()> {
    let architecture = registers.architecture();
    let top = registers.get(architecture.stack_pointer())?;
    // Elsewhere a call leaves no return address on the stack.
    if architecture != Architecture::X86_64
        || !top.is_multiple_of(16)
        || registers.get(architecture.frame_pointer()) == Some(top)
    {
        return None;
    }
    let target = stack.word(top.checked_add(8)?)?;
    if target == 0 || !is_caller(target) {
        return None;
    }
    registers.set(architecture.stack_pointer(), top.checked_add(16)?);
    registers.set(architecture.instruction_pointer(), target);
    Some(())
}
