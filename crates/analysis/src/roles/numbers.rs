//! Names without the numbers in them.

/// A name with `#` in place of each number: `writer-12` is `writer-#`. A hexadecimal number begins with `0x`.
#[must_use]
pub fn without_numbers(name: &str) -> String {
    let mut role = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let number = number_length(rest);
        if number == 0 {
            role.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        } else {
            role.push('#');
            rest = rest.get(number..).unwrap_or_default();
        }
    }
    role
}

/// Bytes of the number with which a text begins.
fn number_length(text: &str) -> usize {
    let length = |text: &str, is_digit: fn(&u8) -> bool| text.bytes().take_while(is_digit).count();
    let hexadecimal = text.strip_prefix("0x").map_or(0, |digits| length(digits, u8::is_ascii_hexdigit));
    if hexadecimal > 0 { hexadecimal + 2 } else { length(text, u8::is_ascii_digit) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::without_numbers;

    #[test]
    fn each_number_is_one_sign() {
        for (name, role) in [
            ("writer-9", "writer-#"),
            ("writer-10", "writer-#"),
            ("pool-3-thread-12", "pool-#-thread-#"),
            ("session 0x7fA0.1", "session #.#"),
            ("0xyz", "#xyz"),
            (".NET TP Worker", ".NET TP Worker"),
            ("Größe²", "Größe²"),
            ("", ""),
        ] {
            assert_eq!(without_numbers(name), role);
        }
    }

    proptest! {
        /// What stands between the numbers stays, and nothing else does.
        #[test]
        fn names_that_differ_in_numbers_have_one_role(
            parts in prop::collection::vec("[a-w#ö /_-]{1,5}", 1..5),
            numbers in prop::collection::vec((any::<u64>(), any::<u64>()), 5),
        ) {
            let name = |pick: fn(&(u64, u64)) -> u64| {
                parts.iter().zip(&numbers).map(|(part, pair)| format!("{part}{}", pick(pair))).collect::<String>()
            };
            let role = parts.iter().map(|part| format!("{part}#")).collect::<String>();
            prop_assert_eq!(without_numbers(&name(|pair| pair.0)), role.clone());
            prop_assert_eq!(without_numbers(&name(|pair| pair.1)), role);
        }

        #[test]
        fn no_digit_is_left(name in "\\PC{0,20}") {
            let role = without_numbers(&name);
            prop_assert!(!role.contains(|character: char| character.is_ascii_digit()), "{}", role);
            prop_assert_eq!(without_numbers(&role), role);
        }
    }
}
