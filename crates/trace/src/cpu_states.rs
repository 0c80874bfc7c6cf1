//! Parked and capped CPUs, as spans.

use std::collections::BTreeMap;

use crate::rows::{CpuStateRow, cpu_state_kinds};

/// What an event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The state begins now.
    Begins,
    /// The state that was in force. If it is the first event of the CPU, that held since the start of the recording.
    InForce,
}

/// Who caps a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// The firmware.
    Firmware,
    /// Heat.
    Heat,
}

/// Follows CPUs. Fed in the order of time.
#[derive(Debug, Default)]
pub struct CpuStates {
    cpus: BTreeMap<i16, OfCpu>,
}

#[derive(Debug, Default)]
struct OfCpu {
    /// The value is the kind of the row.
    parking: Slot,
    /// The values are percents.
    caps: [Slot; 2],
}

#[derive(Debug, Default)]
struct Slot {
    is_known: bool,
    /// Start and value.
    open: Option<(i64, i32)>,
}

impl Slot {
    /// Takes the value from now on; `before` is what held since `begin` where nothing is known yet. Gives what ends now.
    fn set(&mut self, time: i64, now: Option<i32>, before: Option<(i64, i32)>) -> Option<(i64, i32)> {
        if !self.is_known {
            self.is_known = true;
            self.open = before;
        }
        if self.open.map(|(_, value)| value) == now {
            return None;
        }
        let ended = self.open.take();
        self.open = now.map(|value| (time, value));
        ended
    }
}

impl CpuStates {
    /// A CPU is parked, softly or not, or is not. `begin` is the start of the recording. Gives the row that ends now.
    pub fn parking(
        &mut self,
        time: i64,
        cpu: i16,
        is_soft: Option<bool>,
        told: Told,
        begin: i64,
    ) -> Option<CpuStateRow> {
        let now = is_soft
            .map(|is_soft| i32::from(if is_soft { cpu_state_kinds::SOFT_PARKED } else { cpu_state_kinds::PARKED }));
        let before = match (told, now) {
            (Told::InForce, now) => now.map(|kind| (begin, kind)),
            // What is unparked was parked.
            (Told::Begins, None) => Some((begin, i32::from(cpu_state_kinds::PARKED))),
            (Told::Begins, Some(_)) => None,
        };
        let ended = self.cpus.entry(cpu).or_default().parking.set(time, now, before);
        ended.map(|ended| parked(time, cpu, ended))
    }

    /// The highest performance of a CPU in percent. 100 is no cap, and 0 or less means that nobody knows.
    pub fn cap(
        &mut self,
        time: i64,
        cpu: i16,
        (cap, percent): (Cap, i64),
        told: Told,
        begin: i64,
    ) -> Option<CpuStateRow> {
        let percent = i32::try_from(percent).ok().filter(|percent| *percent > 0)?;
        let now = (percent < 100).then_some(percent);
        let before = now.filter(|_| told == Told::InForce).map(|percent| (begin, percent));
        let ended = self.cpus.entry(cpu).or_default().caps[cap as usize].set(time, now, before);
        ended.map(|ended| capped(time, cpu, cap, ended))
    }

    /// What lasts at the end of the recording.
    pub fn finish(self, end: i64) -> impl Iterator<Item = CpuStateRow> {
        self.cpus.into_iter().flat_map(move |(cpu, of)| {
            let [firmware, heat] = of.caps;
            let parking = of.parking.open.map(|open| parked(end, cpu, open));
            let firmware = firmware.open.map(|open| capped(end, cpu, Cap::Firmware, open));
            let heat = heat.open.map(|open| capped(end, cpu, Cap::Heat, open));
            [parking, firmware, heat].into_iter().flatten()
        })
    }
}

fn parked(time: i64, cpu: i16, (start, kind): (i64, i32)) -> CpuStateRow {
    let kind = i8::try_from(kind).unwrap_or(cpu_state_kinds::PARKED);
    CpuStateRow { time: time.max(start), cpu, start, kind, value: None }
}

fn capped(time: i64, cpu: i16, cap: Cap, (start, percent): (i64, i32)) -> CpuStateRow {
    let kind = match cap {
        Cap::Firmware => cpu_state_kinds::CAPPED_BY_FIRMWARE,
        Cap::Heat => cpu_state_kinds::CAPPED_BY_HEAT,
    };
    CpuStateRow { time: time.max(start), cpu, start, kind, value: Some(percent) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Park(bool),
        Unpark,
        Told(Option<bool>),
        Cap(i64),
        CapInForce(i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            any::<bool>().prop_map(Step::Park),
            Just(Step::Unpark),
            prop::option::of(any::<bool>()).prop_map(Step::Told),
            (-1_i64..102).prop_map(Step::Cap),
            (-1_i64..102).prop_map(Step::CapInForce),
        ]
    }

    proptest! {
        /// Against a list of what held in each nanosecond, filled backwards from the first event where that tells the time before.
        #[test]
        fn spans_are_what_held_in_each_nanosecond(steps in prop::collection::vec((step(), 1_i64..4), 0..20)) {
            let mut states = CpuStates::default();
            let mut rows = Vec::new();
            let (mut now, mut parking, mut caps) = (0, Vec::new(), Vec::new());
            let (mut parked, mut cap) = (None::<Option<i8>>, None::<Option<i64>>);
            for (step, length) in steps {
                for _ in 0..length {
                    parking.push(parked);
                    caps.push(cap);
                    now += 1;
                }
                let kind = |is_soft: bool| if is_soft { cpu_state_kinds::SOFT_PARKED } else { cpu_state_kinds::PARKED };
                let mut set_parking = |value: Option<i8>, before: Option<i8>| {
                    if parked.is_none() {
                        parking.fill(Some(before));
                    }
                    parked = Some(value);
                };
                rows.extend(match step {
                    Step::Park(is_soft) => {
                        set_parking(Some(kind(is_soft)), None);
                        states.parking(now, 1, Some(is_soft), Told::Begins, 0)
                    }
                    Step::Unpark => {
                        set_parking(None, Some(cpu_state_kinds::PARKED));
                        states.parking(now, 1, None, Told::Begins, 0)
                    }
                    Step::Told(is_soft) => {
                        set_parking(is_soft.map(kind), is_soft.map(kind));
                        states.parking(now, 1, is_soft, Told::InForce, 0)
                    }
                    Step::Cap(percent) | Step::CapInForce(percent) => {
                        let told = if matches!(step, Step::Cap(_)) { Told::Begins } else { Told::InForce };
                        if percent > 0 {
                            let value = Some(percent).filter(|percent| *percent < 100);
                            if cap.is_none() {
                                caps.fill(Some(value.filter(|_| told == Told::InForce)));
                            }
                            cap = Some(value);
                        }
                        states.cap(now, 1, (Cap::Heat, percent), told, 0)
                    }
                });
            }
            rows.extend(states.finish(now));
            for instant in 0..now {
                let at = |is_cap: bool| {
                    let mut found = rows.iter().filter(|row| {
                        (row.start..row.time).contains(&instant) && row.value.is_some() == is_cap
                    });
                    (found.next(), found.next())
                };
                let (row, second) = at(false);
                prop_assert!(second.is_none());
                prop_assert_eq!(row.map(|row| row.kind), parking[instant as usize].flatten());
                let (row, second) = at(true);
                prop_assert!(second.is_none());
                prop_assert_eq!(row.and_then(|row| row.value).map(i64::from), caps[instant as usize].flatten());
            }
        }
    }
}
