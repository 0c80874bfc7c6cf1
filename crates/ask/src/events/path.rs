//! A field of an event by its path: `Size`, `Connection.Port`, `Values[0].TypeName`.

use tracesift_etl::schema::{Decoded, Value};

/// The path of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath {
    /// As it was written: a name may hold points and brackets itself.
    text: String,
    first: String,
    rest: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A member of a structure.
    Member(String),
    /// An element of an array, counted from 0.
    Element(usize),
}

impl FieldPath {
    /// Every text is a path.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut rest = Vec::new();
        let mut first = None;
        for part in text.split('.') {
            let (name, elements) = elements(part);
            match first {
                None => first = Some(name.to_owned()),
                Some(_) => rest.push(Step::Member(name.to_owned())),
            }
            rest.extend(elements.into_iter().map(Step::Element));
        }
        Self { text: text.to_owned(), first: first.unwrap_or_default(), rest }
    }

    /// The path as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What `pick` makes of the first value of the field that it takes. Of an array without a number it is shown each element, and
    /// arrays in arrays likewise.
    pub(super) fn find<'e, 'a, T>(
        &self,
        event: &'e Decoded<'a>,
        pick: &mut dyn FnMut(&'e Value<'a>) -> Option<T>,
    ) -> Option<T> {
        if let Some(value) = event.get(&self.text) {
            return find_in(value, pick);
        }
        // Where there is no path, the whole text is the name.
        if self.rest.is_empty() {
            return None;
        }
        descend(event.get(&self.first)?, &self.rest, pick)
    }

    /// Shows the values of the field. See [`Self::find`].
    pub(crate) fn each<'e, 'a>(&self, event: &'e Decoded<'a>, visit: &mut dyn FnMut(&'e Value<'a>)) {
        self.find::<()>(event, &mut |value| {
            visit(value);
            None
        });
    }
}

/// A name without the numbers of elements behind it, and these: `Values[0][1]`.
fn elements(part: &str) -> (&str, Vec<usize>) {
    let mut name = part;
    let mut elements = Vec::new();
    while let Some((before, number)) = name.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        let Ok(number) = number.parse() else { break };
        elements.insert(0, number);
        name = before;
    }
    (name, elements)
}

fn descend<'e, 'a, T>(
    value: &'e Value<'a>,
    path: &[Step],
    pick: &mut dyn FnMut(&'e Value<'a>) -> Option<T>,
) -> Option<T> {
    match (path.split_first(), value) {
        (None, _) => find_in(value, pick),
        (Some((Step::Element(at), rest)), Value::List(values)) => descend(values.get(*at)?, rest, pick),
        (Some((Step::Member(_), _)), Value::List(values)) => values.iter().find_map(|value| descend(value, path, pick)),
        (Some((Step::Member(name), rest)), Value::Struct(members)) => {
            let (_, member) = members.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
            descend(member, rest, pick)
        }
        (Some(_), _) => None,
    }
}

fn find_in<'e, 'a, T>(value: &'e Value<'a>, pick: &mut dyn FnMut(&'e Value<'a>) -> Option<T>) -> Option<T> {
    match value {
        Value::List(values) => values.iter().find_map(|value| find_in(value, pick)),
        value => pick(value),
    }
}

#[cfg(test)]
mod tests {
    use tracesift_etl::schema::{Decoded, Value};

    use super::FieldPath;

    #[test]
    fn values_are_found_by_their_path() {
        let kind = |name: &'static str, size| {
            Value::Struct(vec![
                ("TypeName", Value::Text(name.into())),
                ("Sizes", Value::List(vec![Value::Unsigned(size)])),
            ])
        };
        let fields = vec![
            ("Size", Value::Signed(-5)),
            ("Values", Value::List(vec![kind("A", 1), kind("B", 2)])),
            ("Odd.Name[7]", Value::Signed(9)),
            ("Odd", Value::Signed(8)),
            ("Grid", Value::List(vec![Value::List(vec![Value::Signed(1), Value::Signed(2)]), Value::Signed(3)])),
            ("Empty", Value::List(Vec::new())),
        ];
        let event = Decoded { fields, ..Decoded::default() };
        for (path, values) in [
            ("size", "-5"),
            ("Values[0].TypeName", "A"),
            ("values[1].typename", "B"),
            ("Values.TypeName", "A B"),
            ("Values[1].Sizes", "2"),
            ("Values[1].Sizes[0]", "2"),
            ("Values.Sizes[0]", "1 2"),
            ("Values[2].TypeName", ""),
            ("Odd.Name[7]", "9"),
            ("Odd", "8"),
            ("Odd[0]", ""),
            ("Odd.Nothing", ""),
            ("Grid", "1 2 3"),
            ("Grid[0]", "1 2"),
            ("Grid[0][1]", "2"),
            ("Grid[1]", "3"),
            ("Grid[99999999999999999999]", ""),
            ("Empty", ""),
            ("Size.Nothing", ""),
            ("Size[0]", ""),
            ("", ""),
            ("[0]", ""),
            (".", ""),
        ] {
            let mut found = Vec::new();
            FieldPath::new(path).each(&event, &mut |value| found.push(value.to_string()));
            assert_eq!(found.join(" "), values, "{path}");
        }
    }
}
