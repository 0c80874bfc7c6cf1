//! Errors that stay.

use std::io::{self, ErrorKind, Read};

/// A stream that, once it has failed, fails in the same words as often as it is asked, without asking the decoder again.
///
/// Whoever reads may well ask again: a parser behind a buffer does. The LZMA2 decoder of `lzma-rust2` never returns then, if what failed was
/// the header of the first chunk: it remembers how many bytes are to come, but has nothing that could make them.
#[derive(Debug)]
pub struct LastingErrors<R> {
    stream: R,
    failure: Option<(ErrorKind, String)>,
}

impl<R> LastingErrors<R> {
    /// Reads from `stream`.
    pub fn new(stream: R) -> Self {
        Self { stream, failure: None }
    }
}

impl<R: Read> Read for LastingErrors<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, text)) = &self.failure {
            return Err(io::Error::new(*kind, text.clone()));
        }
        self.stream.read(into).inspect_err(|error| {
            if error.kind() != ErrorKind::Interrupted {
                self.failure = Some((error.kind(), error.to_string()));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interrupted, then broken, then as if nothing had been.
    struct Moody(u32);

    impl Read for Moody {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 => Err(ErrorKind::Interrupted.into()),
                2 => Err(io::Error::new(ErrorKind::InvalidData, "bent")),
                _ => Ok(1),
            }
        }
    }

    #[test]
    fn what_failed_stays_failed() {
        let mut stream = LastingErrors::new(Moody(0));
        assert_eq!(stream.read(&mut [0]).expect_err("interrupted").kind(), ErrorKind::Interrupted);
        for _ in 0..3 {
            let error = stream.read(&mut [0]).expect_err("failed");
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidData, "bent"));
        }
    }
}
