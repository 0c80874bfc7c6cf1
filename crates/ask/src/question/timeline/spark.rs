//! A row of figures as a line of block characters.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A character per figure: a space for nothing, the whole block for the largest. What is not nothing has at least the lowest block.
pub(super) fn line(figures: &[i64]) -> String {
    let largest = i128::from(figures.iter().copied().max().unwrap_or(0));
    let character = |figure: &i64| {
        let figure = i128::from(*figure);
        // Eighths of the largest figure, rounded up.
        let height = if figure <= 0 { 0 } else { (figure * 8 + largest - 1) / largest.max(1) };
        let place = usize::try_from(height).unwrap_or(0).checked_sub(1);
        place.and_then(|place| BLOCKS.get(place)).copied().unwrap_or(' ')
    };
    figures.iter().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn heights_are_eighths_of_the_largest() {
        assert_eq!(line(&[0, 1, 2, 3, 4, 5, 6, 7, 8]), " ▁▂▃▄▅▆▇█");
        assert_eq!(line(&[1, 1_000_000, 125_001, i64::MIN]), "▁█▂ ");
        assert_eq!(line(&[0, 0]), "  ");
        assert_eq!(line(&[i64::MAX, i64::MAX / 2]), "█▄");
        assert_eq!(line(&[]), "");
    }
}
