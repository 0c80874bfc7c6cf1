//! Writes portable PDBs, from ECMA-335 II.23.2 and II.24.2 and the specification of the format.

/// What a method's points are made of, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// IL offset, line, column, lines and columns to the end.
    Point(u32, u32, u32, u32, i32),
    /// IL offset.
    Hidden(u32),
    /// What follows is in this document.
    Document(u32),
}

/// A method: the document of its row, or the one that stands in front of its points.
#[derive(Clone, Debug, Default)]
pub(crate) struct Method {
    pub(crate) document: u32,
    pub(crate) first_document: u32,
    pub(crate) records: Vec<Record>,
}

/// A PDB to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pdb {
    pub(crate) id: [u8; 20],
    /// Separator and parts of the paths.
    pub(crate) documents: Vec<(char, Vec<String>)>,
    pub(crate) methods: Vec<Method>,
    /// Rows of the assembly's table of methods, where more are said than there are.
    pub(crate) method_rows: u32,
    pub(crate) source_link: Option<String>,
    /// Wide references to all heaps.
    pub(crate) wide: bool,
}

/// An unsigned compressed number.
pub(crate) fn compressed(value: u32) -> Vec<u8> {
    match value {
        0..0x80 => vec![value as u8],
        0x80..0x4000 => (0x8000 | value as u16).to_be_bytes().to_vec(),
        0x4000..0x2000_0000 => (0xc000_0000 | value).to_be_bytes().to_vec(),
        _ => panic!("{value} cannot be compressed"),
    }
}

/// A signed compressed number: rotated left by one in 7, 14 or 29 bits.
pub(crate) fn compressed_signed(value: i32) -> Vec<u8> {
    let rotate = |bits: u32| ((value as u32) << 1 | u32::from(value < 0)) & ((1 << bits) - 1);
    match value {
        -0x40..0x40 => vec![rotate(7) as u8],
        -0x2000..0x2000 => (0x8000 | rotate(14) as u16).to_be_bytes().to_vec(),
        -0x1000_0000..0x1000_0000 => (0xc000_0000 | rotate(29)).to_be_bytes().to_vec(),
        _ => panic!("{value} cannot be compressed"),
    }
}

/// The blob of a method's points.
pub(crate) fn points(method: &Method) -> Vec<u8> {
    let mut blob = compressed(0);
    if method.document == 0 {
        blob.extend(compressed(method.first_document));
    }
    let mut last_offset = None;
    let mut last_start: Option<(u32, u32)> = None;
    for record in &method.records {
        let mut step = |offset: u32| compressed(offset - last_offset.replace(offset).unwrap_or(0));
        match *record {
            Record::Document(document) => blob.extend([vec![0], compressed(document)].concat()),
            Record::Hidden(offset) => blob.extend([step(offset), vec![0, 0]].concat()),
            Record::Point(offset, line, column, lines, columns) => {
                blob.extend(step(offset));
                blob.extend(compressed(lines));
                blob.extend(if lines == 0 { compressed(columns as u32) } else { compressed_signed(columns) });
                match last_start.replace((line, column)) {
                    None => blob.extend([compressed(line), compressed(column)].concat()),
                    Some((before, column_before)) => {
                        blob.extend(compressed_signed(line as i32 - before as i32));
                        blob.extend(compressed_signed(column as i32 - column_before as i32));
                    }
                }
            }
        }
    }
    blob
}

/// A heap of blobs; the first one is empty.
struct Blobs(Vec<u8>);

impl Blobs {
    fn add(&mut self, blob: &[u8]) -> u32 {
        let offset = self.0.len() as u32;
        self.0.extend(compressed(blob.len() as u32));
        self.0.extend(blob);
        offset
    }
}

const SOURCE_LINK: [u8; 16] =
    [0x56, 0x05, 0x11, 0xcc, 0x91, 0xa0, 0x38, 0x4d, 0x9f, 0xec, 0x25, 0xab, 0x9a, 0x35, 0x1a, 0x6a];

