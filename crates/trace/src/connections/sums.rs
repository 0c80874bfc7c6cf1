//! Figures of the traffic of one connection.

use crate::rows::{ConnectionRow, NetworkIoRow, network_io_kinds as kinds};

/// A burst ends where so much time passes without an event, ns.
const BURST_GAP: i64 = 350_000_000;

const SECOND: i128 = 1_000_000_000;

/// Figures of the traffic of one connection, from its rows of `network_io` in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficSums {
    posted: Stream,
    sent: Stream,
    received: Stream,
    retransmits: i64,
    retransmit_delay: i64,
    delays: Delays,
    time_outs: i64,
    client_retransmits: i64,
    keep_alives: i64,
    rtt: Samples,
}

/// Delays of retransmissions, each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Delays {
    all: Vec<i64>,
    /// The shortest and the longest one.
    ends: Option<(i64, i64)>,
    /// Whether some of them were not kept.
    has_lost: bool,
}

impl Delays {
    fn add(&mut self, delay: i64, keeps: bool) {
        let (min, max) = self.ends.unwrap_or((delay, delay));
        self.ends = Some((min.min(delay), max.max(delay)));
        if keeps && !self.has_lost {
            self.all.push(delay);
        } else {
            self.has_lost = true;
            self.all = Vec::new();
        }
    }

    /// The one in the middle; of an even number the mean of the two in the middle.
    fn median(&self) -> Option<i64> {
        let mut all = self.all.clone();
        all.sort_unstable();
        let high = *all.get(all.len() / 2)?;
        let low = *all.get((all.len() - 1) / 2)?;
        i64::try_from((i128::from(low) + i128::from(high)) / 2).ok()
    }
}

/// Which figures a recording tells. The others are null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Data that processes gave to the stack.
    pub posted: bool,
    /// Data that was sent.
    pub sent: bool,
    /// Data that was received.
    pub received: bool,
    /// Retransmissions of this side.
    pub retransmits: bool,
    /// Times since the same data was sent before.
    pub delays: bool,
    /// Retransmissions of the other side.
    pub client_retransmits: bool,
    /// Keep-alive packets.
    pub keep_alives: bool,
    /// Time-outs of retransmissions.
    pub time_outs: bool,
}

/// Events of one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stream {
    bytes: i64,
    events: i64,
    last: Option<i64>,
    max_gap: Option<i64>,
    burst_start: i64,
    burst_bytes: i64,
    /// Σ bytes × rate over the bursts that have ended, and Σ bytes.
    weighted: i128,
    weight: i128,
}

impl Stream {
    fn add(&mut self, time: i64, size: i64) {
        self.bytes = self.bytes.saturating_add(size);
        self.events += 1;
        let gap = self.last.map(|last| time.saturating_sub(last));
        self.max_gap = self.max_gap.max(gap);
        if gap.is_none_or(|gap| gap > BURST_GAP) {
            (self.weighted, self.weight) = self.with_burst();
            (self.burst_start, self.burst_bytes) = (time, 0);
        }
        self.burst_bytes = self.burst_bytes.saturating_add(size);
        self.last = Some(time);
    }

    /// The sums with the burst that has not ended yet. A burst that takes no time has no rate.
    fn with_burst(&self) -> (i128, i128) {
        let duration = self.last.map_or(0, |last| last.saturating_sub(self.burst_start));
        let bytes = i128::from(self.burst_bytes);
        if duration <= 0 || bytes <= 0 {
            return (self.weighted, self.weight);
        }
        let squared = bytes.saturating_mul(bytes).saturating_mul(SECOND);
        (self.weighted.saturating_add(squared / i128::from(duration)), self.weight.saturating_add(bytes))
    }

    fn rate(&self) -> Option<i64> {
        let (weighted, weight) = self.with_burst();
        i64::try_from(weighted.checked_div(weight)?).ok()
    }
}

/// Samples of a round-trip time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Samples {
    min: Option<i64>,
    max: Option<i64>,
    sum: i128,
    count: i128,
}

impl TrafficSums {
    /// Adds an event.
    pub fn add(&mut self, row: &NetworkIoRow) {
        self.add_within(row, true);
    }

    /// Number of delays that are kept.
    pub(super) fn kept_delays(&self) -> usize {
        self.delays.all.len()
    }

