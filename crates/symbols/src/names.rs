//! Takes the names of functions apart as demanglers and compilers write them: `A::f(int) const` is the function `A::f` with the
//! arguments `(int) const`.
//!
//! Overloads are one method to whoever asks where time goes, so functions are known without their arguments. C++ writes brackets
//! within names (`operator()`, templates, lambdas, functions in functions), so the argument list is found by following them all.

/// Brackets that are open at once; names that nest deeper stay whole.
const MAX_NESTING: usize = 128;

/// Operators whose names look like brackets, longer ones first.
const OPERATORS: [&[u8]; 13] =
    [b"()", b"[]", b"<=>", b"<<=", b">>=", b"->*", b"->", b"<<", b">>", b"<=", b">=", b"<", b">"];

/// What may stand between an argument list and the name of something within that function.
const QUALIFIERS: [&[u8]; 5] = [b" const", b" volatile", b" &&", b" &", b" noexcept"];

/// A function's name and its arguments: the list with its parentheses and whatever follows it (`const`, marks of clones). Storage
/// classes, calling conventions and return types in front of the name are left out. `None` for the arguments where the text has
/// no argument list, or none that can be told; the name is the whole text then, but for a mark of a clone.
#[must_use]
pub fn split(text: &str) -> (&str, Option<&str>) {
    match argument_list(text.as_bytes()) {
        Some((name, list)) => (&text[name..list], Some(&text[list..])),
        None => (without_clone(text), None),
    }
}

