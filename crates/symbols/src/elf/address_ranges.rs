//! Ranges that lie on top of each other, seen from above.

/// Code that belongs to something: a scope, a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number of what it belongs to.
    pub(super) of: u32,
}

/// Cuts pieces so that none overlap: where they do, the one that begins later is seen, of those that begin together the later one in the
/// list, and behind its end what lies below. So what is nested comes out on top.
pub(super) fn flatten(pieces: &mut [Piece]) -> Vec<Piece> {
    pieces.sort_by_key(|piece| piece.start);
    let mut seen = Vec::with_capacity(pieces.len());
    let mut open: Vec<Piece> = Vec::new();
    let mut at = 0;
    for piece in pieces.iter().filter(|piece| piece.start < piece.end) {
        close(&mut open, &mut at, piece.start, &mut seen);
        at = piece.start;
        open.push(*piece);
    }
    close(&mut open, &mut at, u64::MAX, &mut seen);
    seen
}

/// Puts out what is seen from `at` to `until`.
fn close(open: &mut Vec<Piece>, at: &mut u64, until: u64, seen: &mut Vec<Piece>) {
    while let Some(top) = open.last() {
        let end = top.end.min(until);
        if *at < end {
            seen.push(Piece { start: *at, end, of: top.of });
            *at = end;
        }
        if top.end > until {
            return;
        }
        open.pop();
    }
}

/// What is left of `pieces` outside of `covered`. Both are in order and without overlap.
pub(super) fn outside(pieces: &[Piece], covered: &[(u64, u64)]) -> Vec<Piece> {
    let mut left = Vec::new();
    let mut next = 0;
    for piece in pieces {
        let mut start = piece.start;
        while covered.get(next).is_some_and(|cover| cover.1 <= start) {
            next += 1;
        }
        let mut cover = next;
        while start < piece.end {
            let (from, to) = covered.get(cover).copied().unwrap_or((u64::MAX, u64::MAX));
            if start < from {
                left.push(Piece { start, end: from.min(piece.end), ..*piece });
            }
            start = start.max(to);
            cover += 1;
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::{Piece, flatten, outside};

    fn pieces(pieces: &[(u64, u64, u32)]) -> Vec<Piece> {
        pieces.iter().map(|&(start, end, of)| Piece { start, end, of }).collect()
    }

    #[test]
    fn what_is_nested_comes_out_on_top() {
        let mut nested = pieces(&[(0, 100, 0), (10, 50, 1), (20, 30, 2), (20, 25, 3), (60, 70, 4), (100, 110, 5)]);
        let seen = pieces(&[
            (0, 10, 0),
            (10, 20, 1),
            (20, 25, 3),
            (25, 30, 2),
            (30, 50, 1),
            (50, 60, 0),
            (60, 70, 4),
            (70, 100, 0),
            (100, 110, 5),
        ]);
        assert_eq!(flatten(&mut nested), seen);
        let mut crossing = pieces(&[(0, 10, 0), (5, 15, 1), (20, 20, 2)]);
        assert_eq!(flatten(&mut crossing), pieces(&[(0, 5, 0), (5, 15, 1)]));
    }

    #[test]
    fn what_is_covered_is_left_out() {
        let all = pieces(&[(0, 10, 0), (10, 20, 1), (30, 40, 2)]);
        assert_eq!(outside(&all, &[]), all);
        let left = outside(&all, &[(2, 3), (5, 12), (25, 32), (39, 50)]);
        assert_eq!(left, pieces(&[(0, 2, 0), (3, 5, 0), (12, 20, 1), (32, 39, 2)]));
        assert_eq!(outside(&all, &[(0, 40)]), []);
    }
}
