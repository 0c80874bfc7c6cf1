//! JSON names of the fields of header structures, which the container decodes.
//!
//! Some fields mean nothing to a reader (leftover pointers, reference counts); the container leaves them in the bytes, and so
//! they are read there, at the place that the format's documentation names.

use tracesift_etl::format::{BUFFER_HEADER_BYTES, buffer_header};
use tracesift_etl::{Change, EtlFile, LogfileHeader, Record};

use crate::payloads::cases::{Case, Decoded};
use crate::payloads::field::{Field, Fields, fields};

pub(crate) fn is_header(case: &Case) -> bool {
    case.class.ends_with("Header") || (case.class == "EventTrace" && case.opcode == 0)
}

pub(crate) fn decode(case: &Case) -> Option<Decoded> {
    Some(Ok(match case.class.as_str() {
        "EventTrace" if case.opcode == 0 => logfile_header(case),
        "WmiBufferHeader" => (buffer(case), 0),
        "SystemHeader" => (with_record(case, system), 0),
        "PerfInfoHeader" => (with_record(case, perf_info), 0),
        "FullHeader" => (with_record(case, full), 0),
        "EventHeader" => (with_record(case, event), 0),
        _ => return None,
    }))
}

/// The bytes of a header are not the whole record that they state: what is missing is filled up.
fn with_record(case: &Case, fields: impl FnOnce(&Record<'_>) -> Fields) -> Fields {
    let mut bytes = case.payload.clone();
    bytes.resize(400, 0);
    let record = Record::parse(&bytes, 0, 0).unwrap_or_else(|| panic!("{}: no record", case.name));
    fields(&record)
}

fn u16_of(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_of(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_of(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// An id of a record: 0 is an id, only −1 is none.
fn id(id: Option<u32>) -> Field {
    Field::from(id.unwrap_or(u32::MAX))
}

fn kernel_header(record: &Record<'_>) -> Fields {
    let [opcode, group] = record.hook().unwrap().to_le_bytes();
    assert_eq!(record.opcode(), opcode);
    fields! {
        header_type => record.bytes()[2],
        header_flags => record.bytes()[3],
        size => record.bytes().len() as u32,
        opcode => opcode,
        group => group,
        timestamp => record.time(),
    }
}

fn system(record: &Record<'_>) -> Fields {
    let (kernel_time, user_time) = record.processor_times().unwrap();
    let mut fields = kernel_header(record);
    fields.extend(fields! {
        version => record.version(),
        thread_id => id(record.tid()),
        process_id => id(record.pid()),
        kernel_time => kernel_time,
        user_time => user_time,
    });
    fields
}

fn perf_info(record: &Record<'_>) -> Fields {
    assert_eq!((record.pid(), record.tid()), (None, None));
    let counters: Vec<u64> = record.counters().iter().collect();
    let mut fields = kernel_header(record);
    fields.extend(fields! {
        version_low => record.version(),
        version_high => record.bytes()[1],
        ext_pebs => record.pebs_index(),
        ext_pmc0 => counters.first().copied(),
        ext_pmc1 => counters.get(1).copied(),
    });
    fields
}

fn full(record: &Record<'_>) -> Fields {
    let (low, high) = record.processor_times().unwrap();
    fields! {
        size => record.bytes().len() as u32,
        header_type => record.bytes()[2],
        header_flags => record.bytes()[3],
        opcode => record.opcode(),
        level => record.level(),
        version => record.version(),
        thread_id => id(record.tid()),
        process_id => id(record.pid()),
        timestamp => record.time(),
        guid => record.class_guid(),
        processor_time => u64::from(low) | u64::from(high) << 32,
    }
}

fn event(record: &Record<'_>) -> Fields {
    let (low, high) = record.processor_times().unwrap();
    fields! {
        size => record.bytes().len() as u32,
        header_type => record.bytes()[2],
        header_flags => record.bytes()[3],
        flags => record.event_flags(),
        event_property => u16_of(record.bytes(), 6),
        thread_id => id(record.tid()),
        process_id => id(record.pid()),
        timestamp => record.time(),
        provider_id => record.provider(),
        id => record.event_id(),
        version => record.version(),
        channel => record.channel(),
        level => record.level(),
        opcode => record.opcode(),
        task => record.task(),
        keyword => record.keyword(),
        processor_time => u64::from(low) | u64::from(high) << 32,
        activity_id => record.activity_id().unwrap_or_default(),
    }
}

/// A record of the session's start around the payload.
fn session_record(payload: &[u8], pointer_size: u8) -> Vec<u8> {
    let header_type = if pointer_size == 4 { 1 } else { 2 };
    let size = u16::try_from(32 + payload.len()).unwrap();
    let mut bytes = vec![2, 0, header_type, 0xC0];
    bytes.extend(size.to_le_bytes());
    bytes.resize(32, 0);
    bytes.extend(payload);
    bytes
}

fn logfile_header(case: &Case) -> (Fields, usize) {
    let bytes = session_record(&case.payload, case.pointer_size);
    let record = Record::parse(&bytes, 0, 0).unwrap();
    let header = LogfileHeader::from_record(&record).unwrap();
    let zone = &header.time_zone;
    let wide = case.pointer_size == 8;
    let zone_at = if wide { 72 } else { 64 };
    let name_pointer = |at: usize| if wide { u64_of(&case.payload, at) } else { u64::from(u32_of(&case.payload, at)) };
    let mut fields = fields! {
        buffer_size => header.buffer_size,
        os_version_major => header.os_major,
        os_version_minor => header.os_minor,
        // The source takes the two bytes of the format version for a service pack.
        sp_version_major => header.format_version.0,
        sp_version_minor => header.format_version.1,
        provider_version => header.os_build,
        number_of_processors => header.cpu_count,
        end_time => header.end_time,
        timer_resolution => header.timer_resolution,
        max_file_size => header.maximum_file_size,
        log_file_mode => header.log_file_mode,
        buffers_written => header.buffers_written,
        start_buffers => header.start_buffers,
        pointer_size => header.pointer_size,
        events_lost => header.events_lost,
        cpu_speed_mhz => header.cpu_mhz,
        logger_name_ptr => name_pointer(56),
        log_file_name_ptr => name_pointer(if wide { 64 } else { 60 }),
        boot_time => header.boot_time,
        perf_freq => header.performance_frequency,
        start_time => header.start_time,
        reserved_flags => header.clock_number,
        buffers_lost => header.buffers_lost,
        session_name => header.session_name.as_str(),
        file_name => header.log_file_name.as_str(),
        tz_bias => zone.bias,
        tz_standard_name => zone.standard_name.as_str(),
        tz_standard_bias => zone.standard_bias,
        tz_standard_second => u16_of(&case.payload, zone_at + 68 + 12),
        tz_standard_milliseconds => u16_of(&case.payload, zone_at + 68 + 14),
        tz_daylight_name => zone.daylight_name.as_str(),
        tz_daylight_bias => zone.daylight_bias,
        tz_daylight_second => u16_of(&case.payload, zone_at + 152 + 12),
        tz_daylight_milliseconds => u16_of(&case.payload, zone_at + 152 + 14),
    };
    let change = |change: Option<Change>, names: [&'static str; 6]| {
        let change = change.unwrap();
        let small = [change.month, change.weekday, change.day, change.hour, change.minute].map(Field::from);
        names.into_iter().zip([Field::from(change.year)].into_iter().chain(small)).collect::<Fields>()
    };
    fields.extend(change(
        zone.standard_start,
        [
            "tz_standard_year",
            "tz_standard_month",
            "tz_standard_day_of_week",
            "tz_standard_day",
            "tz_standard_hour",
            "tz_standard_minute",
        ],
    ));
    fields.extend(change(
        zone.daylight_start,
        [
            "tz_daylight_year",
            "tz_daylight_month",
            "tz_daylight_day_of_week",
            "tz_daylight_day",
            "tz_daylight_hour",
            "tz_daylight_minute",
        ],
    ));
    let names = [&header.session_name, &header.log_file_name];
    let name_bytes: usize = names.iter().map(|name| 2 * (name.encode_utf16().count() + 1)).sum();
    let layout = if wide { 280 } else { 272 } + name_bytes;
    (fields, case.payload.len() - layout)
}

/// A file that begins with the buffer header of the case.
fn buffer(case: &Case) -> Fields {
    let head = case.payload.as_slice();
    assert_eq!(head.len(), BUFFER_HEADER_BYTES);
    let end = u32_of(head, buffer_header::OFFSET) as usize;
    let mut bytes = head.to_vec();
    bytes.extend(session_record(&vec![0; end - BUFFER_HEADER_BYTES - 32], 8));
    bytes.resize(u32_of(head, buffer_header::SIZE) as usize, 0xFF);
    let file = EtlFile::open(Box::new(bytes)).unwrap();
    let [buffer] = file.buffers() else { panic!("{}: not one buffer", case.name) };
    assert!(buffer.sound);
    fields! {
        buffer_size => buffer.size,
        saved_offset => u32_of(head, buffer_header::SAVED_OFFSET),
        current_offset => u32_of(head, buffer_header::CURRENT_OFFSET),
        reference_count => u32_of(head, 0x0C),
        timestamp => u64_of(head, buffer_header::TIME_STAMP),
        sequence_number => buffer.sequence,
        clock => u64_of(head, 0x20),
        processor_index => buffer.cpu,
        logger_id => u16_of(head, buffer_header::LOGGER_ID),
        state => u32_of(head, buffer_header::STATE),
        offset => buffer.valid_end,
        buffer_flag => buffer.flags,
        buffer_type => u16_of(head, buffer_header::KIND),
        start_time => u64_of(head, 0x38),
        start_perf_clock => u64_of(head, 0x40),
    }
}
