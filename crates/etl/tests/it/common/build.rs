//! Small recordings of the tests' own making, byte by byte.

/// A kernel record of 32 header bytes: thread 7, process 5.
pub(crate) fn system(hook: u16, time: i64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 2, 0xc0];
    bytes.extend((32 + payload.len() as u16).to_le_bytes());
    bytes.extend(hook.to_le_bytes());
    bytes.extend(7u32.to_le_bytes());
    bytes.extend(5u32.to_le_bytes());
    bytes.extend(time.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(payload);
    bytes
}

/// A kernel record of 16 header bytes.
pub(crate) fn perf_info(version_word: u16, hook: u16, time: i64, rest: &[u8]) -> Vec<u8> {
    let mut bytes = version_word.to_le_bytes().to_vec();
    bytes.extend([0x11, 0xc0]);
    bytes.extend((16 + rest.len() as u16).to_le_bytes());
    bytes.extend(hook.to_le_bytes());
    bytes.extend(time.to_le_bytes());
    bytes.extend(rest);
    bytes
}

/// The record that describes a session: 10 MHz, zero at `time`, which is FILETIME 1000.
pub(crate) fn logfile_header(buffer_size: u32, mode: u32, time: i64) -> Vec<u8> {
    let mut payload = vec![0; 280];
    payload[..4].copy_from_slice(&buffer_size.to_le_bytes());
    payload[12] = 4;
    payload[32..36].copy_from_slice(&mode.to_le_bytes());
    payload[44] = 8;
    payload[256..264].copy_from_slice(&10_000_000i64.to_le_bytes());
    payload[264..272].copy_from_slice(&1000i64.to_le_bytes());
    payload[272] = 1;
    payload.extend([b'S', 0, 0, 0, b'F', 0, 0, 0]);
    system(0, time, &payload)
}

/// A buffer before it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) cpu: u16,
    pub(crate) sequence: i64,
    pub(crate) flags: u16,
    pub(crate) kind: u16,
    pub(crate) area: Vec<u8>,
}

impl Buffer {
    pub(crate) fn new(cpu: u16, sequence: i64) -> Self {
        Self { cpu, sequence, flags: 0x20, ..Self::default() }
    }

    pub(crate) fn header(buffer_size: u32, mode: u32, time: i64) -> Self {
        let mut buffer = Self { kind: 4, flags: 0x21, ..Self::default() };
        buffer.push(&logfile_header(buffer_size, mode, time));
        buffer
    }

    pub(crate) fn push(&mut self, record: &[u8]) {
        self.area.extend(record);
        self.area.resize(self.area.len().next_multiple_of(8), 0);
    }

    /// The buffer with filler up to `size` bytes.
    pub(crate) fn write(&self, size: usize) -> Vec<u8> {
        let end = 72 + self.area.len();
        assert!(end <= size, "the buffer is too small");
        let mut bytes = self.head(size, end);
        bytes.extend(&self.area);
        bytes.resize(size, 0xff);
        bytes
    }

    /// The buffer with its area compressed.
    pub(crate) fn write_compressed(&self) -> Vec<u8> {
        let stored = super::compress::compress(&self.area);
        let mut bytes = self.head(72 + stored.len(), 72 + self.area.len());
        bytes[0x34] |= 0x40;
        bytes.extend(stored);
        bytes
    }

    fn head(&self, size: usize, end: usize) -> Vec<u8> {
        let mut head = vec![0; 72];
        head[..4].copy_from_slice(&(size as u32).to_le_bytes());
        head[4..8].copy_from_slice(&(end as u32).to_le_bytes());
        head[0x18..0x20].copy_from_slice(&self.sequence.to_le_bytes());
        head[0x28..0x2a].copy_from_slice(&self.cpu.to_le_bytes());
        head[0x2c] = 3;
        head[0x30..0x34].copy_from_slice(&(end as u32).to_le_bytes());
        head[0x34..0x36].copy_from_slice(&self.flags.to_le_bytes());
        head[0x36..0x38].copy_from_slice(&self.kind.to_le_bytes());
        head
    }
}
