//! Types of decorated names: of arguments, results, and arguments of templates.

use super::names::Parser;

/// A type has a part before a name and one behind it.
#[derive(Clone, Debug, Default)]
pub(super) struct Type {
    before: String,
    behind: String,
    /// Whether it is a function or an array, at which pointers stand in parentheses.
    compound: bool,
}

/// What follows the name of a symbol.
#[derive(Debug, Default)]
pub(super) struct Encoding {
    pub(super) arguments: Option<String>,
    /// What a function gives.
    pub(super) result: Option<String>,
}

impl Type {
    fn plain(before: String) -> Self {
        Self { before, ..Self::default() }
    }

    pub(super) fn whole(&self) -> String {
        format!("{}{}", self.before, self.behind)
    }

    /// Puts a sign of pointers behind the first part.
    fn pointed(mut self, sign: &str) -> Self {
        if self.compound {
            self.before.push_str(" (");
            self.behind.insert(0, ')');
        } else if !self.before.ends_with(['*', '&']) {
            self.before.push(' ');
        }
        self.before.push_str(sign);
        self.compound = false;
        self
    }

    fn qualified(mut self, qualifiers: &str) -> Self {
        if !qualifiers.is_empty() && !self.compound {
            if !self.before.ends_with(['*', '&']) {
                self.before.push(' ');
            }
            self.before.push_str(qualifiers);
        }
        self
    }
}

/// By the letters A to D, or Q to T for members.
fn qualifiers(letter: char) -> Option<&'static str> {
    Some(match letter {
        'A' | 'Q' => "",
        'B' | 'R' => "const",
        'C' | 'S' => "volatile",
        'D' | 'T' => "const volatile",
        _ => return None,
    })
}

