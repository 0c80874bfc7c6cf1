//! The rules of several files as one set, with the tags that they name.

use rustc_hash::FxHashMap;

use super::file::{self, Content, Hint, Nesting, TagFileError, TagWarning};

/// The rules that apply where a user has none: what Windows, Linux and the usual runtimes and virus scanners do.
pub const BUILT_IN: &str = include_str!("default.stacktags");

/// Counts changes of how rules are read: the same files then mean something else, so what was computed before is void.
const MEANING: u8 = 1;

/// Entry points of all files together.
const MAX_ENTRY_POINTS: usize = 20_000;

/// A tag as a dense number: within a [`TagSet`] for those that files name, beyond them for those that hint tags find in stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagId(pub u32);

impl TagId {
    /// The tag of what has no stack.
    pub const NO_STACK: Self = Self(0);
    /// The tag of stacks that no rule matches.
    pub const OTHER: Self = Self(1);
}

/// A file of rules, in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagFile<'a> {
    /// What it is called in errors and warnings.
    pub name: &'a str,
    /// Its bytes: XML in UTF-8, or in UTF-16 with a byte order mark.
    pub content: &'a [u8],
}

/// What a tag is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// Full name.
    pub(crate) name: String,
    /// The tag whose name is in front.
    pub(crate) parent: Option<TagId>,
}

/// A rule of a set.
#[derive(Clone, Debug)]
pub(crate) struct SetRule {
    pub(crate) tag: TagId,
    pub(crate) priority: i32,
    /// Whether it takes over a higher priority of the tag whose frame it takes.
    pub(crate) takes_over: bool,
    /// The rule below whose match it matches: one with a smaller number.
    pub(crate) parent: Option<u32>,
    /// How many parents there are: deeper ones come first at the same frame.
    pub(crate) level: u32,
    pub(crate) hint: Option<Hint>,
}

/// An entry point of a set.
#[derive(Clone, Debug)]
pub(crate) struct SetEntryPoint {
    pub(crate) module: String,
    pub(crate) method: String,
    pub(crate) rule: u32,
}

/// The rules of all files, in the order of the files.
#[derive(Clone, Debug)]
pub struct TagSet {
    tags: Vec<Tag>,
    by_name: FxHashMap<String, TagId>,
    rules: Vec<SetRule>,
    entry_points: Vec<SetEntryPoint>,
    warnings: Vec<TagWarning>,
    hash: u64,
}

impl TagSet {
    /// Reads files. Tags of the same name, in whatever file, are one tag.
    ///
    /// # Errors
    /// One of them is no well-formed XML, no file of stack tags, or larger than any tool would write; the error says where.
    pub fn read(files: &[TagFile<'_>], nesting: Nesting) -> Result<Self, TagFileError> {
        let mut set = Building::new();
        let mut hash = Fnv::default();
        hash.add(&[MEANING, u8::from(nesting == Nesting::Children)]);
        for file in files {
            hash.add(&(file.content.len() as u64).to_le_bytes());
            hash.add(file.content);
            set.add(file, file::read(file.name, file.content, nesting)?)?;
        }
        Ok(Self {
            tags: set.tags,
            by_name: set.by_name,
            rules: set.rules,
            entry_points: set.entry_points,
            warnings: set.warnings,
            hash: hash.0,
        })
    }

    /// The rules that apply where a user has none.
    ///
    /// # Errors
    /// None: a test reads them.
    pub fn built_in(nesting: Nesting) -> Result<Self, TagFileError> {
        Self::read(&[TagFile { name: "built-in default.stacktags", content: BUILT_IN.as_bytes() }], nesting)
    }

    /// What the set is made of, in 16 hex digits: the bytes of the files, their order and how they are read. What was computed
    /// with a set of the same hash need not be computed anew. It recognises a changed file, not a forged one.
    #[must_use]
    pub fn hash(&self) -> String {
        format!("{:016x}", self.hash)
    }

    /// What was passed over in the files.
    #[must_use]
    pub fn warnings(&self) -> &[TagWarning] {
        &self.warnings
    }

    /// All tags but those that hint tags find in stacks: `No stack`, `Other`, and what the files name, parents included, in the
    /// order of the files.
    pub fn tags(&self) -> impl ExactSizeIterator<Item = TagId> {
        (0..number(self.tags.len())).map(TagId)
    }

    /// The full name of a tag, `Parent\Child`; empty for a number that the set has not given.
    #[must_use]
    pub fn name(&self, tag: TagId) -> &str {
        self.tags.get(tag.0 as usize).map_or("", |tag| &tag.name)
    }

    /// The tag with this full name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<TagId> {
        self.by_name.get(name).copied()
    }

