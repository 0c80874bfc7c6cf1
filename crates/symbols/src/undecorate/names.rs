//! Names: scopes, templates, operators.

/// Of nested names and types.
const MAX_DEPTH: usize = 64;
/// Bytes that may be written for one name, what is written and used again included.
const BUDGET: usize = 1 << 16;
/// Names, and types of arguments, that can be referred to.
const MAX_REFERENCES: usize = 10;

/// A symbol's name and, of a function, its argument list.
#[derive(Debug)]
pub(super) struct Symbol {
    pub(super) name: String,
    pub(super) arguments: Option<String>,
}

/// Names and types that were met.
#[derive(Debug, Default)]
pub(super) struct References {
    names: Vec<String>,
    pub(super) types: Vec<String>,
}

/// Reads a decorated name from left to right; `None` where it is none.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    rest: &'a str,
    pub(super) references: References,
    depth: usize,
    budget: usize,
}

/// The first part of a name.
enum First {
    Name(String),
    /// The name of the class around it.
    Constructor,
    Destructor,
    /// To the type that the function gives.
    Conversion,
}

/// Operators by the letter behind the question mark.
const OPERATORS: [(&str, &str); 71] = [
    ("2", "operator new"),
    ("3", "operator delete"),
    ("4", "operator="),
    ("5", "operator>>"),
    ("6", "operator<<"),
    ("7", "operator!"),
    ("8", "operator=="),
    ("9", "operator!="),
    ("A", "operator[]"),
    ("C", "operator->"),
    ("D", "operator*"),
    ("E", "operator++"),
    ("F", "operator--"),
    ("G", "operator-"),
    ("H", "operator+"),
    ("I", "operator&"),
    ("J", "operator->*"),
    ("K", "operator/"),
    ("L", "operator%"),
    ("M", "operator<"),
    ("N", "operator<="),
    ("O", "operator>"),
    ("P", "operator>="),
    ("Q", "operator,"),
    ("R", "operator()"),
    ("S", "operator~"),
    ("T", "operator^"),
    ("U", "operator|"),
    ("V", "operator&&"),
    ("W", "operator||"),
    ("X", "operator*="),
    ("Y", "operator+="),
    ("Z", "operator-="),
    ("_0", "operator/="),
    ("_1", "operator%="),
    ("_2", "operator>>="),
    ("_3", "operator<<="),
    ("_4", "operator&="),
    ("_5", "operator|="),
    ("_6", "operator^="),
    ("_7", "`vftable'"),
    ("_8", "`vbtable'"),
    ("_9", "`vcall'"),
    ("_A", "`typeof'"),
    ("_B", "`local static guard'"),
    ("_D", "`vbase destructor'"),
    ("_E", "`vector deleting destructor'"),
    ("_F", "`default constructor closure'"),
    ("_G", "`scalar deleting destructor'"),
    ("_H", "`vector constructor iterator'"),
    ("_I", "`vector destructor iterator'"),
    ("_J", "`vector vbase constructor iterator'"),
    ("_K", "`virtual displacement map'"),
    ("_L", "`eh vector constructor iterator'"),
    ("_M", "`eh vector destructor iterator'"),
    ("_N", "`eh vector vbase constructor iterator'"),
    ("_O", "`copy constructor closure'"),
    ("_S", "`local vftable'"),
    ("_T", "`local vftable constructor closure'"),
    ("_U", "operator new[]"),
    ("_V", "operator delete[]"),
    ("_X", "`placement delete closure'"),
    ("_Y", "`placement delete[] closure'"),
    ("__A", "`managed vector constructor iterator'"),
    ("__B", "`managed vector destructor iterator'"),
    ("__C", "`EH vector copy constructor iterator'"),
    ("__D", "`EH vector vbase copy constructor iterator'"),
    ("__G", "`vector copy constructor iterator'"),
    ("__J", "`local static thread guard'"),
    ("__L", "operator co_await"),
    ("__M", "operator<=>"),
];

