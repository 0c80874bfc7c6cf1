//! Lists of CPUs as Linux writes them.

/// The numbers of a list such as `0-15,18`; what is no number is passed over.
pub fn numbers(list: &str) -> impl Iterator<Item = i16> {
    let ranges = list.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<i16>().ok()?..=last.trim().parse::<i16>().ok()?)
    });
    ranges.filter(|range| *range.start() >= 0).flatten()
}
