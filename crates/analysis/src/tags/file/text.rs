//! The text of a file: editors on Windows save XML as UTF-16, too.

use std::borrow::Cow;

/// Decodes a file by its byte order mark; without one it is UTF-8. `None` where it is not.
pub(crate) fn decode(content: &[u8]) -> Option<Cow<'_, str>> {
    match content {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes).map(Cow::Owned),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes).map(Cow::Owned),
        [0xef, 0xbb, 0xbf, rest @ ..] => std::str::from_utf8(rest).ok().map(Cow::Borrowed),
        _ => std::str::from_utf8(content).ok().map(Cow::Borrowed),
    }
}

/// Line and column of the end: what is missing is missing there.
pub(crate) fn end(text: &str) -> (u32, u32) {
    let line = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = text.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    let decoded = char::decode_utf16(units.iter().map(|bytes| unit(*bytes)));
    rest.is_empty().then(|| decoded.collect::<Result<_, _>>().ok())?
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn every_encoding_that_editors_write() {
        let text = "<Tag Name=\"Größe\"/>";
        let mark = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
        let little = mark(&[0xff, 0xfe], text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        let big = mark(&[0xfe, 0xff], text.encode_utf16().flat_map(u16::to_be_bytes).collect());
        let utf8 = mark(&[0xef, 0xbb, 0xbf], text.into());
        for content in [text.as_bytes(), &little, &big, &utf8] {
            assert_eq!(decode(content).as_deref(), Some(text));
        }
        let lone = [0xff, 0xfe, 0x00, 0xd8];
        for content in [&lone[..], &[0xff, 0xfe, b'<'], &[b'<', 0xff]] {
            assert_eq!(decode(content), None);
        }
    }
}
