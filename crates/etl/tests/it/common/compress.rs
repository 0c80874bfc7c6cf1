//! A simple XPRESS encoder, so that the decoder can be tested against something that was written from the same document.

/// Finds matches by brute force in a short window, and writes every form of a length.
pub(crate) fn compress(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut flags_at = 0;
    let mut items = 32;
    let mut half_at: Option<usize> = None;
    let mut at = 0;
    while at < input.len() {
        if items == 32 {
            flags_at = out.len();
            out.extend([0; 4]);
            items = 0;
        }
        let (length, distance) = longest_match(input, at);
        if length < 3 {
            out.push(input[at]);
            at += 1;
        } else {
            let bit = 1u32 << (31 - items);
            let flags = u32::from_le_bytes(out[flags_at..flags_at + 4].try_into().expect("four bytes")) | bit;
            out[flags_at..flags_at + 4].copy_from_slice(&flags.to_le_bytes());
            let short = (length - 3).min(7);
            out.extend((((distance - 1) << 3 | short) as u16).to_le_bytes());
            if short == 7 {
                let half = (length - 10).min(15);
                match half_at.take() {
                    Some(place) => out[place] |= (half as u8) << 4,
                    None => {
                        half_at = Some(out.len());
                        out.push(half as u8);
                    }
                }
                if half == 15 {
                    let byte = (length - 25).min(255);
                    out.push(byte as u8);
                    if byte == 255 {
                        let long = length - 3;
                        if long < 1 << 16 {
                            out.extend((long as u16).to_le_bytes());
                        } else {
                            out.extend([0; 2]);
                            out.extend((long as u32).to_le_bytes());
                        }
                    }
                }
            }
            at += length;
        }
        items += 1;
    }
    out
}

fn longest_match(input: &[u8], at: usize) -> (usize, usize) {
    let mut best = (0, 0);
    for distance in [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 31, 32, 40, 48, 64, 100, 1000, 8192] {
        if distance > at {
            break;
        }
        let length = input[at..].iter().zip(&input[at - distance..]).take_while(|(a, b)| a == b).count();
        if length > best.0 {
            best = (length, distance);
        }
    }
    best
}
