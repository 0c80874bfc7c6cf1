//! Identities of binaries and their symbol files.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// A GUID; shown lower case with dashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(Uuid);

/// The PDB of an image: name, GUID and age, as the image's CodeView record says (RSDS).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PdbId {
    /// File name, without its path.
    pub name: String,
    /// GUID of the link.
    pub guid: Guid,
    /// How often the PDB was written since.
    pub age: u32,
}

/// An image without such a record: name, time stamp and size from its PE header.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageId {
    /// File name, without its path.
    pub name: String,
    /// `TimeDateStamp` of the file header.
    pub time_date_stamp: u32,
    /// `SizeOfImage` of the optional header, bytes.
    pub size: u32,
}

/// The build id of an ELF file (`NT_GNU_BUILD_ID`), most often 20 bytes; shown as lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId(pub Vec<u8>);

impl Guid {
    /// From the 16 bytes of a file: three little-endian numbers and eight bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes_le(bytes))
    }

    /// From the digits as they are shown: `0xcc110556_a091_4d38_9fec_25ab9a351a6a`.
    pub(crate) const fn from_u128(shown: u128) -> Self {
        Self(Uuid::from_u128(shown))
    }

    /// Its digits without dashes, upper case: as in the paths of symbol servers.
    #[must_use]
    pub fn digits(&self) -> String {
        format!("{:X}", self.0.simple())
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// No GUID, or no build id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a {0}")]
pub struct NoIdentity(&'static str);

impl FromStr for Guid {
    type Err = NoIdentity;

    /// 32 hex digits of either case, without dashes, or with dashes and perhaps braces.
    fn from_str(text: &str) -> Result<Self, NoIdentity> {
        Uuid::try_parse(text).map(Self).map_err(|_| NoIdentity("GUID"))
    }
}

impl PdbId {
    /// GUID and age as in the paths of symbol servers: upper-case digits, the age without leading zeros.
    #[must_use]
    pub fn digits(&self) -> String {
        format!("{}{:X}", self.guid.digits(), self.age)
    }
}

impl ImageId {
    /// Time stamp and size as in the paths of symbol servers: eight upper-case digits, then lower-case ones without leading
    /// zeros.
    #[must_use]
    pub fn digits(&self) -> String {
        format!("{:08X}{:x}", self.time_date_stamp, self.size)
    }
}

impl BuildId {
    /// What Breakpad knows an ELF file by: the first 16 bytes as a GUID, and age 0; without a name.
    #[must_use]
    pub fn as_breakpad(&self) -> PdbId {
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(&self.0) {
            *to = *from;
        }
        PdbId { name: String::new(), guid: Guid::from_bytes(bytes), age: 0 }
    }

    /// Whether a file with this build id may be the one that was recorded with the other. Recorders have room for 20 bytes, which they fill up
    /// with zeros: older ones do not say how many count.
    #[must_use]
    pub fn is_recorded_as(&self, recorded: &Self) -> bool {
        const ROOM: usize = 20;
        let kept = |id: &Self| -> [u8; ROOM] { std::array::from_fn(|at| id.0.get(at).copied().unwrap_or(0)) };
        !self.0.is_empty() && kept(self) == kept(recorded)
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for BuildId {
    type Err = NoIdentity;

    /// Between 2 and 64 bytes.
    fn from_str(text: &str) -> Result<Self, NoIdentity> {
        let bytes = hex(text).filter(|bytes| (2..=64).contains(&bytes.len()));
        bytes.map(Self).ok_or(NoIdentity("build id"))
    }
}

/// The bytes of an even number of hex digits.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::{BuildId, Guid, ImageId, PdbId};

    #[test]
    fn identities_are_written_as_servers_and_people_do() {
        let guid: Guid = "{3249D99D-0C40-4931-8610-F4E4FB0B6936}".parse().expect("a GUID");
        assert_eq!(guid.to_string(), "3249d99d-0c40-4931-8610-f4e4fb0b6936");
        let stored = [0x9d, 0xd9, 0x49, 0x32, 0x40, 0x0c, 0x31, 0x49, 0x86, 0x10, 0xf4, 0xe4, 0xfb, 0x0b, 0x69, 0x36];
        assert_eq!(Guid::from_bytes(stored), guid);
        let pdb = PdbId { name: "crash.pdb".to_owned(), guid, age: 0x1a };
        assert_eq!(pdb.digits(), "3249D99D0C4049318610F4E4FB0B69361A");
        let image = ImageId { name: "crash.exe".to_owned(), time_date_stamp: 0x5ab3, size: 0x9000 };
        assert_eq!(image.digits(), "00005AB39000");
        let same = |found: &str, recorded: &str| {
            let parse = |text: &str| text.parse::<BuildId>().expect("a build id");
            parse(found).is_recorded_as(&parse(recorded))
        };
        let full = "00112233445566778899aabbccddeeff00112233";
        assert!(same(full, full) && same(&format!("{full}4455"), full), "longer than a recorder has room for");
        assert!(same("0011223344", "0011223344000000000000000000000000000000"), "filled up");
        assert!(!same("0011223344", "0011223345") && !BuildId(Vec::new()).is_recorded_as(&BuildId(vec![0])));
        let build: BuildId = "0aFF".parse().expect("a build id");
        assert_eq!(build.to_string(), "0aff");
        for wrong in ["", "0", "0g", "é1", "3249D99D-0C40-4931-8610-F4E4FB0B69"] {
            assert!(wrong.parse::<Guid>().is_err(), "{wrong}");
            assert!(wrong == "3249D99D-0C40-4931-8610-F4E4FB0B69" || wrong.parse::<BuildId>().is_err(), "{wrong}");
        }
    }
}
