//! Built-in layouts, for recordings that bring no schema: a table of text per provider, so that a new event is a line and not
//! code. `tables/README.md` describes the notation.

use std::sync::{Arc, LazyLock};

use rustc_hash::{FxHashMap, FxHashSet};

use super::event::{EventSchema, Origin};
use super::layout::{Count, Extent, Field, Group, Kind, Layout, Length, Meaning, Scalar, ValueMap};
use crate::Guid;

/// The tables. Where an event stands in several, the first counts.
const TABLES: &[(&str, &str)] = &[
    ("any.txt", include_str!("tables/any.txt")),
    ("dns_client.txt", include_str!("tables/dns_client.txt")),
    ("dotnet_private.txt", include_str!("tables/dotnet_private.txt")),
    ("dotnet_rundown.txt", include_str!("tables/dotnet_rundown.txt")),
    ("dotnet_runtime.txt", include_str!("tables/dotnet_runtime.txt")),
    ("dotnet_stress.txt", include_str!("tables/dotnet_stress.txt")),
    ("dotnet_tasks.txt", include_str!("tables/dotnet_tasks.txt")),
    ("http_service.txt", include_str!("tables/http_service.txt")),
    ("kernel_cache.txt", include_str!("tables/kernel_cache.txt")),
    ("kernel_config.txt", include_str!("tables/kernel_config.txt")),
    ("kernel_event_tracing.txt", include_str!("tables/kernel_event_tracing.txt")),
    ("kernel_file_events.txt", include_str!("tables/kernel_file_events.txt")),
    ("kernel_hypervisor.txt", include_str!("tables/kernel_hypervisor.txt")),
    ("kernel_io.txt", include_str!("tables/kernel_io.txt")),
    ("kernel_loader.txt", include_str!("tables/kernel_loader.txt")),
    ("kernel_memory.txt", include_str!("tables/kernel_memory.txt")),
    ("kernel_memory_events.txt", include_str!("tables/kernel_memory_events.txt")),
    ("kernel_network.txt", include_str!("tables/kernel_network.txt")),
    ("kernel_network_events.txt", include_str!("tables/kernel_network_events.txt")),
    ("kernel_perf.txt", include_str!("tables/kernel_perf.txt")),
    ("kernel_power.txt", include_str!("tables/kernel_power.txt")),
    ("kernel_power_states.txt", include_str!("tables/kernel_power_states.txt")),
    ("kernel_process.txt", include_str!("tables/kernel_process.txt")),
    ("kernel_process_events.txt", include_str!("tables/kernel_process_events.txt")),
    ("kernel_processor_power.txt", include_str!("tables/kernel_processor_power.txt")),
    ("tcpip.txt", include_str!("tables/tcpip.txt")),
    ("vs_diagnostics_hub.txt", include_str!("tables/vs_diagnostics_hub.txt")),
    ("win32k.txt", include_str!("tables/win32k.txt")),
    ("winsock_afd.txt", include_str!("tables/winsock_afd.txt")),
];

/// Stands for the name in the table of events that every provider may write.
const ANY_PROVIDER: &str = "*";

/// All built-in layouts.
pub(super) static BUILT_IN: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables::default();
    for (_, text) in TABLES {
        // A test holds the tables themselves to the notation.
        let _ = read(text, &mut tables);
    }
    for table in tables.providers.values_mut() {
        table.class = table.most_frequent_class();
    }
    // Events of any provider stand in the table of the zero GUID.
    let any = tables.providers.get(&Guid::ZERO);
    let any = |id| any.and_then(|table| table.find(id, 0).cloned());
    (tables.manifest_data, tables.string_only) = (any(0xfffe), any(0));
    tables
});

/// Providers and classes with their events.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) providers: FxHashMap<Guid, Table>,
    /// The events in which an EventSource writes its manifest.
    pub(super) manifest_data: Option<Arc<EventSchema>>,
    /// Events that consist of a text and nothing else.
    pub(super) string_only: Option<Arc<EventSchema>>,
}

