//! A reader of Protocol Buffers that knows no schema.

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message in their order. Panics on what is none.
pub(crate) fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Value::Bytes(value)
            }
            wire => panic!("wire type {wire}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a whole number");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    unreachable!()
}

/// All numbers of a packed field.
pub(crate) fn packed(mut bytes: &[u8]) -> Vec<u64> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(varint(&mut bytes));
    }
    numbers
}

/// The last number of that field, or 0, which is what absence means.
pub(crate) fn number(message: &[u8], field: u64) -> u64 {
    let numbers = numbers(message, field);
    numbers.last().copied().unwrap_or(0)
}

/// All numbers of that field.
pub(crate) fn numbers(message: &[u8], field: u64) -> Vec<u64> {
    let numbers = fields(message).into_iter().filter_map(|(at, value)| match value {
        Value::Number(number) if at == field => Some(number),
        _ => None,
    });
    numbers.collect()
}

/// All texts or messages of that field.
pub(crate) fn parts(message: &[u8], field: u64) -> Vec<&[u8]> {
    let parts = fields(message).into_iter().filter_map(|(at, value)| match value {
        Value::Bytes(bytes) if at == field => Some(bytes),
        _ => None,
    });
    parts.collect()
}

/// The last text or message of that field, or an empty one.
pub(crate) fn part(message: &[u8], field: u64) -> &[u8] {
    parts(message, field).last().copied().unwrap_or(&[])
}
