//! Expressions in call frame information (DWARF 5, section 2.5): how to compute what no offset can say.

use gimli::{
    Encoding, EndianSlice, Evaluation, EvaluationResult, EvaluationStorage, Format, LittleEndian, Location, Piece,
    UnwindExpression, Value,
};

use crate::registers::Registers;
use crate::rule::Halt;
use crate::stack::Stack;

/// Operations of an evaluation. Real ones need about a dozen; they may contain jumps.
pub(crate) const MAX_OPERATIONS: u32 = 256;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Room for an evaluation without allocating.
struct InPlace;

impl<'a> EvaluationStorage<Slice<'a>> for InPlace {
    type Stack = [Value; 64];
    type ExpressionStack = [(Slice<'a>, Slice<'a>); 1];
    type Result = [Piece<Slice<'a>>; 1];
}

const ENCODING: Encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 4 };

/// The value of an expression of a section, which begins with `initial` on its stack.
pub(crate) fn evaluate(
    expression: UnwindExpression<usize>,
    data: &[u8],
    initial: Option<u64>,
    registers: &Registers,
    stack: Stack<'_>,
) -> Result<u64, Halt> {
    let end = expression.offset.checked_add(expression.length).ok_or(Halt::Lost)?;
    let code = data.get(expression.offset..end).ok_or(Halt::Lost)?;
    let mut evaluation = Evaluation::<_, InPlace>::new_in(EndianSlice::new(code, LittleEndian), ENCODING);
    evaluation.set_max_iterations(MAX_OPERATIONS);
    if let Some(initial) = initial {
        evaluation.set_initial_value(initial);
    }
    let mut result = evaluation.evaluate();
    // Whatever it asks for, it asks at most once per operation.
    for _ in 0..=MAX_OPERATIONS {
        result = match result {
            Ok(EvaluationResult::Complete) => {
                return match evaluation.as_result() {
                    [Piece { location: Location::Address { address }, .. }] => Ok(*address),
                    _ => Err(Halt::Lost),
                };
            }
            Ok(EvaluationResult::RequiresRegister { register, .. }) => {
                let value = u8::try_from(register.0).ok().and_then(|register| registers.get(register));
                evaluation.resume_with_register(Value::Generic(value.ok_or(Halt::Lost)?))
            }
            Ok(EvaluationResult::RequiresMemory { address, size: 8, space: None, .. }) => {
                evaluation.resume_with_memory(Value::Generic(stack.word(address).ok_or(Halt::NoMemory)?))
            }
            _ => return Err(Halt::Lost),
        };
    }
    Err(Halt::Lost)
}