    /// Adds an event. `keeps`: a delay of it may be kept; without all delays there is no median.
    pub(super) fn add_within(&mut self, row: &NetworkIoRow, keeps: bool) {
        match row.kind {
            kinds::SEND_POSTED => self.posted.add(row.time, row.size),
            kinds::SENT => self.sent.add(row.time, row.size),
            kinds::RECEIVED => self.received.add(row.time, row.size),
            kinds::RETRANSMITTED => {
                self.retransmits += 1;
                self.retransmit_delay = self.retransmit_delay.saturating_add(row.delay.unwrap_or(0));
                row.delay.iter().for_each(|delay| self.delays.add(*delay, keeps));
            }
            kinds::RETRANSMIT_TIME_OUT => self.time_outs += 1,
            kinds::RECEIVED_AGAIN => self.client_retransmits += 1,
            kinds::KEEP_ALIVE => self.keep_alives += 1,
            _ => {}
        }
        if let Some(rtt) = row.srtt {
            let samples = &mut self.rtt;
            samples.min = Some(samples.min.map_or(rtt, |min| min.min(rtt)));
            samples.max = samples.max.max(Some(rtt));
            samples.sum += i128::from(rtt);
            samples.count += 1;
        }
    }

    /// Writes the figures into the row of the connection. Round-trip times that the system told stay, unless `is_part`: then the
    /// figures are those of a part of the recording.
    pub fn write(&self, told: Told, is_part: bool, row: &mut ConnectionRow) {
        // Where nothing tells of sent data, what processes gave to the stack stands for it.
        let sent = if self.sent.events == 0 && told.posted { &self.posted } else { &self.sent };
        let knows_sent = told.sent || told.posted;
        row.sent = knows_sent.then_some(sent.bytes);
        row.last_sent = sent.last;
        row.max_send_gap = sent.max_gap;
        row.send_rate = sent.rate();
        row.send_events = told.sent.then_some(self.sent.events);
        row.posted_events = told.posted.then_some(self.posted.events);
        row.received = told.received.then_some(self.received.bytes);
        row.receive_events = told.received.then_some(self.received.events);
        row.last_received = self.received.last;
        row.max_receive_gap = self.received.max_gap;
        row.receive_rate = self.received.rate();
        row.retransmits = told.retransmits.then_some(self.retransmits);
        row.retransmit_delay = told.delays.then_some(self.retransmit_delay);
        row.retransmit_delay_max = self.delays.ends.map(|(_, max)| max);
        row.retransmit_delay_min = self.delays.ends.map(|(min, _)| min);
        row.retransmit_delay_median = self.delays.median();
        row.retransmit_time_outs = told.time_outs.then_some(self.time_outs);
        row.client_retransmits = told.client_retransmits.then_some(self.client_retransmits);
        row.keep_alives = told.keep_alives.then_some(self.keep_alives);
        if self.rtt.count > 0 && (is_part || row.rtt_avg.is_none()) {
            (row.rtt_min, row.rtt_max) = (self.rtt.min, self.rtt.max);
            row.rtt_avg = i64::try_from(self.rtt.sum / self.rtt.count).ok();
        }
    }
}

