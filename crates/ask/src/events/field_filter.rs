//! A condition on the fields of an event, made of comparisons: `Size > 4096 and not Name ~ *.log`.

use std::str::FromStr;

use tracesift_etl::schema::Decoded;
use tracesift_grammar::{Expression, ExpressionError};

use super::Condition;

/// What the fields of an event must say. An event without a field meets no comparison with it, and so every `not` of one.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldFilter(Expression<Condition>);

impl FromStr for FieldFilter {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self(Expression::parse(text)?.map(&mut Condition::from)))
    }
}

impl FieldFilter {
    /// Whether an event passes.
    #[must_use]
    pub fn accepts(&self, event: &Decoded<'_>) -> bool {
        self.0.holds(&mut |condition| condition.accepts(event))
    }

    /// Its fields that compare with a number where this event has a text: in an archive, values with a name are kept by that.
    pub(crate) fn names_for_numbers<'e>(&'e self, event: &'e Decoded<'_>, visit: &mut dyn FnMut(&'e str, &'e str)) {
        self.0.each(&mut |condition| {
            if let Some((field, name)) = condition.name_for_number(event) {
                visit(field, name);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use tracesift_etl::schema::{Decoded, Value};

    use super::FieldFilter;

    #[test]
    fn comparisons_are_of_the_fields() {
        let accepts = |text: &str| {
            let types = ["List", "Dictionary"].map(|name| Value::Struct(vec![("TypeName", Value::Text(name.into()))]));
            let fields = vec![
                ("Size", Value::Unsigned(8192)),
                ("Name", Value::Text("C:\\a b\\x.LOG".into())),
                ("Flags", Value::Hex(0x10)),
                ("Values", Value::List(types.to_vec())),
                ("Empty", Value::Text("".into())),
            ];
            let filter: FieldFilter = text.parse().expect("a condition");
            filter.accepts(&Decoded { fields, ..Decoded::default() })
        };
        for yes in [
            "Size > 4096 and Name ~ *.log",
            "size>=8192 and (Name ~ *.txt or Flags = 16)",
            "Flags = 0x10",
            "Flags ~ 0x1?",
            "Values[0].TypeName = List and Values[1].TypeName !~ L*",
            "Values.TypeName = Dictionary",
            "not Missing = 1",
            "not (Size < 4096 or Missing ~ *)",
            "Name ~ 'c:\\a b\\*;!*.txt'",
            "Empty = '' and Empty ~ '' and Size ~ *",
        ] {
            assert!(accepts(yes), "{yes}");
        }
        for no in [
            "Size > 4096 and Name ~ *.txt",
            "Missing = 1",
            "Missing != 1",
            "Missing !~ x",
            "Size ~ 0x2000",
            "Name > 4",
            "Values[2].TypeName ~ *",
            "not Size = 8192",
            "Name ~ ''",
        ] {
            assert!(!accepts(no), "{no}");
        }
    }
}
