//! Records and their descriptions.

/// Provider of the events here, as it stands in a file.
pub(crate) const PROVIDER: [u8; 16] = [0x5a; 16];

/// UTF-16 with its NUL.
pub(crate) fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

/// An event of process 5 with extended items.
pub(crate) fn event(id: u16, version: u8, items: &[(u16, Vec<u8>)], payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0x13, 0xc0, u8::from(!items.is_empty()), 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0];
    bytes.extend(100i64.to_le_bytes());
    bytes.extend(PROVIDER);
    bytes.extend(id.to_le_bytes());
    bytes.extend([version, 11, 4, 1, 0, 0]);
    bytes.resize(80, 0);
    for (at, (kind, data)) in items.iter().enumerate() {
        let size = (8 + data.len()).next_multiple_of(8);
        for word in [size as u16, *kind, u16::from(at + 1 < items.len()), data.len() as u16] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes.extend(payload);
    let size = bytes.len() as u16;
    bytes[..2].copy_from_slice(&size.to_le_bytes());
    bytes
}

/// A record with a class GUID.
pub(crate) fn classic(class: u128, opcode: u8, version: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = ((48 + payload.len()) as u16).to_le_bytes().to_vec();
    bytes.extend([0x14, 0xc0, opcode, 0, version, 0, 7, 0, 0, 0, 5, 0, 0, 0]);
    bytes.extend(100i64.to_le_bytes());
    bytes.extend(tracesift_etl::Guid::from_u128(class).to_bytes());
    bytes.resize(48, 0);
    bytes.extend(payload);
    bytes
}

const METADATA: u128 = 0xbbccf6c1_6cd1_48c4_80ff_839482e37671;

/// One property of a `TRACE_EVENT_INFO`: flags, name, two words of type, map, count, length.
pub(crate) struct Property {
    pub(crate) flags: u32,
    pub(crate) name: &'static str,
    pub(crate) kind: (u16, u16),
    pub(crate) map: &'static str,
    pub(crate) count: u16,
    pub(crate) length: u16,
}

impl Property {
    pub(crate) fn new(name: &'static str, in_type: u16, out_type: u16) -> Self {
        Self { flags: 0, name, kind: (in_type, out_type), map: "", count: 1, length: 0 }
    }
}

/// A record that describes event `id` of [`PROVIDER`] with its first `top` properties at the top.
pub(crate) fn metadata(id: u16, top: u32, properties: &[Property]) -> Vec<u8> {
    let mut info = PROVIDER.to_vec();
    info.extend([0; 16]);
    info.extend(id.to_le_bytes());
    info.extend([0, 11, 4, 1, 0, 0]);
    info.resize(112 + 24 * properties.len(), 0);
    let text = |info: &mut Vec<u8>, at: usize, text: &str| {
        if !text.is_empty() {
            let place = info.len() as u32;
            info[at..at + 4].copy_from_slice(&place.to_le_bytes());
            info.extend(wide(text));
        }
    };
    text(&mut info, 52, "Test-Provider");
    text(&mut info, 68, "Task ");
    text(&mut info, 72, "win:Start");
    info[100..104].copy_from_slice(&(properties.len() as u32).to_le_bytes());
    info[104..108].copy_from_slice(&top.to_le_bytes());
    for (index, property) in properties.iter().enumerate() {
        let at = 112 + 24 * index;
        info[at..at + 4].copy_from_slice(&property.flags.to_le_bytes());
        for (place, word) in [(8, property.kind.0), (10, property.kind.1), (16, property.count), (18, property.length)]
        {
            info[at + place..at + place + 2].copy_from_slice(&word.to_le_bytes());
        }
        text(&mut info, at + 4, property.name);
        text(&mut info, at + 12, property.map);
    }
    classic(METADATA, 32, 0, &info)
}

/// A record with a map of [`PROVIDER`].
pub(crate) fn map(name: &str, is_bits: bool, entries: &[(u32, &str)]) -> Vec<u8> {
    let mut info = vec![0; 16 + 8 * entries.len()];
    info[4] = if is_bits { 2 } else { 1 };
    info[8..12].copy_from_slice(&(entries.len() as u32).to_le_bytes());
    for (index, (value, entry)) in entries.iter().enumerate() {
        let place = info.len() as u32;
        info[16 + 8 * index..][..4].copy_from_slice(&place.to_le_bytes());
        info[20 + 8 * index..][..4].copy_from_slice(&value.to_le_bytes());
        info.extend(wide(&format!("{entry} ")));
    }
    let place = info.len() as u32;
    info[..4].copy_from_slice(&place.to_le_bytes());
    info.extend(wide(name));
    classic(METADATA, 33, 0, &[&PROVIDER[..], &info].concat())
}

/// The items of a TraceLogging event: traits and description.
pub(crate) fn described(name: &str, fields: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let sized = |content: Vec<u8>| [((content.len() + 2) as u16).to_le_bytes().to_vec(), content].concat();
    let schema = sized([&[0x80, 0][..], name.as_bytes(), &[0], fields].concat());
    vec![(12, sized(b"Described\0".to_vec())), (11, schema)]
}

/// The records of a manifest in so many parts.
pub(crate) fn manifest_events(xml: &str, parts: usize) -> Vec<Vec<u8>> {
    let bytes = xml.as_bytes();
    let each = bytes.len().div_ceil(parts);
    let chunks = bytes.chunks(each).enumerate().map(|(number, chunk)| {
        let mut payload = vec![1, 1, 0, 0x5b];
        payload.extend((bytes.len().div_ceil(each) as u16).to_le_bytes());
        payload.extend((number as u16).to_le_bytes());
        payload.extend(chunk);
        event(0xfffe, 1, &[], &payload)
    });
    chunks.collect()
}