/// One provider or class.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: Box<str>,
    /// Classic events, which are told apart by their opcodes, and not by ids.
    pub(super) is_class: bool,
    /// Before the slash in the names of most of its events.
    pub(super) class: Option<Box<str>>,
    pub(super) keywords: Vec<(u64, Box<str>)>,
    /// Ids and versions of events that recordings describe wrongly: what stands here counts.
    pub(super) corrections: FxHashSet<(u16, u8)>,
    /// By id (of a class: opcode) the versions of an event, ascending.
    pub(super) events: FxHashMap<u16, Vec<Arc<EventSchema>>>,
}

impl Table {
    fn most_frequent_class(&self) -> Option<Box<str>> {
        let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
        for schema in self.events.values().flatten() {
            if let Some((class, _)) = schema.event_name.as_deref().and_then(|name| name.split_once('/')) {
                *counts.entry(class).or_default() += 1;
            }
        }
        let largest = counts.into_iter().max_by_key(|(class, count)| (*count, std::cmp::Reverse(*class)));
        largest.map(|(class, _)| class.into())
    }

    /// The schema of an event: that of its version, else of the newest older one, since newer versions append.
    pub(super) fn find(&self, id: u16, version: u8) -> Option<&Arc<EventSchema>> {
        let versions = self.events.get(&id)?;
        versions.iter().rev().find(|schema| schema.version <= version)
    }
}

/// What is wrong with a line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) line: usize,
    pub(super) what: String,
}