/// Where the name begins, and where its argument list does.
fn argument_list(text: &[u8]) -> Option<(usize, usize)> {
    let mut open = Brackets::default();
    let (mut name, mut group, mut in_operator) = (0, 0, false);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let symbol = operator_at(text, at);
        if symbol > 0 {
            in_operator |= open.is_empty();
            at += symbol;
            continue;
        }
        match byte {
            b'(' | b'<' | b'[' | b'{' | b'`' => {
                if byte == b'(' && open.is_empty() {
                    group = at;
                }
                open.push(byte)?;
            }
            b')' => {
                open.close(b'(')?;
                if open.is_empty() && is_argument_list(text, name, group, at + 1) {
                    // `non-virtual thunk to A::f(int)` and its like are names of their own.
                    let about = [b" to ".as_slice(), b" for "].iter().any(|word| text[..name].ends_with(word));
                    return Some((if about { 0 } else { name }, group));
                }
            }
            b']' => open.close(b'[')?,
            b'}' => open.close(b'{')?,
            b'\'' => open.close_quote(),
            b'>' if at == 0 || text[at - 1] != b'-' => open.close_angle(),
            // What stands before a space is no part of the name: after `operator`, and between a list and what it qualifies, it is.
            b' ' if open.is_empty() && !in_operator && (at == 0 || text[at - 1] != b')') => name = at + 1,
            b' ' if open.is_empty() && !in_operator && after_qualifiers(text, at) == at => name = at + 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether the parentheses from `group` to `end` are the arguments of the name from `name` on.
fn is_argument_list(text: &[u8], name: usize, group: usize, end: usize) -> bool {
    let rest = &text[after_qualifiers(text, end)..];
    // `f(int)::g`, and Go's `main.(*T).f`.
    let goes_on = rest.starts_with(b"::") || text[end..].starts_with(b".");
    !goes_on && group > name && &text[name..group] != b"decltype"
}

/// Where the qualifiers that begin at `at` end.
fn after_qualifiers(text: &[u8], mut at: usize) -> usize {
    while let Some(word) = QUALIFIERS.iter().find(|word| text[at..].starts_with(word)) {
        at += word.len();
    }
    at
}

/// The length of `operator` with its symbol, where one begins at `at` that has a bracket in it or may have a space behind it, else 0.
fn operator_at(text: &[u8], at: usize) -> usize {
    const WORD: &[u8] = b"operator";
    let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii();
    let Some(rest) = text[at..].strip_prefix(WORD) else { return 0 };
    if rest.first().is_some_and(in_word) || at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(in_word) {
        return 0;
    }
    let symbol = rest.strip_prefix(b" ").unwrap_or(rest);
    let length = OPERATORS.iter().find(|operator| symbol.starts_with(operator)).map_or(0, |operator| operator.len());
    if length == 0 { WORD.len() } else { WORD.len() + (rest.len() - symbol.len()) + length }
}

/// The text in front of ` [clone .cold]` or ` (.cold)`.
fn without_clone(text: &str) -> &str {
    [" [clone .", " (."]
        .iter()
        .filter_map(|mark| text.find(mark))
        .filter(|at| *at > 0)
        .min()
        .map_or(text, |at| &text[..at])
}

/// The brackets that are open.
struct Brackets {
    bytes: [u8; MAX_NESTING],
    depth: usize,
}

impl Default for Brackets {
    fn default() -> Self {
        Self { bytes: [0; MAX_NESTING], depth: 0 }
    }
}

impl Brackets {
    fn is_empty(&self) -> bool {
        self.depth == 0
    }

    fn push(&mut self, bracket: u8) -> Option<()> {
        *self.bytes.get_mut(self.depth)? = bracket;
        self.depth += 1;
        Some(())
    }

    fn last(&self) -> Option<u8> {
        self.bytes[..self.depth].last().copied()
    }

    /// Closes one, and what looked like angle brackets within but were comparisons.
    fn close(&mut self, bracket: u8) -> Option<()> {
        while self.last() == Some(b'<') && bracket != b'<' {
            self.depth -= 1;
        }
        if self.last()? != bracket {
            return None;
        }
        self.depth -= 1;
        Some(())
    }

    /// `>` may be a comparison, too.
    fn close_angle(&mut self) {
        if self.last() == Some(b'<') {
            self.depth -= 1;
        }
    }

    /// `'` ends what a backquote began; elsewhere it belongs to a lifetime, or to the mark of a lambda.
    fn close_quote(&mut self) {
        if self.bytes[..self.depth].iter().rev().find(|bracket| **bracket != b'<') == Some(&b'`') {
            let _ = self.close(b'`');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::split;

    #[track_caller]
    fn same(text: &str, function: &str, arguments: &str) {
        let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
        assert_eq!(split(text), (function, arguments), "{text}");
    }

    #[test]
    fn arguments_follow_the_name() {
        same("main", "main", "");
        same("A::f(int, char const*)", "A::f", "(int, char const*)");
        same("A::f() const", "A::f", "() const");
        same("A::f(int) const &", "A::f", "(int) const &");
        same(
            "std::vector<int, std::allocator<int> >::push_back(int&&)",
            "std::vector<int, std::allocator<int> >::push_back",
            "(int&&)",
        );
        same("f(void (*)(int), int (&)[3])", "f", "(void (*)(int), int (&)[3])");
        same("f(bool (*)(void *), int)", "f", "(bool (*)(void *), int)");
        same("(anonymous namespace)::f(int)", "(anonymous namespace)::f", "(int)");
        same("A::f[abi:cxx11](int)", "A::f[abi:cxx11]", "(int)");
    }

    #[test]
    fn operators_are_no_brackets() {
        same("A::operator()(int)", "A::operator()", "(int)");
        same("A::operator ()(int) const", "A::operator ()", "(int) const");
        same("A::operator()", "A::operator()", "");
        same("A::operator<(A const&)", "A::operator<", "(A const&)");
        same("std::operator<< <std::char_traits<char> >(int)", "std::operator<< <std::char_traits<char> >", "(int)");
        same("operator<<int>(int)", "operator<<int>", "(int)");
        same("A::operator->() const", "A::operator->", "() const");
        same("A::operator>>=(int)", "A::operator>>=", "(int)");
        same("A<int>::operator[](int)", "A<int>::operator[]", "(int)");
        same("operator new(unsigned __int64)", "operator new", "(unsigned __int64)");
        same("void * operator new[](unsigned int)", "operator new[]", "(unsigned int)");
        same("A::operator unsigned int() const", "A::operator unsigned int", "() const");
        same("f<&A::operator()>(int)", "f<&A::operator()>", "(int)");
        same("f<&A::operator< >(int)", "f<&A::operator< >", "(int)");
        same("cooperator(int)", "cooperator", "(int)");
    }

    #[test]
    fn functions_and_lambdas_lie_within_functions() {
        same("f(int)::g(char)", "f(int)::g", "(char)");
        same("f(int)::{lambda(int)#1}::operator()(int) const", "f(int)::{lambda(int)#1}::operator()", "(int) const");
        same("A::f() const::{lambda()#1}::operator()() const", "A::f() const::{lambda()#1}::operator()", "() const");
        same("f(int)::'lambda'(int)::operator()(int) const", "f(int)::'lambda'(int)::operator()", "(int) const");
        same("<lambda_1f>::operator()(int)", "<lambda_1f>::operator()", "(int)");
        same("`f(int)'::`2'::g(char)", "`f(int)'::`2'::g", "(char)");
        same("A::`scalar deleting destructor'(unsigned int)", "A::`scalar deleting destructor'", "(unsigned int)");
        same("`anonymous namespace'::callback", "`anonymous namespace'::callback", "");
    }

    #[test]
    fn what_stands_in_front_of_the_name_is_left_out() {
        same("static int pre_c_initialization()", "pre_c_initialization", "()");
        same("static  `test'::`1'::dtor$0()", "`test'::`1'::dtor$0", "()");
        same("public: virtual void __cdecl A::f(int)", "A::f", "(int)");
        same("std::enable_if<((1)>(2)), int>::type f<int>(int)", "f<int>", "(int)");
        same("decltype(auto) f<int>(int)", "f<int>", "(int)");
        same("non-virtual thunk to A::f(int)", "non-virtual thunk to A::f", "(int)");
    }

    #[test]
    fn comparisons_in_templates_are_no_brackets() {
        same("f<(1 > 2)>(int)", "f<(1 > 2)>", "(int)");
        same("f<(1 < 2)>(int)", "f<(1 < 2)>", "(int)");
        same("f<int>(decltype(a->b))", "f<int>", "(decltype(a->b))");
    }

    #[test]
    fn clones_are_the_same_function() {
        same("f(int) [clone .cold]", "f", "(int) [clone .cold]");
        same("f(int) (.part.0)", "f", "(int) (.part.0)");
        same("f [clone .cold]", "f", "");
        same("f (.cold)", "f", "");
    }

    #[test]
    fn names_of_other_languages_stay_whole() {
        for name in [
            "<core::iter::Map<I, F> as core::iter::Iterator>::next",
            "<fn(usize) -> u8 as core::ops::FnOnce>::call_once{{vtable.shim}}",
            "core::ops::function::FnOnce::call_once::{closure#0}",
            "net/http.(*Server).Serve",
            "-[NSString stringWithFormat:]",
            "vtable for A",
            "(*)(int",
            "f(",
            "f)(",
            "(int)",
            "",
        ] {
            same(name, name, "");
        }
        let deep = format!("f{}{}", "(".repeat(1000), ")".repeat(1000));
        same(&deep, &deep, "");
    }

    proptest! {
        #[test]
        fn nothing_is_made_up(text in "[a<>(){}`'\\[\\] :.é-]{0,40}|(operator|[a<>() :]){0,20}") {
            let (function, arguments) = split(&text);
            prop_assert!(text.contains(function) && text.is_empty() == function.is_empty());
            let end = arguments.map(|arguments| [function, arguments].concat());
            prop_assert!(end.is_none_or(|end| text.ends_with(&end)));
        }
    }
}
