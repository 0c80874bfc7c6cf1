//! Constant expressions of C, as the kernel's macros leave them in a `print fmt`: `((1UL) << (10)) | (( gfp_t)0x40)`.

/// Parentheses inside parentheses; more only a forged format has.
const MAX_DEPTH: usize = 64;

/// The value of an expression of numbers, casts and operators, in 64 bits; `None` where something else stands in it, such as the
/// name of an enumerator.
pub(super) fn evaluate(text: &str) -> Option<u64> {
    let mut parser = Parser { rest: text, depth: 0 };
    let value = parser.binary(0)?;
    parser.rest.trim_start().is_empty().then_some(value)
}

/// What stands behind a cast such as `( unsigned long)` at the start of an expression.
pub(super) fn behind_cast(text: &str) -> Option<&str> {
    let (inside, behind) = text.strip_prefix('(')?.split_once(')')?;
    let is_type = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '*' | ' ');
    let starts = inside.trim_start().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (starts && inside.chars().all(is_type) && !behind.trim_start().is_empty()).then(|| behind.trim_start())
}

/// Operators from the loosest to the tightest.
const OPERATORS: [&[&str]; 6] = [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*"]];

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            // `||` and `&&` are other operators.
            Some(behind) if !(matches!(token, "|" | "&") && behind.starts_with(token)) => {
                self.rest = behind;
                true
            }
            _ => false,
        }
    }

    fn binary(&mut self, level: usize) -> Option<u64> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            let right = self.binary(level + 1)?;
            let shift = u32::try_from(right).ok();
            left = match *operator {
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "<<" => left.checked_shl(shift?)?,
                ">>" => left.checked_shr(shift?)?,
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                _ => left.wrapping_mul(right),
            };
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<u64> {
        self.rest = self.rest.trim_start();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = if let Some(behind) = behind_cast(self.rest) {
            self.rest = behind;
            self.unary()?
        } else if self.take("(") {
            let inside = self.binary(0)?;
            if !self.take(")") {
                return None;
            }
            inside
        } else if self.take("~") {
            !self.unary()?
        } else if self.take("-") {
            self.unary()?.wrapping_neg()
        } else {
            self.number()?
        };
        self.depth -= 1;
        Some(value)
    }

    fn number(&mut self) -> Option<u64> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, behind) = self.rest.split_at_checked(end)?;
        self.rest = behind;
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok(),
            None => digits.parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn what_macros_leave_is_evaluated() {
        for (text, value) in [
            ("0x10", 16),
            ("( unsigned long)(((( gfp_t)((((1UL))) << (10))) | (( gfp_t)0)))", 1024),
            ("(1 << 3) - 1", 7),
            ("-6ULL", (-6_i64).cast_unsigned()),
            ("0x3f & ~(( fmode_t)0x2)", 0x3d),
            ("((((0x00000000 | 0x00000001 | 0x00000040) + 1) << 1) - 1)", 131),
            ("010", 8),
        ] {
            assert_eq!(evaluate(text), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "IOPRIO_CLASS_RT", "1 +", "(1", "1 || 2", "1 << 64", "1 ? 2 : 3", "sizeof(long)"] {
            assert_eq!(evaluate(text), None, "{text}");
        }
        assert_eq!(evaluate(&"(".repeat(1 << 20)), None);
        assert_eq!(evaluate(&"-".repeat(1 << 20)), None);
    }
}