impl<'a> Parser<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        Self { rest: name, references: References::default(), depth: 0, budget: BUDGET }
    }

    /// A whole symbol, which begins with a question mark.
    pub(super) fn symbol(&mut self) -> Option<Symbol> {
        self.nested(|parser| {
            parser.take("?").then_some(())?;
            let first = parser.first()?;
            let scopes = parser.scopes()?;
            let (conversion, name) = match first {
                First::Name(name) => (false, name),
                First::Constructor => (false, scopes.first()?.clone()),
                First::Destructor => (false, format!("~{}", scopes.first()?)),
                First::Conversion => (true, String::new()),
            };
            let encoding = parser.encoding()?;
            let name = if conversion { format!("operator {}", encoding.result?) } else { name };
            let name = parser.qualified(name, &scopes)?;
            Some(Symbol { name, arguments: encoding.arguments })
        })
    }

    /// A name with its scopes, as classes have it.
    pub(super) fn class_name(&mut self) -> Option<String> {
        self.nested(|parser| {
            let first = parser.part()?;
            let scopes = parser.scopes()?;
            parser.qualified(first, &scopes)
        })
    }

    /// Parts stand from the inner to the outer one.
    fn qualified(&mut self, name: String, scopes: &[String]) -> Option<String> {
        let mut whole = String::new();
        for scope in scopes.iter().rev() {
            whole.push_str(scope);
            whole.push_str("::");
        }
        whole.push_str(&name);
        self.written(whole)
    }

    /// What may stand at the beginning of a symbol.
    fn first(&mut self) -> Option<First> {
        if self.take("?$") {
            // A function's own template is nothing that is referred to.
            return self.template().map(First::Name);
        }
        if !self.take("?") {
            return self.part().map(First::Name);
        }
        if self.take("0") {
            return Some(First::Constructor);
        }
        if self.take("1") {
            return Some(First::Destructor);
        }
        if self.take("B") {
            return Some(First::Conversion);
        }
        for (letters, what) in [("__E", "dynamic initializer"), ("__F", "dynamic atexit destructor")] {
            if self.take(letters) {
                let of = if self.rest.starts_with('?') {
                    let symbol = self.symbol()?;
                    self.take("@");
                    symbol.name
                } else {
                    self.simple()?
                };
                return Some(First::Name(format!("`{what} for '{of}''")));
            }
        }
        if self.take("__K") {
            return Some(First::Name(format!("operator \"\"{}", self.simple()?)));
        }
        if self.rest.starts_with("_R") {
            return self.run_time_type().map(First::Name);
        }
        // Longer ones first: `_` begins no operator of one letter.
        let (letters, name) = OPERATORS.iter().find(|(letters, _)| self.rest.starts_with(letters))?;
        self.rest = &self.rest[letters.len()..];
        Some(First::Name((*name).to_owned()))
    }

    fn run_time_type(&mut self) -> Option<String> {
        self.take("_R");
        let name = match self.letter()? {
            '0' => format!("{} `RTTI Type Descriptor'", self.type_of_result()?.whole()),
            '1' => {
                for _ in 0..4 {
                    self.number()?;
                }
                "`RTTI Base Class Descriptor'".to_owned()
            }
            '2' => "`RTTI Base Class Array'".to_owned(),
            '3' => "`RTTI Class Hierarchy Descriptor'".to_owned(),
            '4' => "`RTTI Complete Object Locator'".to_owned(),
            _ => return None,
        };
        Some(name)
    }

    /// The scopes around a name, inner ones first, up to their end.
    fn scopes(&mut self) -> Option<Vec<String>> {
        let mut scopes = Vec::new();
        while !self.take("@") {
            let scope = if self.take("?A") {
                // What follows tells compilers' files apart.
                let id = self.until_at()?;
                self.remember(&format!("?A{id}"));
                "`anonymous namespace'".to_owned()
            } else if self.rest.starts_with("?$") || !self.take("?") {
                self.part()?
            } else if self.rest.starts_with('?') {
                self.enclosing_function()?
            } else if self.take("Q") {
                // An interface that is implemented by name.
                format!("[{}]", self.part()?)
            } else {
                let number = self.number()?;
                if self.rest.starts_with("??") {
                    scopes.push(format!("`{number}'"));
                    self.take("?");
                    self.enclosing_function()?
                } else {
                    format!("`{number}'")
                }
            };
            scopes.push(self.written(scope)?);
        }
        Some(scopes)
    }

    /// A function that a name is local to.
    fn enclosing_function(&mut self) -> Option<String> {
        let symbol = self.symbol()?;
        Some(format!("`{}{}'", symbol.name, symbol.arguments.unwrap_or_default()))
    }

    /// One part of a name: a reference, a template, or letters.
    fn part(&mut self) -> Option<String> {
        if let Some(digit) = self.digit() {
            let name = self.references.names.get(digit)?.clone();
            let name = if name.starts_with("?A") { "`anonymous namespace'".to_owned() } else { name };
            return self.written(name);
        }
        if self.take("?$") {
            let name = self.template()?;
            self.remember(&name);
            return Some(name);
        }
        self.simple()
    }

    fn template(&mut self) -> Option<String> {
        // What is referred to within is met within.
        let outer = std::mem::take(&mut self.references);
        let inner = self.nested(|parser| {
            let name = match parser.rest.strip_prefix('?') {
                Some(_) => match parser.first()? {
                    First::Name(name) => name,
                    First::Constructor | First::Destructor | First::Conversion => return None,
                },
                None => parser.simple()?,
            };
            let arguments = parser.template_arguments()?;
            let end = if arguments.ends_with('>') { " >" } else { ">" };
            parser.written(format!("{name}<{arguments}{end}"))
        });
        self.references = outer;
        inner
    }

    /// Letters up to an at sign.
    fn simple(&mut self) -> Option<String> {
        let name = self.until_at().filter(|name| !name.is_empty() && !name.starts_with('?'))?;
        self.remember(name);
        self.written(name.to_owned())
    }

    fn until_at(&mut self) -> Option<&'a str> {
        let (name, rest) = self.rest.split_once('@')?;
        self.rest = rest;
        Some(name)
    }

    fn remember(&mut self, name: &str) {
        let names = &mut self.references.names;
        if names.len() < MAX_REFERENCES && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }

    /// Digits stand for 1 to 10, letters from A to P for hexadecimal digits.
    pub(super) fn number(&mut self) -> Option<i64> {
        let sign = if self.take("?") { -1 } else { 1 };
        if let Some(digit) = self.digit() {
            return Some(sign * (i64::try_from(digit).ok()? + 1));
        }
        let mut number = 0_u64;
        loop {
            match self.letter()? {
                '@' => return Some((number as i64).wrapping_mul(sign)),
                letter @ 'A'..='P' => number = number << 4 | (u64::from(letter) - u64::from('A')),
                _ => return None,
            }
        }
    }

    /// Takes a part of a fixed text.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn letter(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    /// What comes next, if it is a digit.
    pub(super) fn digit(&mut self) -> Option<usize> {
        let digit = self.rest.chars().next()?.to_digit(10)?;
        self.rest = &self.rest[1..];
        usize::try_from(digit).ok()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Counts what was written.
    pub(super) fn written(&mut self, text: String) -> Option<String> {
        self.budget = self.budget.checked_sub(text.len())?;
        Some(text)
    }

    /// Reads something that may hold the like of itself.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }
}
