//! The state of servers. A server that is down costs one time-out and one line for the whole run.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Failures in a row after which a server that has answered before is not asked any more.
const MAX_FAILURES: u32 = 3;

/// What is known of servers.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    states: Mutex<HashMap<String, State>>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The first request is under way; others wait for how it ends.
    Trying,
    Up {
        failures: u32,
    },
    Down,
}

/// How a request to a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// It answered, whatever it said.
    Answered,
    /// No connection, or no answer in time: the first such failure tells that it is down.
    Silent,
    /// It answered that it cannot answer now.
    Troubled,
    /// Nothing was learned.
    Unknown,
}

impl Hosts {
    /// Whether a server may be asked. Waits while it is not known. Who gets `true` must call [`Hosts::ended`].
    pub(crate) fn may_ask(&self, url: &str) -> bool {
        let mut states = self.lock();
        loop {
            match states.get(host_of(url)) {
                None => {
                    states.insert(host_of(url).to_owned(), State::Trying);
                    return true;
                }
                Some(State::Up { .. }) => return true,
                Some(State::Down) => return false,
                Some(State::Trying) => {
                    states = self.changed.wait(states).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Whether a server is known not to answer.
    pub(crate) fn is_down(&self, url: &str) -> bool {
        self.lock().get(host_of(url)) == Some(&State::Down)
    }

    /// How a request ended. `true` when the server is down from now on, which is to be told.
    pub(crate) fn ended(&self, url: &str, health: Health) -> bool {
        let mut states = self.lock();
        let before = states.get(host_of(url)).copied().unwrap_or(State::Trying);
        let failures = match before {
            State::Down => return false,
            State::Trying => 0,
            State::Up { failures } => failures,
        };
        let after = match (health, before) {
            (Health::Answered, _) => Some(State::Up { failures: 0 }),
            (Health::Unknown, State::Trying) => None,
            (Health::Unknown, _) => Some(before),
            (Health::Silent, State::Trying) => Some(State::Down),
            _ if failures + 1 >= MAX_FAILURES => Some(State::Down),
            _ => Some(State::Up { failures: failures + 1 }),
        };
        match after {
            Some(after) => states.insert(host_of(url).to_owned(), after),
            None => states.remove(host_of(url)),
        };
        self.changed.notify_all();
        after == Some(State::Down)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Scheme, host and port of an address.
fn host_of(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    url[start..].find(['/', '?']).map_or(url, |end| &url[..start + end])
}

#[cfg(test)]
mod tests {
    use super::{Health, Hosts};

    #[test]
    fn a_silent_server_is_asked_once() {
        let hosts = Hosts::default();
        assert!(hosts.may_ask("http://a:1/x"));
        assert!(hosts.ended("http://a:1/x", Health::Silent));
        assert!(!hosts.may_ask("http://a:1/y/z"));
        assert!(hosts.may_ask("http://a:2/x"));
    }

    #[test]
    fn one_that_has_answered_gets_more_chances() {
        let hosts = Hosts::default();
        for _ in 0..5 {
            for health in [Health::Answered, Health::Troubled, Health::Silent, Health::Unknown] {
                assert!(hosts.may_ask("http://a"));
                assert!(!hosts.ended("http://a", health));
            }
            hosts.ended("http://a", Health::Answered);
        }
        let told: Vec<bool> = (0..4).map(|_| hosts.ended("http://a/x", Health::Troubled)).collect();
        assert_eq!(told, [false, false, true, false]);
    }

    #[test]
    fn others_wait_for_the_first() {
        let hosts = Hosts::default();
        assert!(hosts.may_ask("http://a/1"));
        std::thread::scope(|scope| {
            let others: Vec<_> = (0..4).map(|_| scope.spawn(|| hosts.may_ask("http://a/2"))).collect();
            hosts.ended("http://a/1", Health::Silent);
            assert!(others.into_iter().all(|other| !other.join().expect("no panic")));
        });
    }
}
