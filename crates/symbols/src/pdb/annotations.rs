//! The line program of an inlined function: binary annotations, as `cvinfo.h` names them.

use crate::fields::Fields;

/// A stretch of inlined code. Offsets count from the start of the function around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inlined {
    pub(super) start: u32,
    pub(super) end: u32,
    /// As the module's list of files counts it; `None` is the file of the function.
    pub(super) file: Option<u32>,
    /// From the function's first line on.
    pub(super) line: i64,
}

/// Runs a line program, adds its stretches to `stretches` and brings them in order.
///
/// An entry begins where the offset changes, and reaches up to the next one if no length follows. Lengths move the offset on, but for the
/// one that comes together with an offset.
pub(super) fn run(annotations: &[u8], stretches: &mut Vec<Inlined>) {
    let mut fields = Fields::new(annotations);
    let (mut base, mut offset, mut line, mut file) = (0_u32, 0_u32, 0_i64, None);
    // The entry whose end is not known yet.
    let mut open: Option<Inlined> = None;
    while let Some(code) = number(&mut fields) {
        let mut length = None;
        let emits = match code {
            // BA_OP_CodeOffset, BA_OP_ChangeCodeOffsetBase
            1 | 2 => {
                let Some(to) = number(&mut fields) else { break };
                *(if code == 1 { &mut offset } else { &mut base }) = to;
                false
            }
            // BA_OP_ChangeCodeOffset
            3 => {
                let Some(by) = number(&mut fields) else { break };
                offset = offset.wrapping_add(by);
                true
            }
            // BA_OP_ChangeCodeLength
            4 => {
                let Some(length) = number(&mut fields) else { break };
                stretches.extend(open.take().map(|open| Inlined { end: open.start.saturating_add(length), ..open }));
                offset = offset.wrapping_add(length);
                false
            }
            // BA_OP_ChangeFile
            5 => {
                let Some(to) = number(&mut fields) else { break };
                file = Some(to);
                false
            }
            // BA_OP_ChangeLineOffset
            6 => {
                let Some(by) = number(&mut fields) else { break };
                line += signed(by);
                false
            }
            // BA_OP_ChangeLineEndDelta, RangeKind, ColumnStart, ColumnEndDelta, ColumnEnd
            7..=10 | 13 => {
                if number(&mut fields).is_none() {
                    break;
                }
                false
            }
            // BA_OP_ChangeCodeOffsetAndLineOffset
            11 => {
                let Some(both) = number(&mut fields) else { break };
                offset = offset.wrapping_add(both & 0xf);
                line += signed(both >> 4);
                true
            }
            // BA_OP_ChangeCodeLengthAndCodeOffset
            12 => {
                let (Some(own), Some(by)) = (number(&mut fields), number(&mut fields)) else { break };
                length = Some(own);
                offset = offset.wrapping_add(by);
                true
            }
            // 0 is padding at the end.
            _ => break,
        };
        if !emits {
            continue;
        }
        let start = base.wrapping_add(offset);
        stretches.extend(open.take().map(|open| Inlined { end: start, ..open }));
        let entry = Inlined { start, end: start, file, line };
        match length {
            Some(length) => stretches.push(Inlined { end: start.saturating_add(length), ..entry }),
            None => open = Some(entry),
        }
    }
    // The end of the last one is not told: it is one place, at least.
    stretches.extend(open.map(|open| Inlined { end: open.start.saturating_add(1), ..open }));
    stretches.retain(|stretch| stretch.start < stretch.end);
    stretches.sort_by_key(|stretch| stretch.start);
}

/// A compressed number of one, two or four bytes.
fn number(fields: &mut Fields<'_>) -> Option<u32> {
    let [first] = fields.array()?;
    if first & 0x80 == 0 {
        return Some(first.into());
    }
    let [second] = fields.array()?;
    if first & 0x40 == 0 {
        return Some(u32::from(first & 0x3f) << 8 | u32::from(second));
    }
    let [third, fourth] = fields.array()?;
    (first & 0x20 == 0).then(|| u32::from_be_bytes([first & 0x1f, second, third, fourth]))
}

/// The sign is the lowest bit.
fn signed(number: u32) -> i64 {
    let magnitude = i64::from(number >> 1);
    if number & 1 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::{Inlined, run};

    #[test]
    fn line_programs_are_run() {
        let mut stretches = Vec::new();
        // Line +2 at 4, line -1 at 4 + 3 for 5 bytes, file 0x18 and 300 bytes further on 2 bytes.
        let program = [6, 4, 3, 4, 11, 0x33, 4, 5, 5, 0x18, 12, 2, 0x81, 0x2c, 0, 0];
        run(&program, &mut stretches);
        let expected = [
            Inlined { start: 4, end: 7, file: None, line: 2 },
            Inlined { start: 7, end: 12, file: None, line: 1 },
            Inlined { start: 312, end: 314, file: Some(0x18), line: 1 },
        ];
        assert_eq!(stretches, expected);
    }
}