/// Adds the events of one table.
pub(super) fn read(text: &str, tables: &mut Tables) -> Result<(), Mistake> {
    let mut maps: FxHashMap<String, Arc<ValueMap>> = FxHashMap::default();
    let mut current: Option<Guid> = None;
    for (number, line) in logical_lines(text) {
        let mistake = |what: String| Mistake { line: number, what };
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        match word {
            "provider" | "class" => {
                let (name, guid) = rest.trim().rsplit_once(' ').ok_or_else(|| mistake("name and GUID".to_owned()))?;
                let guid: Guid = guid.parse().map_err(|_| mistake(format!("GUID {guid}")))?;
                tables.providers.entry(guid).or_insert_with(|| Table {
                    name: name.trim().into(),
                    is_class: word == "class",
                    class: None,
                    keywords: Vec::new(),
                    corrections: FxHashSet::default(),
                    events: FxHashMap::default(),
                });
                current = Some(guid);
            }
            "keywords" => {
                let table = current.and_then(|guid| tables.providers.get_mut(&guid));
                let table = table.ok_or_else(|| mistake("keywords of no provider".to_owned()))?;
                table.keywords.extend(entries(rest).map_err(mistake)?);
            }
            "map" | "bits" => {
                let (name, rest) =
                    rest.trim().split_once(' ').ok_or_else(|| mistake("a map without values".to_owned()))?;
                let entries = entries(rest).map_err(mistake)?;
                let entries = entries.iter().map(|(value, name)| (*value, &**name));
                let map = ValueMap::new(name, word == "bits", entries);
                maps.insert(name.to_owned(), Arc::new(map));
            }
            _ => {
                let guid = current.ok_or_else(|| mistake("an event of no provider".to_owned()))?;
                let Some(table) = tables.providers.get_mut(&guid) else { continue };
                let (described, corrects) = events(&line, guid, table, &maps).map_err(mistake)?;
                for schema in described {
                    let key = if table.is_class { u16::from(schema.opcode) } else { schema.id };
                    if corrects {
                        table.corrections.insert((key, schema.version));
                    }
                    let versions = table.events.entry(key).or_default();
                    let place = versions.partition_point(|known| known.version < schema.version);
                    if versions.get(place).is_none_or(|known| known.version != schema.version) {
                        versions.insert(place, Arc::new(schema));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Lines with their numbers, without comments; what is indented belongs to the line above.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let content = line.trim();
        if content.is_empty() {
            continue;
        }
        match lines.last_mut() {
            Some((_, above)) if line.starts_with(char::is_whitespace) => {
                above.push(' ');
                above.push_str(content);
            }
            _ => lines.push((number, content.to_owned())),
        }
    }
    lines
}

/// `0=Name 1=Name …`
fn entries(text: &str) -> Result<Vec<(u64, Box<str>)>, String> {
    text.split_whitespace()
        .map(|entry| {
            let (value, name) = entry.split_once('=').ok_or_else(|| format!("{entry}: no ="))?;
            Ok((number(value).ok_or_else(|| format!("{value}: no number"))?, name.into()))
        })
        .collect()
}

/// `ids version names [unverified|correction]: fields`: one schema per id, and whether they correct what recordings say.
fn events(
    line: &str,
    provider: Guid,
    table: &Table,
    maps: &FxHashMap<String, Arc<ValueMap>>,
) -> Result<(Vec<EventSchema>, bool), String> {
    let (head, fields) = line.split_once(": ").or(line.strip_suffix(':').map(|head| (head, ""))).ok_or("no colon")?;
    let mut words = head.split_whitespace();
    let ids = words.next().ok_or("no id")?;
    let version = words.next().and_then(|word| word.strip_prefix('v')?.parse().ok()).ok_or("no version such as v0")?;
    let names = names(words.next().ok_or("no name")?);
    let (origin, corrects) = match words.next() {
        None => (Origin::BuiltIn, false),
        Some("unverified") => (Origin::Unverified, false),
        Some("correction") => (Origin::BuiltIn, true),
        Some(word) => return Err(format!("{word}: only unverified or correction may follow the name")),
    };
    let layout = LayoutReader { tokens: tokens(fields)?, at: 0, maps }.layout()?;
    if names.len() > 1 && names.len() != ids.split(',').count() {
        return Err(format!("{ids}: not as many names"));
    }
    let schemas: Result<Vec<EventSchema>, String> = ids
        .split(',')
        .zip(names.iter().cycle())
        .map(|(id, name)| {
            let id = number(id).and_then(|id| u16::try_from(id).ok()).ok_or_else(|| format!("{id}: no id"))?;
            let (id, opcode) = if table.is_class { (0, id as u8) } else { (id, 0) };
            Ok(EventSchema {
                provider,
                provider_name: Some(table.name.clone()).filter(|name| **name != *ANY_PROVIDER),
                id,
                version,
                opcode,
                event_name: Some(name.as_str().into()),
                layout: layout.clone(),
                origin,
                ..EventSchema::default()
            })
        })
        .collect();
    Ok((schemas?, corrects))
}

/// `Task/A,B`: `Task/A` and `Task/B`.
fn names(text: &str) -> Vec<String> {
    let task = text.rfind('/').map_or("", |slash| &text[..=slash]);
    text.split(',')
        .enumerate()
        .map(|(at, name)| if at == 0 { name.to_owned() } else { format!("{task}{name}") })
        .collect()
}

/// Names, types and marks: `Name : u32 ( Map ) [ 4 ]`, `Name : { … } [ Count ]`.
fn tokens(text: &str) -> Result<Vec<&str>, String> {
    const MARKS: &[char] = &[':', '(', ')', '[', ']', '{', '}'];
    let mut tokens = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = word;
        while let Some(at) = rest.find(MARKS) {
            if at > 0 {
                tokens.push(&rest[..at]);
            }
            tokens.push(&rest[at..=at]);
            rest = &rest[at + 1..];
        }
        if !rest.is_empty() {
            tokens.push(rest);
        }
    }
    Ok(tokens)
}

struct LayoutReader<'t> {
    tokens: Vec<&'t str>,
    at: usize,
    maps: &'t FxHashMap<String, Arc<ValueMap>>,
}

impl<'t> LayoutReader<'t> {
    fn layout(mut self) -> Result<Layout, String> {
        let mut groups: Vec<Group> = vec![Vec::new()];
        while self.at < self.tokens.len() {
            self.field(&mut groups, 0)?;
        }
        Ok(Layout::of_groups(groups))
    }

    fn field(&mut self, groups: &mut Vec<Group>, group: usize) -> Result<(), String> {
        let name = self.next()?;
        self.expect(":")?;
        let shown = if name == "_" { "" } else { name };
        let mut members = None;
        let mut field = if self.peek() == Some("{") {
            self.at += 1;
            groups.push(Vec::new());
            let inner = groups.len() - 1;
            while self.peek() != Some("}") {
                self.field(groups, inner)?;
            }
            self.at += 1;
            members = Some(inner);
            Field::new(shown, Kind::Struct { first: 0, members: 0 })
        } else {
            let word = self.next()?;
            let (scalar, meaning) = scalar(word).ok_or_else(|| format!("{name}: unknown type {word}"))?;
            Field { meaning, ..Field::new(shown, Kind::Scalar(scalar)) }
        };
        if self.peek() == Some("(") {
            self.at += 1;
            let map = self.next()?;
            field.map = Some(Arc::clone(self.maps.get(map).ok_or_else(|| format!("{name}: unknown map {map}"))?));
            self.expect(")")?;
        }
        if self.peek() == Some("[") {
            self.at += 1;
            let extent = self.next()?;
            self.expect("]")?;
            let of_group = groups.get(group).map(Vec::as_slice).unwrap_or_default();
            self.extent(&mut field, extent, of_group).ok_or_else(|| format!("{name}: no field {extent} before it"))?;
        }
        groups.get_mut(group).ok_or("no group")?.push((field, members));
        Ok(())
    }

    /// What stands in brackets: the length of texts and bytes, of everything else the count.
    fn extent(&self, field: &mut Field, extent: &str, group: &[(Field, Option<usize>)]) -> Option<()> {
        let is_length = matches!(field.kind, Kind::Scalar(Scalar::Wide(_) | Scalar::Narrow(_) | Scalar::Bytes(_)));
        let index = || group.iter().position(|(known, _)| &*known.name == extent);
        match (number(extent), is_length) {
            (Some(alignment), _) if matches!(field.kind, Kind::Scalar(Scalar::Padding(_))) => {
                let alignment = u8::try_from(alignment).ok().filter(|alignment| alignment.is_power_of_two())?;
                field.kind = Kind::Scalar(Scalar::Padding(alignment));
            }
            (Some(fixed), true) => field.length = Length::Fixed(u16::try_from(fixed).ok()?),
            (Some(fixed), false) => field.count = Count::Fixed(u16::try_from(fixed).ok()?),
            (None, true) => field.length = Length::Field(index()?),
            (None, false) if extent == "*" => field.count = Count::Rest,
            (None, false) => field.count = Count::Field(index()?),
        }
        Some(())
    }

    fn peek(&self) -> Option<&'t str> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Result<&'t str, String> {
        self.at += 1;
        self.tokens.get(self.at - 1).copied().ok_or_else(|| "the line ends inside a field".to_owned())
    }

    fn expect(&mut self, mark: &str) -> Result<(), String> {
        let found = self.next()?;
        if found == mark { Ok(()) } else { Err(format!("{found} stands where {mark} must")) }
    }
}

fn scalar(word: &str) -> Option<(Scalar, Meaning)> {
    let plain = |scalar| (scalar, Meaning::Plain);
    let hex = |scalar| (scalar, Meaning::Hex);
    Some(match word {
        "u8" => plain(Scalar::Unsigned(1)),
        "u16" => plain(Scalar::Unsigned(2)),
        "u32" => plain(Scalar::Unsigned(4)),
        "u64" => plain(Scalar::Unsigned(8)),
        "i8" => plain(Scalar::Signed(1)),
        "i16" => plain(Scalar::Signed(2)),
        "i32" => plain(Scalar::Signed(4)),
        "i64" => plain(Scalar::Signed(8)),
        "x8" => hex(Scalar::Unsigned(1)),
        "x16" => hex(Scalar::Unsigned(2)),
        "x32" => hex(Scalar::Unsigned(4)),
        "x64" => hex(Scalar::Unsigned(8)),
        "f32" => plain(Scalar::Float),
        "f64" => plain(Scalar::Double),
        "bool" => plain(Scalar::Bool(4)),
        "bool8" => plain(Scalar::Bool(1)),
        "p" => hex(Scalar::Pointer),
        "size" => plain(Scalar::Pointer),
        "w" => plain(Scalar::Wide(Extent::Terminated)),
        "a" => plain(Scalar::Narrow(Extent::Terminated)),
        "char16" => (Scalar::Unsigned(2), Meaning::Character),
        "guid" => plain(Scalar::Guid),
        "filetime" => plain(Scalar::FileTime),
        "systemtime" => plain(Scalar::SystemTime),
        "sid" => plain(Scalar::Sid),
        "usersid" => plain(Scalar::EmbeddedSid),
        "port" => (Scalar::Unsigned(2), Meaning::Port),
        "ip4" => (Scalar::Unsigned(4), Meaning::Ip4),
        "ip6" => (Scalar::Bytes(Extent::Terminated), Meaning::Ip6),
        "socket" => plain(Scalar::SocketAddress),
        "bytes" => plain(Scalar::Bytes(Extent::Rest)),
        "pad" => plain(Scalar::Padding(0)),
        _ => return None,
    })
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, Mistake, TABLES, Tables, read};
    use crate::Guid;
    use crate::schema::{Origin, Value};

    #[test]
    fn every_table_keeps_to_the_notation() {
        for (file, text) in TABLES {
            assert_eq!(read(text, &mut Tables::default()), Ok(()), "{file}");
        }
        assert!(BUILT_IN.manifest_data.is_some() && BUILT_IN.string_only.is_some());
    }

    const SAMPLE: &str = "
provider A-Provider 00000000-0000-0000-0000-000000000001
keywords 0x1=First 0x10=Second
map Kind 1=One 2=Two
bits Flags 1=A 4=C
7,8 v0 Task/Start: Count:u16 Kind:u8(Kind) Flags:x8(Flags)
   Names:w[3] _:u16 # not shown
   Items:{ Id:u8 Size:u8 Bytes:bytes[Size] }[Count] Rest:u8[*]
7 v2 Task/Start unverified: Count:u16
";

    #[test]
    fn a_table_describes_payloads() {
        let mut tables = Tables::default();
        read(SAMPLE, &mut tables).expect("it keeps to the notation");
        let table = &tables.providers[&Guid::from_u128(1)];
        assert_eq!(table.keywords, [(1, "First".into()), (16, "Second".into())]);
        let schema = table.find(8, 5).expect("version 0 holds on");
        assert_eq!((schema.name().as_str(), schema.origin), ("Task/Start", Origin::BuiltIn));
        assert_eq!(table.find(7, 3).map(|schema| schema.origin), Some(Origin::Unverified));
        let payload = [2, 0, 2, 13, b'x', 0, b'y', 0, 0, 0, 9, 9, 5, 1, 0xaa, 6, 2, 0xbb, 0xcc, 1, 2];
        let decoded = schema.layout.decode(&payload, 8);
        assert_eq!((decoded.rest, &decoded.stopped), (&[][..], &None));
        let shown: Vec<String> = decoded.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            shown,
            [
                "Count=2",
                "Kind=Two",
                "Flags=A|C|0x8",
                "Names=xy",
                "Items=[{Id=5, Size=1, Bytes=aa}, {Id=6, Size=2, Bytes=bbcc}]",
                "Rest=[1, 2]"
            ]
        );
        // A shorter payload of an older writer.
        let decoded = schema.layout.decode(&payload[..3], 8);
        assert_eq!((decoded.fields.len(), decoded.stopped), (2, None));
        // A cut one.
        let decoded = schema.layout.decode(&payload[..6], 8);
        assert_eq!(decoded.stopped.as_ref().map(|stop| stop.field), Some("Names"));
        assert_eq!(decoded.rest, &payload[4..6]);
        assert_eq!(decoded.get("kind"), Some(&Value::Named(2, "Two".to_owned())));
    }

    #[test]
    fn gaps_follow_the_pointer_size() {
        let text = "class C 00000000-0000-0000-0000-000000000001\n\
            1 v0 Gaps: Thread:u32 _:pad Object:p Kind:u8 _:pad[8] Time:u64 Kind2:u8 _:pad[8]\n";
        let mut tables = Tables::default();
        assert_eq!(read(text, &mut tables), Ok(()));
        let schema = tables.providers[&Guid::from_u128(1)].find(1, 0).expect("an event");
        for (pointer_size, object) in [(4, vec![2, 0, 0, 0]), (8, vec![0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0, 0])]
        {
            let mut payload = [vec![1, 0, 0, 0], object, vec![3]].concat();
            payload.resize(payload.len().next_multiple_of(8), 0xff);
            payload.extend([4, 0, 0, 0, 0, 0, 0, 0, 5]);
            // What stands behind the last field is written or not.
            for tail in [0, 7, 8] {
                let payload = [payload.clone(), vec![0xff; tail]].concat();
                let decoded = schema.layout.decode(&payload, pointer_size);
                let shown: Vec<String> = decoded.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
                assert_eq!(shown, ["Thread=1", "Object=0x2", "Kind=3", "Time=4", "Kind2=5"]);
                assert_eq!((decoded.rest.len(), decoded.stopped), (tail.saturating_sub(7), None));
            }
        }
    }

    #[test]
    fn classes_share_a_name_and_ids_a_line() {
        let text = "bits Flags 1=A 2=B 0x10=Low 0x30=High\n\
            class Some Kernel 00000000-0000-0000-0000-000000000001\n1,2 v0 Process/Start,Stop: Flags:x32(Flags)\n\
            class Some Kernel 00000000-0000-0000-0000-000000000002\n1,2 v0 Thread/Any unverified:\n";
        let mut tables = Tables::default();
        assert_eq!(read(text, &mut tables), Ok(()));
        let find = |class, opcode| {
            let table = &tables.providers[&Guid::from_u128(class)];
            assert_eq!(&*table.name, "Some Kernel");
            table.find(opcode, 3).expect("an event")
        };
        let names = [(1, 1), (1, 2), (2, 1), (2, 2)].map(|(class, opcode)| find(class, opcode).name());
        assert_eq!(names, ["Process/Start", "Process/Stop", "Thread/Any", "Thread/Any"]);
        let flags = find(1, 1).layout.fields()[0].map.clone().expect("a map");
        let named = [0x33, 0x91, 0x80].map(|value| flags.name_of(value));
        assert_eq!(named, [Some("A|B|High".to_owned()), Some("A|Low|0x80".to_owned()), None]);
        let too_many = read("class K 00000000-0000-0000-0000-000000000003\n1 v0 A,B:\n", &mut Tables::default());
        assert_eq!(too_many.map_err(|mistake| mistake.line), Err(2));
    }

    #[test]
    fn mistakes_name_their_line() {
        for (text, what) in [
            ("1 v0 Name: A:u8", "an event of no provider"),
            ("provider X 00000000-0000-0000-0000-000000000001\n1 v0 Name: A:u9", "A: unknown type u9"),
            ("provider X 00000000-0000-0000-0000-000000000001\n1 v0 Name: A:u8[B]", "A: no field B before it"),
            ("provider X 00000000-0000-0000-0000-000000000001\n1 Name: A:u8", "no version such as v0"),
            ("provider X not-a-guid", "GUID not-a-guid"),
        ] {
            let line = text.lines().count();
            assert_eq!(read(text, &mut Tables::default()), Err(Mistake { line, what: what.to_owned() }));
        }
    }
}