impl Parser<'_> {
    /// The type of a symbol, behind its name.
    pub(super) fn encoding(&mut self) -> Option<Encoding> {
        let letter = self.letter()?;
        match letter {
            // Functions of C, and data: nothing is said of arguments.
            '0'..='9' => return Some(Encoding::default()),
            // Adjustors of virtual functions, and calls through a table.
            '$' => match self.letter()? {
                '0'..='5' => {
                    self.number()?;
                    self.number()?;
                    self.this_qualifiers()?;
                }
                'R' => {
                    self.letter()?;
                    for _ in 0..4 {
                        self.number()?;
                    }
                    self.this_qualifiers()?;
                }
                'B' => return Some(Encoding::default()),
                _ => return None,
            },
            'Y' | 'Z' | 'C' | 'D' | 'K' | 'L' | 'S' | 'T' => {}
            'G' | 'H' | 'O' | 'P' | 'W' | 'X' => {
                self.number()?;
                self.this_qualifiers()?;
            }
            'A'..='V' => self.this_qualifiers()?,
            _ => return None,
        }
        let function = self.function()?;
        Some(Encoding { arguments: Some(function.arguments), result: function.result.map(|result| result.whole()) })
    }

    fn this_qualifiers(&mut self) -> Option<()> {
        self.pointer_qualifiers();
        qualifiers(self.letter()?).map(|_| ())
    }

    /// 64 bits, unaligned, restricted; of member functions also for which values.
    fn pointer_qualifiers(&mut self) {
        while ["E", "F", "I", "G", "H"].iter().any(|letter| self.take(letter)) {}
    }

    /// Calling convention, result, arguments, exceptions.
    fn function(&mut self) -> Option<Function> {
        self.nested(|parser| {
            parser.letter().filter(char::is_ascii_uppercase)?;
            let result = if parser.take("@") { None } else { Some(parser.type_of_result()?) };
            let arguments = parser.arguments()?;
            // What it may throw: anything, or nothing.
            (parser.take("_E") || parser.take("Z")).then_some(())?;
            Some(Function { arguments, result })
        })
    }

    /// A type that may have qualifiers of its own.
    pub(super) fn type_of_result(&mut self) -> Option<Type> {
        if self.take("?") {
            let own = qualifiers(self.letter()?)?;
            return Some(self.kind()?.qualified(own));
        }
        self.kind()
    }

    fn arguments(&mut self) -> Option<String> {
        if self.take("X") {
            return Some("()".to_owned());
        }
        let mut list = String::from("(");
        loop {
            if self.take("@") {
                break;
            }
            if list.len() > 1 {
                list.push_str(", ");
            }
            if self.take("Z") {
                list.push_str("...");
                break;
            }
            if let Some(digit) = self.digit() {
                let known = self.references.types.get(digit)?.clone();
                list.push_str(&self.written(known)?);
                continue;
            }
            let before = self.rest().len();
            let argument = self.type_of_result()?.whole();
            // Types of one letter are as short as a reference.
            if before - self.rest().len() > 1 && self.references.types.len() < 10 {
                self.references.types.push(argument.clone());
            }
            list.push_str(&self.written(argument)?);
        }
        list.push(')');
        self.written(list)
    }

    /// Up to their end; packs of arguments may be empty.
    pub(super) fn template_arguments(&mut self) -> Option<String> {
        let mut list: Vec<String> = Vec::new();
        while !self.take("@") {
            if ["$S", "$$V", "$$$V", "$$Z"].iter().any(|empty| self.take(empty)) {
                continue;
            }
            let argument = if self.take("$$Y") {
                self.class_name()?
            } else if self.take("$$B") {
                self.kind()?.whole()
            } else if self.take("$$C") {
                let own = qualifiers(self.letter()?)?;
                self.kind()?.qualified(own).whole()
            } else if self.take("$M") {
                // The type of a constant whose type was deduced.
                self.kind()?;
                self.constant()?
            } else if self.rest().starts_with('$') && !self.rest().starts_with("$$") {
                self.take("$");
                self.constant()?
            } else {
                self.type_of_result()?.whole()
            };
            list.push(self.written(argument)?);
        }
        self.written(list.join(","))
    }

    fn constant(&mut self) -> Option<String> {
        Some(match self.letter()? {
            '0' => self.number()?.to_string(),
            '1' => format!("&{}", self.symbol()?.name),
            'E' => self.symbol()?.name,
            kind @ ('H' | 'I' | 'J') => {
                // A pointer to a member function and how its object is found.
                let name = self.symbol()?.name;
                for _ in 'H'..=kind {
                    self.number()?;
                }
                format!("{{{name}}}")
            }
            'F' | 'G' => {
                let (a, b) = (self.number()?, self.number()?);
                format!("{{{a},{b}}}")
            }
            _ => return None,
        })
    }

    /// A type without qualifiers of its own.
    fn kind(&mut self) -> Option<Type> {
        self.nested(Self::kind_within)
    }

    fn kind_within(&mut self) -> Option<Type> {
        if let Some(name) = self.built_in() {
            return Some(Type::plain(name.to_owned()));
        }
        for (letters, sign) in [
            ("$$Q", "&&"),
            ("$$R", "&&volatile"),
            ("A", "&"),
            ("B", "&volatile"),
            ("P", "*"),
            ("Q", "*const"),
            ("R", "*volatile"),
            ("S", "*const volatile"),
        ] {
            if self.take(letters) {
                return self.pointer(sign);
            }
        }
        if self.take("$$A6") {
            return self.function().map(Function::kind);
        }
        if self.take("$$A8@@") {
            self.this_qualifiers()?;
            return self.function().map(Function::kind);
        }
        if self.take("$$T") {
            return Some(Type::plain("std::nullptr_t".to_owned()));
        }
        if self.take("$$B") {
            return self.kind();
        }
        if self.take("$$C") {
            let own = qualifiers(self.letter()?)?;
            return Some(self.kind()?.qualified(own));
        }
        match self.letter()? {
            'T' | 'U' | 'V' => self.class_name().map(Type::plain),
            'W' => {
                self.digit()?;
                self.class_name().map(Type::plain)
            }
            'Y' => self.array(),
            _ => None,
        }
    }

    fn array(&mut self) -> Option<Type> {
        let mut sizes = String::new();
        for _ in 0..self.number()? {
            let size = format!("[{}]", self.number()?);
            sizes.push_str(&self.written(size)?);
        }
        let mut of = self.type_of_result()?;
        of.behind.insert_str(0, &sizes);
        of.compound = true;
        Some(of)
    }

    fn pointer(&mut self, sign: &str) -> Option<Type> {
        if self.take("6") {
            return Some(self.function()?.kind().pointed(sign));
        }
        if self.take("8") {
            let class = self.class_name()?;
            self.this_qualifiers()?;
            let function = self.function()?.kind();
            return Some(function.pointed(&format!("{class}::{sign}")));
        }
        self.pointer_qualifiers();
        let letter = self.letter()?;
        let to = qualifiers(letter)?;
        let class = if letter >= 'Q' { Some(self.class_name()?) } else { None };
        let kind = self.kind()?.qualified(to);
        let sign = class.map_or_else(|| sign.to_owned(), |class| format!("{class}::{sign}"));
        let pointer = kind.pointed(&sign);
        self.written(pointer.before.clone())?;
        Some(pointer)
    }

    fn built_in(&mut self) -> Option<&'static str> {
        for (letters, name) in BUILT_IN {
            if self.take(letters) {
                return Some(name);
            }
        }
        None
    }
}

/// A function's type.
struct Function {
    arguments: String,
    /// None of constructors and destructors.
    result: Option<Type>,
}

impl Function {
    fn kind(self) -> Type {
        let result = self.result.unwrap_or_default();
        Type { before: result.before, behind: format!("{}{}", self.arguments, result.behind), compound: true }
    }
}

const BUILT_IN: [(&str, &str); 29] = [
    ("C", "signed char"),
    ("D", "char"),
    ("E", "unsigned char"),
    ("F", "short"),
    ("G", "unsigned short"),
    ("H", "int"),
    ("I", "unsigned int"),
    ("J", "long"),
    ("K", "unsigned long"),
    ("M", "float"),
    ("N", "double"),
    ("O", "long double"),
    ("X", "void"),
    ("_D", "__int8"),
    ("_E", "unsigned __int8"),
    ("_F", "__int16"),
    ("_G", "unsigned __int16"),
    ("_H", "__int32"),
    ("_I", "unsigned __int32"),
    ("_J", "__int64"),
    ("_K", "unsigned __int64"),
    ("_L", "__int128"),
    ("_M", "unsigned __int128"),
    ("_N", "bool"),
    ("_P", "auto"),
    ("_Q", "char8_t"),
    ("_S", "char16_t"),
    ("_U", "char32_t"),
    ("_W", "wchar_t"),
];
