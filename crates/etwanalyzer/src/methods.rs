//! Method names: `module!method` becomes module and function, as in all other archives.

use rustc_hash::FxHashMap;

/// What ETWAnalyzer calls code of which it knows neither module nor name.
const NOTHING_KNOWN: &str = "<UnknownModule>!<UnknownMethod>";
/// What ETWAnalyzer calls a module that it does not know.
const UNKNOWN_MODULE: &str = "<UnknownModule>";
/// What archives call it.
const UNKNOWN: &str = "[unknown]";

/// Module and function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MethodName<'a> {
    /// Module without path; `None` where it is not known.
    pub(crate) module: Option<&'a str>,
    /// Function.
    pub(crate) function: &'a str,
}

/// The methods of an extract. Arguments are cut off, as a method is module and function; where that would make two methods one, whose
/// figures cannot be added up, both keep them.
pub(crate) fn names(texts: &[String]) -> Vec<MethodName<'_>> {
    let whole: Vec<MethodName<'_>> = texts.iter().map(|text| split(text)).collect();
    let mut short_ones = whole.clone();
    for name in &mut short_ones {
        name.function = without_arguments(name.function);
    }
    let mut count: FxHashMap<MethodName<'_>, usize> = FxHashMap::default();
    for name in &short_ones {
        *count.entry(*name).or_default() += 1;
    }
    for (short, whole) in short_ones.iter_mut().zip(&whole) {
        if count.get(short).is_some_and(|count| *count > 1) {
            *short = *whole;
        }
    }
    short_ones
}

/// A name, and the list of its arguments with its parentheses.
pub(crate) fn with_arguments(text: &str) -> (MethodName<'_>, Option<&str>) {
    let MethodName { module, function: whole } = split(text);
    let function = without_arguments(whole);
    let arguments = whole.get(function.len()..).filter(|arguments| !arguments.is_empty());
    (MethodName { module, function }, arguments)
}

fn split(text: &str) -> MethodName<'_> {
    if text == NOTHING_KNOWN {
        return MethodName { module: None, function: UNKNOWN };
    }
    match text.split_once('!') {
        Some((module, function)) if !module.is_empty() && !function.is_empty() => {
            MethodName { module: Some(module).filter(|module| *module != UNKNOWN_MODULE), function }
        }
        _ => MethodName { module: None, function: text },
    }
}

/// Cuts the list of arguments at the end: `Shaper.Read(Int32, System.Func(T))` is `Shaper.Read`; `operator()` has none.
fn without_arguments(function: &str) -> &str {
    if !function.ends_with(')') {
        return function;
    }
    let mut depth = 0_usize;
    for (index, byte) in function.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let name = function.get(..index).unwrap_or_default();
            return if name.is_empty() || name.ends_with("operator") { function } else { name };
        }
    }
    function
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_and_functions() {
        for (text, module, function) in [
            ("ntdll.dll!RtlUserThreadStart", Some("ntdll.dll"), "RtlUserThreadStart"),
            ("a.dll!a.dll+0x12f", Some("a.dll"), "a.dll+0x12f"),
            ("<UnknownModule>!<UnknownMethod>", None, "[unknown]"),
            ("<UnknownModule>!Main", None, "Main"),
            ("a.dll!x!y", Some("a.dll"), "x!y"),
            ("Main", None, "Main"),
            ("!x", None, "!x"),
            ("", None, ""),
        ] {
            assert_eq!(split(text), MethodName { module, function }, "{text}");
        }
    }

    #[test]
    fn arguments() {
        for (function, short) in [
            ("Shaper`1[System.__Canon].StoreRead()", "Shaper`1[System.__Canon].StoreRead"),
            ("A.Stub(Boolean[], Func(T) ByRef)", "A.Stub"),
            ("<lambda_1>::operator()", "<lambda_1>::operator()"),
            ("f<int (cdecl*)(int)>", "f<int (cdecl*)(int)>"),
            ("operator()", "operator()"),
            ("()", "()"),
            ("a)", "a)"),
            ("a))(", "a))("),
        ] {
            assert_eq!(without_arguments(function), short, "{function}");
        }
    }

    #[test]
    fn overloads_stay_apart() {
        let texts = ["m!Write(Int32)", "m!Write(String)", "m!Read(Int32)", "n!Write(Int32)"].map(str::to_owned);
        let functions: Vec<&str> = names(&texts).iter().map(|name| name.function).collect();
        assert_eq!(functions, ["Write(Int32)", "Write(String)", "Read", "Write"]);
    }
}
