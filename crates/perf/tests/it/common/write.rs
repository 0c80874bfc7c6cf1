//! Writes small recordings, so that what no case has can be tested: the other byte order, disorder, forged lengths.

#![allow(dead_code, reason = "each test uses another part")]

use tracesift_perf::Endianness;

/// Bytes in one byte order.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) endian: Endianness,
}

impl Bytes {
    pub(crate) fn new(endian: Endianness) -> Self {
        Self { bytes: Vec::new(), endian }
    }

    fn number(&mut self, little: &[u8]) -> &mut Self {
        match self.endian {
            Endianness::LittleEndian => self.bytes.extend(little),
            Endianness::BigEndian => self.bytes.extend(little.iter().rev()),
        }
        self
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.number(&[value])
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.number(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.number(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.number(&value.to_le_bytes())
    }

    pub(crate) fn u64s(&mut self, values: &[u64]) -> &mut Self {
        for value in values {
            self.u64(*value);
        }
        self
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend(bytes);
        self
    }

    /// A text, padded with NULs to `length`.
    pub(crate) fn text(&mut self, text: &[u8], length: usize) -> &mut Self {
        self.bytes.extend(text);
        self.bytes.resize(self.bytes.len() + length - text.len(), 0);
        self
    }

    /// A record with its header.
    pub(crate) fn record(&mut self, kind: u32, misc: u16, body: impl FnOnce(&mut Bytes)) -> &mut Self {
        let mut content = Bytes::new(self.endian);
        body(&mut content);
        let size = u16::try_from(content.bytes.len() + 8).expect("a record fits");
        self.u32(kind).u16(misc).u16(size).raw(&content.bytes)
    }
}

/// An attribute of 136 bytes. `flags` are those of a little-endian compiler.
pub(crate) struct Attr {
    pub(crate) kind: u32,
    pub(crate) config: u64,
    pub(crate) period: u64,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    pub(crate) flags: u64,
    pub(crate) ids: Vec<u64>,
}

/// `sample_id_all`.
pub(crate) const SAMPLE_ID_ALL: u64 = 1 << 18;

impl Attr {
    pub(crate) fn write(&self, into: &mut Bytes) {
        into.u32(self.kind).u32(136).u64(self.config).u64(self.period).u64(self.sample_type).u64(self.read_format);
        match into.endian {
            Endianness::LittleEndian => into.u64(self.flags),
            // As the compiler lays bit fields out there: from the other end, but each field's value the right way round.
            Endianness::BigEndian => {
                let precise = self.flags >> 15 & 3;
                into.u64((self.flags & !(3 << 15)).reverse_bits() | precise << 47)
            }
        };
        into.u32(1).u32(0).u64(0).u64(0);
        // Branch stacks with index; registers 1 and 3 of the user; no stack, clock 1; no registers at interrupts.
        into.u64(1 << 17).u64(0b1010).u32(0).u32(1).u64(0);
        into.u32(0).u16(127).u16(0).u32(0).u32(0).u64(0).u64(7);
    }
}

/// A recording that was written to a file.
pub(crate) fn file(endian: Endianness, attrs: &[Attr], data: &[u8], features: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    let ids: usize = attrs.iter().map(|attr| attr.ids.len() * 8).sum();
    let attrs_at = 104 + ids as u64;
    let data_at = attrs_at + attrs.len() as u64 * 152;
    out.raw(magic(endian)).u64(104).u64(152);
    out.u64s(&[attrs_at, attrs.len() as u64 * 152, data_at, data.len() as u64, 0, 0]);
    let bits = features.iter().fold(0, |bits, (number, _)| bits | 1 << number);
    out.u64s(&[bits, 0, 0, 0]);
    for attr in attrs {
        out.u64s(&attr.ids);
    }
    let mut ids_at = 104;
    for attr in attrs {
        attr.write(&mut out);
        out.u64(ids_at).u64(attr.ids.len() as u64 * 8);
        ids_at += attr.ids.len() as u64 * 8;
    }
    out.raw(data);
    let mut at = out.bytes.len() as u64 + features.len() as u64 * 16;
    for (_, content) in features {
        out.u64(at).u64(content.len() as u64);
        at += content.len() as u64;
    }
    for (_, content) in features {
        out.raw(content);
    }
    out.bytes
}

/// The same as a stream.
pub(crate) fn pipe(endian: Endianness, attrs: &[Attr], data: &[u8], features: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    out.raw(magic(endian)).u64(16);
    for attr in attrs {
        out.record(64, 0, |body| {
            attr.write(body);
            body.u64s(&attr.ids);
        });
    }
    for (number, content) in features {
        if *number == 1 {
            out.record(66, 0, |body| {
                body.u32(content.len() as u32);
            });
            out.raw(content);
        } else {
            out.record(80, 0, |body| {
                body.u64((*number).into()).raw(content);
            });
        }
    }
    out.raw(data).bytes.clone()
}

fn magic(endian: Endianness) -> &'static [u8] {
    match endian {
        Endianness::LittleEndian => b"PERFILE2",
        Endianness::BigEndian => b"2ELIFREP",
    }
}