impl Pdb {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut blobs = Blobs(vec![0]);
        if self.wide {
            blobs.add(&vec![0xaa; 0x1_0000]);
        }
        let heap_reference = |value: u32| {
            let bytes = value.to_le_bytes();
            if self.wide { bytes.to_vec() } else { bytes[..2].to_vec() }
        };
        let index = |value: u32, rows: usize| {
            let bytes = value.to_le_bytes();
            if rows > 0xffff { bytes.to_vec() } else { bytes[..2].to_vec() }
        };
        let mut rows = Vec::new();
        for (separator, parts) in &self.documents {
            let mut name = if *separator == '\0' { vec![0] } else { separator.to_string().into_bytes() };
            for part in parts {
                let part = if part.is_empty() { 0 } else { blobs.add(part.as_bytes()) };
                name.extend(compressed(part));
            }
            rows.extend(
                [heap_reference(blobs.add(&name)), heap_reference(1), heap_reference(0), heap_reference(1)].concat(),
            );
        }
        for method in &self.methods {
            rows.extend(index(method.document, self.documents.len()));
            let blob = if method.records.is_empty() { 0 } else { blobs.add(&points(method)) };
            rows.extend(heap_reference(blob));
        }
        let method_rows = (self.methods.len() as u32).max(self.method_rows);
        // A scope, to be skipped: method, imports, variables, constants, offset, length.
        rows.extend(index(1, method_rows as usize));
        rows.extend([1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
        // An import scope: parent, imports.
        rows.extend([vec![0, 0], heap_reference(0)].concat());
        let mut present: u64 = 1 << 0x30 | 1 << 0x31 | 1 << 0x32 | 1 << 0x35;
        let mut counts = vec![self.documents.len() as u32, self.methods.len() as u32, 1, 1];
        if let Some(json) = &self.source_link {
            present |= 1 << 0x37;
            counts.push(2);
            let blob = heap_reference(blobs.add(json.as_bytes()));
            // Somebody else's of the same kind, then the module's (row 1, tag 7).
            let parents = |parent: u32| {
                let wide = method_rows.max(self.documents.len() as u32) >= 1 << 11;
                parent.to_le_bytes()[..if wide { 4 } else { 2 }].to_vec()
            };
            rows.extend([parents(1 << 5 | 22), heap_reference(2), heap_reference(0)].concat());
            rows.extend([parents(1 << 5 | 7), heap_reference(2), blob].concat());
        }
        let mut tables = vec![0, 0, 0, 0, 2, 0, if self.wide { 7 } else { 0 }, 1];
        tables.extend(present.to_le_bytes());
        tables.extend((1_u64 << 0x37).to_le_bytes());
        counts.iter().for_each(|count| tables.extend(count.to_le_bytes()));
        tables.extend(rows);
        let mut pdb = self.id.to_vec();
        pdb.extend(0x0600_0001_u32.to_le_bytes());
        // The assembly's tables of modules and methods.
        pdb.extend((1_u64 | 1 << 6).to_le_bytes());
        pdb.extend(1_u32.to_le_bytes());
        pdb.extend(method_rows.to_le_bytes());
        let guids = [[0x11; 16], SOURCE_LINK].concat();
        container(&[
            ("#Pdb", &pdb),
            ("#~", &tables),
            ("#Strings", &[0, 0, 0, 0]),
            ("#GUID", &guids),
            ("#Blob", &blobs.0),
        ])
    }
}

/// Metadata with these streams.
pub(crate) fn container(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = b"BSJB\x01\0\x01\0\0\0\0\0\x0c\0\0\0PDB v1.0\0\0\0\0\0\0".to_vec();
    bytes.extend((streams.len() as u16).to_le_bytes());
    let padded = |name: &str| (name.len() + 1).next_multiple_of(4);
    let mut next = bytes.len() + streams.iter().map(|(name, _)| 8 + padded(name)).sum::<usize>();
    for (name, content) in streams {
        bytes.extend((next as u32).to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(name.bytes());
        bytes.resize(bytes.len() + padded(name) - name.len(), 0);
        next += content.len().next_multiple_of(4);
    }
    for (_, content) in streams {
        bytes.extend(*content);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// The data of a debug-directory entry of type 17.
pub(crate) fn embedded(pdb: &[u8]) -> Vec<u8> {
    use std::io::Write;

    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(pdb).unwrap();
    [b"MPDB".to_vec(), (pdb.len() as u32).to_le_bytes().to_vec(), encoder.finish().unwrap()].concat()
}