    /// The tag whose name is in front of this one's.
    #[must_use]
    pub fn parent(&self, tag: TagId) -> Option<TagId> {
        self.tags.get(tag.0 as usize)?.parent
    }

    /// Whether some tags match only below others, which then show the total.
    #[must_use]
    pub fn has_children(&self) -> bool {
        self.rules.iter().any(|rule| rule.parent.is_some())
    }

    pub(crate) fn tag_table(&self) -> &[Tag] {
        &self.tags
    }

    pub(crate) fn rules(&self) -> &[SetRule] {
        &self.rules
    }

    pub(crate) fn entry_points(&self) -> &[SetEntryPoint] {
        &self.entry_points
    }
}

struct Building {
    tags: Vec<Tag>,
    by_name: FxHashMap<String, TagId>,
    rules: Vec<SetRule>,
    entry_points: Vec<SetEntryPoint>,
    warnings: Vec<TagWarning>,
}

impl Building {
    fn new() -> Self {
        let mut building = Self {
            tags: Vec::new(),
            by_name: FxHashMap::default(),
            rules: Vec::new(),
            entry_points: Vec::new(),
            warnings: Vec::new(),
        };
        // In the order of their numbers.
        building.tag("No stack".to_owned(), None);
        building.tag("Other".to_owned(), None);
        building
    }

    fn add(&mut self, file: &TagFile<'_>, content: Content) -> Result<(), TagFileError> {
        self.warnings.extend(content.warnings);
        let mut tags: Vec<TagId> = Vec::with_capacity(content.tags.len());
        for tag in content.tags {
            // Parents stand in front.
            let parent = tag.parent.and_then(|parent| tags.get(parent).copied());
            tags.push(self.tag(tag.name, parent));
        }
        let first = self.rules.len();
        for rule in content.rules {
            let Some(&tag) = tags.get(rule.tag) else { continue };
            let parent = rule.parent.map(|parent| parent + first);
            let level = parent.and_then(|parent| self.rules.get(parent)).map_or(0, |parent| parent.level + 1);
            let place = number(self.rules.len());
            let entry_points = rule.entry_points.into_iter();
            self.entry_points.extend(entry_points.map(|entry| SetEntryPoint {
                module: entry.module,
                method: entry.method,
                rule: place,
            }));
            self.rules.push(SetRule {
                tag,
                priority: rule.priority,
                takes_over: rule.takes_over,
                parent: parent.map(number),
                level,
                hint: rule.hint,
            });
        }
        if self.entry_points.len() > MAX_ENTRY_POINTS {
            let problem = format!("the files have more than {MAX_ENTRY_POINTS} entry points");
            return Err(TagFileError { file: file.name.to_owned(), line: 1, column: 1, problem });
        }
        Ok(())
    }

    /// The tag of a full name.
    fn tag(&mut self, name: String, parent: Option<TagId>) -> TagId {
        if let Some(&tag) = self.by_name.get(&name) {
            return tag;
        }
        let tag = TagId(number(self.tags.len()));
        self.by_name.insert(name.clone(), tag);
        self.tags.push(Tag { name, parent });
        tag
    }
}

/// Numbers stay below 2^32: files are not that long.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// FNV-1a, 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
