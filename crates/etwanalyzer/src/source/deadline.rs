//! An end to work that may have none: the decoder of LZMA2 goes round for ever on some damaged streams, and nothing from outside stops it.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Does work on a thread of its own and waits for it no longer than this. `None`: it was not done by then; the thread is left to itself.
pub(super) fn within<T: Send + 'static>(time: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, result) = channel();
    let named = thread::Builder::new().name("unpack".to_owned());
    // Nobody waits any more where the result cannot be sent.
    named.spawn(move || drop(done.send(work()))).ok()?;
    result.recv_timeout(time).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::within;

    #[test]
    fn what_takes_too_long_is_left() {
        assert_eq!(within(Duration::from_secs(60), || 7), Some(7));
        let endless = || loop {
            std::thread::park();
        };
        assert_eq!(within::<i32>(Duration::from_millis(10), endless), None);
    }
}
