//! A format file of tracefs (events/SYSTEM/NAME/format), as its text.

use super::field::Field;
use crate::cursor::text;

/// Fields that are kept per event; the widest of the kernel has some dozens.
const MAX_FIELDS: usize = 4096;

/// The format of one tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormat {
    /// Its system, such as `sched`.
    pub system: String,
    /// Its name, such as `sched_switch`.
    pub name: String,
    /// Its number while the machine ran: the `config` of its event.
    pub id: u64,
    /// Its fields, common ones first.
    pub fields: Vec<Field>,
    /// How the kernel prints it: letters of states and names of flags stand here.
    pub print_format: String,
}

impl EventFormat {
    /// Reads a format file; `None` without a name or number.
    #[must_use]
    pub fn parse(system: &[u8], file: &[u8]) -> Option<Self> {
        let (mut name, mut id, mut print_format) = (None, None, String::new());
        for line in file.split(|&byte| byte == b'\n') {
            if let Some(value) = line.strip_prefix(b"name:") {
                name = Some(text(value.trim_ascii()));
            } else if let Some(value) = line.strip_prefix(b"ID:") {
                id = str::from_utf8(value.trim_ascii()).ok().and_then(|text| text.parse().ok());
            } else if let Some(value) = line.strip_prefix(b"print fmt:") {
                print_format = text(value.trim_ascii());
            }
        }
        Some(Self { system: text(system), name: name?, id: id?, fields: fields_of(file), print_format })
    }

    /// A field by its name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// The lines of a format file that describe fields.
pub(super) fn fields_of(file: &[u8]) -> Vec<Field> {
    let lines = file.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let fields = lines.filter(|line| line.starts_with(b"field")).filter_map(|line| Field::parse(&text(line)));
    fields.take(MAX_FIELDS).collect()
}