impl Told {
    /// What a stored row tells.
    #[must_use]
    pub fn of(row: &ConnectionRow) -> Self {
        Self {
            posted: row.posted_events.is_some(),
            sent: row.send_events.is_some(),
            received: row.received.is_some(),
            retransmits: row.retransmits.is_some(),
            delays: row.retransmit_delay.is_some(),
            client_retransmits: row.client_retransmits.is_some(),
            keep_alives: row.keep_alives.is_some(),
            time_outs: row.retransmit_time_outs.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BURST_GAP, Told, TrafficSums};
    use crate::rows::{ConnectionRow, NetworkIoRow, network_io_kinds as kinds};

    const ALL: Told = Told {
        posted: true,
        sent: true,
        received: true,
        retransmits: true,
        delays: true,
        client_retransmits: true,
        keep_alives: true,
        time_outs: true,
    };

    fn figures(rows: &[NetworkIoRow]) -> ConnectionRow {
        let mut sums = TrafficSums::default();
        rows.iter().for_each(|row| sums.add(row));
        let mut row = ConnectionRow::default();
        sums.write(ALL, false, &mut row);
        row
    }

    proptest! {
        #[test]
        fn figures_are_those_of_lists(steps in prop::collection::vec((0..600_i64, 0..8_i8, 0..3_000_i64), 0..40)) {
            let mut time = 0;
            let rows: Vec<NetworkIoRow> = steps.iter().map(|(after, kind, size)| {
                time += after * 1_000_000;
                let delay = (*size > 100).then_some(*size);
                NetworkIoRow { time, kind: *kind, size: *size, delay, ..NetworkIoRow::default() }
            }).collect();
            let row = figures(&rows);
            let of = |kind: i8| rows.iter().filter(|row| row.kind == kind).collect::<Vec<_>>();
            let sent = if of(kinds::SENT).is_empty() { of(kinds::SEND_POSTED) } else { of(kinds::SENT) };
            let bytes = |rows: &[&NetworkIoRow]| rows.iter().map(|row| row.size).sum::<i64>();
            prop_assert_eq!(row.sent, Some(bytes(&sent)));
            prop_assert_eq!(row.received, Some(bytes(&of(kinds::RECEIVED))));
            let gaps = |rows: &[&NetworkIoRow]| rows.windows(2).map(|pair| pair[1].time - pair[0].time).max();
            prop_assert_eq!((row.max_send_gap, row.max_receive_gap), (gaps(&sent), gaps(&of(kinds::RECEIVED))));
            prop_assert_eq!(row.last_sent, sent.last().map(|row| row.time));
            let count = |kind: i8| Some(of(kind).len() as i64);
            prop_assert_eq!((row.send_events, row.posted_events), (count(kinds::SENT), count(kinds::SEND_POSTED)));
            prop_assert_eq!((row.retransmits, row.client_retransmits), (count(kinds::RETRANSMITTED), count(kinds::RECEIVED_AGAIN)));
            let delays: Vec<i64> = of(kinds::RETRANSMITTED).iter().filter_map(|row| row.delay).collect();
            prop_assert_eq!(row.retransmit_delay, Some(delays.iter().sum()));
            prop_assert_eq!(row.retransmit_delay_max, delays.iter().max().copied());
            prop_assert_eq!(row.retransmit_delay_min, delays.iter().min().copied());
            prop_assert_eq!(row.retransmit_time_outs, count(kinds::RETRANSMIT_TIME_OUT));
            // As many delays are below the median as above it.
            let median = row.retransmit_delay_median;
            prop_assert_eq!(median.is_some(), !delays.is_empty());
            if let Some(median) = median {
                let below = delays.iter().filter(|delay| **delay < median).count();
                let above = delays.iter().filter(|delay| **delay > median).count();
                prop_assert!(below * 2 <= delays.len() && above * 2 <= delays.len(), "{median} of {delays:?}");
                if delays.len() % 2 == 1 {
                    prop_assert!(delays.contains(&median));
                }
            }
            // The rate by floating point.
            let bursts = sent.chunk_by(|a, b| b.time - a.time <= BURST_GAP);
            let (mut weighted, mut weight) = (0.0, 0.0);
            for burst in bursts {
                let duration = (burst[burst.len() - 1].time - burst[0].time) as f64 / 1e9;
                let bytes = bytes(burst) as f64;
                if duration > 0.0 && bytes > 0.0 {
                    weighted += bytes * bytes / duration;
                    weight += bytes;
                }
            }
            match row.send_rate {
                Some(rate) => prop_assert!((weighted / weight - rate as f64).abs() <= 1.0, "{} {}", weighted / weight, rate),
                None => prop_assert!(weight == 0.0),
            }
        }
    }

    #[test]
    fn without_all_delays_there_is_no_median() {
        let again =
            |delay: i64| NetworkIoRow { kind: kinds::RETRANSMITTED, delay: Some(delay), ..NetworkIoRow::default() };
        let mut sums = TrafficSums::default();
        [(30, true), (10, true), (25, true), (20, true)]
            .iter()
            .for_each(|(delay, keeps)| sums.add_within(&again(*delay), *keeps));
        let figures = |sums: &TrafficSums| {
            let mut row = ConnectionRow::default();
            sums.write(ALL, false, &mut row);
            [row.retransmit_delay_min, row.retransmit_delay_median, row.retransmit_delay_max]
        };
        assert_eq!((figures(&sums), sums.kept_delays()), ([Some(10), Some(22), Some(30)], 4));
        sums.add_within(&again(5), false);
        sums.add_within(&again(40), true);
        assert_eq!((figures(&sums), sums.kept_delays()), ([Some(5), None, Some(40)], 0));
    }

    #[test]
    fn a_rate_is_that_of_bursts() {
        let io = |ms: i64, size: i64| NetworkIoRow {
            time: ms * 1_000_000,
            kind: kinds::RECEIVED,
            size,
            ..NetworkIoRow::default()
        };
        // 2000 bytes in 100 ms, then after a pause 1000 bytes in 200 ms, then one alone.
        let row = figures(&[io(0, 1000), io(100, 1000), io(1000, 500), io(1200, 500), io(9000, 7)]);
        assert_eq!(row.receive_rate, Some((2000 * 20_000 + 1000 * 5_000) / 3000));
        assert_eq!((row.received, row.max_receive_gap), (Some(3007), Some(7_800_000_000)));
    }
}
