//! Requests to disks, from those who ask over the driver to the completion. No record of one carries an identity: they are
//! known by disk and place, which merging and splitting on the way change.

use std::collections::{BTreeMap, VecDeque};

use crate::ids::{StackId, ThreadId};
use crate::rows::DiskOperation;

/// What is followed at most of each kind. Of more the oldest ones are given up.
const MAX_PENDING: usize = 4 << 20;
/// One of so many is given up at a time, so that finding the oldest ones costs little.
const SHARE: usize = 8;

/// Disk and first sector.
type Place = (u32, u64);

/// Who asked, when and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker {
    /// When.
    pub ticks: i64,
    /// The thread that ran.
    pub thread: ThreadId,
    /// Its stack.
    pub stack: Option<StackId>,
}

/// Sectors of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of the disk.
    pub disk: u32,
    /// The first sector.
    pub sector: u64,
    /// How many.
    pub count: u64,
}

impl Extent {
    fn place(self) -> Place {
        (self.disk, self.sector)
    }

    fn end(self) -> u64 {
        self.sector.saturating_add(self.count)
    }
}

/// A request that has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Where; no sectors for a flush.
    pub extent: Extent,
    /// When the driver's queue got it: inserted, where that was recorded, else issued.
    pub start: i64,
    /// When the device got it, where `start` is the time at which it was inserted.
    pub issued: Option<i64>,
    /// Who asked first for a part of it.
    pub asker: Asker,
    /// How urgent the driver was told that it is: class and level, as the kernel has them in one number.
    pub priority: Option<u16>,
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// As it was issued.
    extent: Extent,
    operation: DiskOperation,
    /// Sectors that are not completed yet.
    left: u64,
    start: i64,
    /// When the device got it last.
    issued: i64,
    /// Whether `start` is the time at which it was inserted.
    was_inserted: bool,
    asker: Asker,
    priority: Option<u16>,
    /// The device did not take it: it will be issued again.
    refused: bool,
}

/// A flush on its way.
#[derive(Clone, Copy, Debug)]
struct Flush {
    start: i64,
    asker: Asker,
    /// Where it was issued. The kernel has one flush at a time on its way per queue of a device, and a CPU uses one queue.
    cpu: u16,
    priority: Option<u16>,
    refused: bool,
}

/// Flushes of a disk.
#[derive(Debug, Default)]
struct Flushes {
    /// On their way, in the order in which they were issued.
    issued: VecDeque<Flush>,
    /// The last issue that was taken for the same flush issued again. Two completions in its wake prove that it was another one.
    maybe: Option<Flush>,
    /// Whether the disk has had several flushes on their way.
    several: bool,
}

/// A wish for sectors that no request has taken up yet.
#[derive(Clone, Copy, Debug)]
struct Wish {
    end: u64,
    asker: Asker,
}

/// Follows requests. Fed in time order.
#[derive(Debug, Default)]
pub struct DiskRequests {
    wishes: BTreeMap<Place, Wish>,
    /// Inserted, not issued.
    queued: BTreeMap<Place, Request>,
    /// By the first sector that is not completed.
    issued: BTreeMap<Place, Request>,
    /// Wishes for a flush, and flushes on their way, per disk.
    flush_wishes: BTreeMap<u32, Asker>,
    flushes: BTreeMap<u32, Flushes>,
    flushing: usize,
    /// Whether the recording tells of requests that are put back. Then one that is issued again without that is another one.
    tells_refusals: bool,
    lost: u64,
    /// Wishes that had to make room.
    forgotten: u64,
    /// What is followed at most of each kind.
    most: usize,
}

impl DiskRequests {
    /// Nothing on its way. `tells_refusals`: [`Self::refused`] and [`Self::flush_refused`] are called for each request that the
    /// device does not take.
    #[must_use]
    pub fn new(tells_refusals: bool) -> Self {
        Self { tells_refusals, most: MAX_PENDING, ..Self::default() }
    }

    /// Somebody asks for sectors.
    pub fn asked(&mut self, extent: Extent, asker: Asker) {
        if extent.count == 0 {
            return;
        }
        // What no request takes up was for a disk that is watched in part.
        self.forgotten += make_room(&mut self.wishes, self.most, |wish| wish.asker.ticks);
        self.wishes.insert(extent.place(), Wish { end: extent.end(), asker });
    }

    /// Somebody asks for a flush. Until it is issued it serves all who ask.
    pub fn asked_to_flush(&mut self, disk: u32, asker: Asker) {
        if self.flush_wishes.len() < self.most {
            self.flush_wishes.entry(disk).or_insert(asker);
        }
    }

    /// A request is put into the driver's queue.
    pub fn inserted(&mut self, operation: DiskOperation, extent: Extent, current: Asker, priority: Option<u16>) {
        let request = self.request((operation, extent), current, priority, true);
        self.lost += add(&mut self.queued, self.most, extent.place(), request);
    }

    /// A request is given to the device. What was inserted within it has been merged into it. One that was issued before was
    /// refused by the device and comes again: the same operation on the same sectors, or on all that are not completed yet.
    pub fn issued(&mut self, operation: DiskOperation, extent: Extent, current: Asker, priority: Option<u16>) {
        let is_same = |known: &&mut Request| known.left == extent.count && known.operation == operation;
        if let Some(known) = self.issued.get_mut(&extent.place()).filter(is_same)
            && (known.refused || !self.tells_refusals)
        {
            (known.refused, known.issued) = (false, current.ticks);
            // The kernel may have put it into the queue again.
            if self.queued.get(&extent.place()).is_some_and(|again| again.extent == extent) {
                self.queued.remove(&extent.place());
            }
            return;
        }
        let mut request = self.request((operation, extent), current, priority, false);
        let end = (extent.disk, extent.end());
        while let Some((&place, known)) = self.queued.range(extent.place()..end).next() {
            request.start = request.start.min(known.start);
            request.was_inserted = true;
            request.priority = request.priority.or(known.priority);
            request.asker = std::cmp::min_by_key(request.asker, known.asker, |asker| asker.ticks);
            self.queued.remove(&place);
        }
        self.lost += add(&mut self.issued, self.most, extent.place(), request);
    }

    /// The device has not taken a request, which goes back into its queue.
    pub fn refused(&mut self, extent: Extent) {
        if let Some(known) = self.issued.get_mut(&extent.place()).filter(|known| known.left == extent.count) {
            known.refused = true;
        }
    }

    /// The device has not taken the flush that this CPU gave it last.
    pub fn flush_refused(&mut self, disk: u32, cpu: u16) {
        let Some(flushes) = self.flushes.get_mut(&disk) else { return };
        let of_cpu = flushes.issued.iter().rposition(|flush| flush.cpu == cpu && !flush.refused);
        let last = of_cpu.or_else(|| flushes.issued.iter().rposition(|flush| !flush.refused));
        if let Some(flush) = last.and_then(|at| flushes.issued.get_mut(at)) {
            flush.refused = true;
        }
    }

    /// A flush is given to the device by a CPU. Where another one of the disk is on its way, it may be the same, issued again: it is if the
    /// recording says so; where no recording of refusals could, if it comes from the same CPU, or if the disk never had several.
    pub fn flush_issued(&mut self, disk: u32, cpu: u16, current: Asker, priority: Option<u16>) {
        if self.flushing >= self.most || self.flushes.len() >= self.most {
            self.give_up_flushes();
        }
        let flushes = self.flushes.entry(disk).or_default();
        let mut flush = Flush { start: current.ticks, asker: current, cpu, priority, refused: false };
        if let Some(refused) = flushes.issued.iter_mut().find(|flush| flush.refused) {
            (refused.refused, refused.cpu) = (false, cpu);
            return;
        }
        if !self.tells_refusals && !flushes.issued.is_empty() {
            if flushes.issued.iter().any(|flush| flush.cpu == cpu) {
                return;
            }
            if !flushes.several {
                flushes.maybe = Some(flush);
                return;
            }
        }
        flush.asker = self.flush_wishes.remove(&disk).unwrap_or(current);
        flushes.maybe = None;
        flushes.issued.push_back(flush);
        self.flushing += 1;
    }

    /// Sectors of a request are done. Gives the request, when those were its last ones.
    ///
    /// # Errors
    /// When no request with these sectors is on its way.
    pub fn completed(&mut self, extent: Extent) -> Result<Option<Completed>, UnknownRequest> {
        let mut request = self.issued.remove(&extent.place()).ok_or(UnknownRequest)?;
        request.left = request.left.saturating_sub(extent.count);
        if request.left > 0 && extent.count > 0 {
            // The rest of it is known by its own first sector from now on.
            self.lost += add(&mut self.issued, self.most, (extent.disk, extent.end()), request);
            return Ok(None);
        }
        Ok(Some(request.done()))
    }

    /// A flush is done. They do not say which one: the first that was issued.
    ///
    /// # Errors
    /// When none of this disk is on its way.
    pub fn flush_completed(&mut self, disk: u32) -> Result<Completed, UnknownRequest> {
        let flushes = self.flushes.get_mut(&disk).ok_or(UnknownRequest)?;
        let flush = match flushes.issued.pop_front() {
            Some(flush) => {
                self.flushing = self.flushing.saturating_sub(1);
                flush
            }
            None => {
                let flush = flushes.maybe.take().ok_or(UnknownRequest)?;
                flushes.several = true;
                flush
            }
        };
        let extent = Extent { disk, sector: 0, count: 0 };
        Ok(Completed { extent, start: flush.start, issued: None, asker: flush.asker, priority: flush.priority })
    }

    /// Requests whose completion was not seen: those that were given up, and those still on their way.
    #[must_use]
    pub fn without_completion(&self) -> u64 {
        self.lost + (self.queued.len() + self.issued.len() + self.flushing) as u64
    }

    /// Wishes that were forgotten, as more were open than are followed: who asked is not known of their requests.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Gives up the flushes of the disks whose first flush has been on its way longest.
    fn give_up_flushes(&mut self) {
        let first = |flushes: &Flushes| flushes.issued.front().map_or(i64::MIN, |flush| flush.start);
        let mut starts: Vec<i64> = self.flushes.values().map(first).collect();
        let at = starts.len() / SHARE;
        let Some((_, limit, _)) = (at < starts.len()).then(|| starts.select_nth_unstable(at)) else { return };
        let limit = *limit;
        let mut lost = 0;
        self.flushes.retain(|_, flushes| {
            let stays = first(flushes) > limit;
            lost += if stays { 0 } else { flushes.issued.len() };
            stays
        });
        self.flushing = self.flushing.saturating_sub(lost);
        self.lost += lost as u64;
    }

    fn request(
        &mut self,
        (operation, extent): (DiskOperation, Extent),
        current: Asker,
        priority: Option<u16>,
        was_inserted: bool,
    ) -> Request {
        let (start, issued) = (current.ticks, current.ticks);
        let asker = self.take_wishes(extent).unwrap_or(current);
        Request { extent, operation, left: extent.count, start, issued, was_inserted, asker, priority, refused: false }
    }

    /// Who asked first for a part of these sectors. The wishes are granted; what they want beyond stays.
    fn take_wishes(&mut self, extent: Extent) -> Option<Asker> {
        let (disk, end) = (extent.disk, extent.end());
        let before = self.wishes.range((disk, 0)..extent.place()).next_back().map(|(place, wish)| (*place, *wish));
        let mut first: Option<Asker> = None;
        let mut take = |asker: Asker| {
            if first.is_none_or(|first| asker.ticks < first.ticks) {
                first = Some(asker);
            }
        };
        let mut rest = None;
        if let Some((place, wish)) = before.filter(|(_, wish)| wish.end > extent.sector) {
            take(wish.asker);
            self.wishes.remove(&place);
            rest = Some(wish).filter(|wish| wish.end > end);
        }
        while let Some((place, wish)) = self.wishes.range(extent.place()..(disk, end)).next().map(|(p, w)| (*p, *w)) {
            take(wish.asker);
            self.wishes.remove(&place);
            rest = Some(wish).filter(|wish| wish.end > end).or(rest);
        }
        if let Some(wish) = rest {
            self.wishes.insert((disk, end), wish);
        }
        first
    }
}

/// Adds a request; how many others are given up for it.
fn add(requests: &mut BTreeMap<Place, Request>, most: usize, place: Place, request: Request) -> u64 {
    let lost = make_room(requests, most, |request| request.start);
    lost + u64::from(requests.insert(place, request).is_some())
}

/// Gives up the oldest share where there is no more room; how many that are.
fn make_room<V>(open: &mut BTreeMap<Place, V>, most: usize, age: fn(&V) -> i64) -> u64 {
    if open.len() < most.max(1) {
        return 0;
    }
    let before = open.len();
    let mut ages: Vec<i64> = open.values().map(age).collect();
    let (_, limit, _) = ages.select_nth_unstable(before / SHARE);
    let limit = *limit;
    open.retain(|_, value| age(value) > limit);
    (before - open.len()) as u64
}

impl Request {
    fn done(self) -> Completed {
        Completed {
            extent: self.extent,
            start: self.start,
            issued: self.was_inserted.then_some(self.issued),
            asker: self.asker,
            priority: self.priority,
        }
    }
}

/// A completion of a request that nobody saw begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRequest;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sector: u64, count: u64) -> Extent {
        Extent { disk: 8, sector, count }
    }

    fn by(thread: i32, ticks: i64) -> Asker {
        Asker { ticks, thread: ThreadId(thread), stack: None }
    }

    fn inserted(extent: Extent, start: i64, issued: i64, asker: Asker) -> Result<Option<Completed>, UnknownRequest> {
        Ok(Some(Completed { extent, start, issued: Some(issued), asker, priority: None }))
    }

    fn done(extent: Extent, start: i64, asker: Asker) -> Result<Option<Completed>, UnknownRequest> {
        Ok(Some(Completed { extent, start, issued: None, asker, priority: None }))
    }

    #[test]
    fn another_operation_on_the_same_sectors_is_another_request() {
        let mut requests = DiskRequests::new(false);
        requests.issued(DiskOperation::Write, at(100, 8), by(1, 10), None);
        requests.issued(DiskOperation::Read, at(100, 8), by(2, 50), None);
        let done = requests.completed(at(100, 8)).unwrap().unwrap();
        assert_eq!((done.start, done.asker.thread), (50, ThreadId(2)));
        assert_eq!(requests.without_completion(), 1);
    }

    #[test]
    fn a_request_belongs_to_who_asked_first_and_starts_in_the_queue() {
        let mut disk = DiskRequests::new(false);
        disk.asked(at(100, 8), by(1, 10));
        disk.inserted(DiskOperation::Read, at(100, 8), by(1, 12), None);
        disk.issued(DiskOperation::Read, at(100, 8), by(2, 15), None);
        assert_eq!(disk.completed(at(100, 8)), inserted(at(100, 8), 12, 15, by(1, 10)));
        assert_eq!(disk.completed(at(100, 8)), Err(UnknownRequest));
        // Without the other records it is all in the issue.
        disk.issued(DiskOperation::Read, at(100, 8), by(2, 25), None);
        assert_eq!(disk.completed(at(100, 8)), done(at(100, 8), 25, by(2, 25)));
        assert_eq!(disk.without_completion(), 0);
    }

    #[test]
    fn merged_requests_are_one() {
        let mut disk = DiskRequests::new(false);
        for (sector, ticks) in [(100, 1), (108, 2), (116, 3), (92, 4)] {
            disk.asked(at(sector, 8), by(sector as i32, ticks));
        }
        // One is inserted alone, one grew to both sides, one was merged without ever being inserted.
        disk.inserted(DiskOperation::Read, at(100, 16), by(9, 10), None);
        disk.inserted(DiskOperation::Read, at(116, 8), by(9, 11), None);
        disk.issued(DiskOperation::Read, at(92, 32), by(9, 20), None);
        assert_eq!(disk.completed(at(92, 32)), inserted(at(92, 32), 10, 20, by(100, 1)));
        assert_eq!((disk.wishes.len(), disk.without_completion()), (0, 0));
    }

    #[test]
    fn a_wish_that_is_split_belongs_to_all_its_requests() {
        let mut disk = DiskRequests::new(false);
        disk.asked(at(0, 100), by(1, 1));
        disk.issued(DiskOperation::Read, at(0, 60), by(2, 5), None);
        disk.issued(DiskOperation::Read, at(60, 40), by(2, 6), None);
        assert_eq!(disk.completed(at(60, 40)), done(at(60, 40), 6, by(1, 1)));
        assert_eq!(disk.completed(at(0, 60)), done(at(0, 60), 5, by(1, 1)));
        assert!(disk.wishes.is_empty());
    }

    #[test]
    fn completions_in_parts_are_one_operation() {
        let mut disk = DiskRequests::new(false);
        disk.issued(DiskOperation::Read, at(10, 24), by(1, 5), None);
        assert_eq!(disk.completed(at(10, 8)), Ok(None));
        assert_eq!(disk.completed(at(18, 8)), Ok(None));
        assert_eq!(disk.completed(at(26, 8)), done(at(10, 24), 5, by(1, 5)));
    }

    #[test]
    fn a_request_that_was_refused_keeps_its_start_and_a_lost_completion_is_counted() {
        let mut disk = DiskRequests::new(false);
        disk.issued(DiskOperation::Read, at(10, 8), by(1, 5), None);
        disk.issued(DiskOperation::Read, at(10, 8), by(7, 9), None);
        assert_eq!(disk.completed(at(10, 8)), done(at(10, 8), 5, by(1, 5)));
        disk.issued(DiskOperation::Read, at(10, 8), by(1, 15), None);
        disk.issued(DiskOperation::Read, at(10, 16), by(2, 25), None);
        assert_eq!(disk.without_completion(), 2);
        assert_eq!(disk.completed(at(10, 16)), done(at(10, 16), 25, by(2, 25)));
        assert_eq!(disk.without_completion(), 1);
    }

    /// As a disk does that ends within a request: what it has comes first, the rest goes back into the queue.
    #[test]
    fn a_request_whose_rest_was_refused_is_one() {
        for tells_refusals in [true, false] {
            let mut disk = DiskRequests::new(tells_refusals);
            disk.inserted(DiskOperation::Read, at(10, 24), by(1, 3), None);
            disk.issued(DiskOperation::Read, at(10, 24), by(1, 5), None);
            assert_eq!(disk.completed(at(10, 8)), Ok(None));
            disk.refused(at(18, 16));
            disk.inserted(DiskOperation::Read, at(18, 16), by(7, 8), None);
            disk.issued(DiskOperation::Read, at(18, 16), by(7, 9), None);
            assert_eq!(disk.completed(at(18, 16)), inserted(at(10, 24), 3, 9, by(1, 3)));
            assert_eq!(disk.without_completion(), 0);
            // A request for the same sectors later on is another one.
            disk.issued(DiskOperation::Read, at(18, 16), by(2, 20), None);
            assert_eq!(disk.completed(at(18, 16)), done(at(18, 16), 20, by(2, 20)));
        }
    }

    fn flushed(start: i64, asker: Asker) -> Result<Completed, UnknownRequest> {
        Ok(Completed { extent: at(0, 0), start, issued: None, asker, priority: None })
    }

    #[test]
    fn flushes_of_a_disk_with_several_queues_end_in_their_order() {
        for tells_refusals in [true, false] {
            let mut disk = DiskRequests::new(tells_refusals);
            disk.asked_to_flush(8, by(1, 1));
            disk.asked_to_flush(8, by(2, 2));
            disk.flush_issued(8, 0, by(3, 3), None);
            disk.flush_issued(8, 1, by(4, 4), None);
            assert_eq!(disk.flush_completed(8), flushed(3, by(1, 1)));
            assert_eq!(disk.flush_completed(8), flushed(4, by(4, 4)));
            assert_eq!(disk.flush_completed(8), Err(UnknownRequest));
            // Now it is known that there may be several.
            disk.flush_issued(8, 0, by(3, 13), None);
            disk.flush_issued(8, 1, by(4, 14), None);
            assert_eq!(disk.flush_completed(8), flushed(13, by(3, 13)));
            disk.flush_issued(8, 0, by(3, 15), None);
            assert_eq!(disk.flush_completed(8), flushed(14, by(4, 14)));
            assert_eq!(disk.flush_completed(8), flushed(15, by(3, 15)));
            assert_eq!(disk.without_completion(), 0);
        }
    }

    /// Times of a real recording, µs: a flush comes again from another CPU after 1.1 ms, and took 1.2 ms in all.
    #[test]
    fn a_flush_that_is_issued_again_does_not_shift_the_later_ones() {
        for tells_refusals in [true, false] {
            let mut disk = DiskRequests::new(tells_refusals);
            disk.flush_issued(8, 0, by(1, 4_770), None);
            assert_eq!(disk.flush_completed(8), flushed(4_770, by(1, 4_770)));
            disk.asked_to_flush(8, by(5, 11_000));
            disk.flush_issued(8, 0, by(1, 11_677), None);
            if tells_refusals {
                disk.flush_refused(8, 0);
            }
            disk.flush_issued(8, 1, by(2, 12_792), None);
            assert_eq!(disk.flush_completed(8), flushed(11_677, by(5, 11_000)));
            for ticks in [20_000, 30_000] {
                disk.flush_issued(8, 1, by(2, ticks), None);
                assert_eq!(disk.flush_completed(8), flushed(ticks, by(2, ticks)));
            }
            assert_eq!(disk.flush_completed(8), Err(UnknownRequest));
            assert_eq!(disk.without_completion(), 0);
        }
    }

    #[test]
    fn what_is_issued_again_without_a_refusal_is_another_request_where_refusals_are_told() {
        let mut disk = DiskRequests::new(true);
        disk.issued(DiskOperation::Read, at(10, 8), by(1, 5), None);
        disk.refused(at(10, 8));
        disk.issued(DiskOperation::Read, at(10, 8), by(2, 6), None);
        assert_eq!(disk.completed(at(10, 8)), done(at(10, 8), 5, by(1, 5)));
        disk.issued(DiskOperation::Read, at(10, 8), by(1, 15), None);
        disk.issued(DiskOperation::Read, at(10, 8), by(1, 25), None);
        assert_eq!(disk.completed(at(10, 8)), done(at(10, 8), 25, by(1, 25)));
        assert_eq!(disk.without_completion(), 1, "the completion of the first was lost");
    }

    #[test]
    fn what_never_ends_is_bounded_and_the_newest_stay() {
        const MOST: usize = 1000;
        const COUNT: u64 = 10_000;
        let mut disk = DiskRequests { most: MOST, ..DiskRequests::new(false) };
        let wanted = |number: u64| at(number * 10, 8);
        let issued = |number: u64| at(number * 10 + u64::MAX / 2, 8);
        for number in 0..COUNT {
            let by = by(1, number as i64);
            disk.asked(wanted(number), by);
            disk.issued(DiskOperation::Read, issued(number), by, None);
            disk.flush_issued(number as u32, 0, by, None);
        }
        assert!(disk.wishes.len() <= MOST && disk.issued.len() <= MOST && disk.flushes.len() <= MOST);
        assert_eq!(disk.without_completion(), 2 * COUNT);
        assert_eq!(disk.forgotten() + disk.wishes.len() as u64, COUNT);
        // All that are there are newer than all that are not.
        let oldest = disk.issued.values().map(|request| request.start).min().unwrap();
        assert_eq!(COUNT - oldest as u64, disk.issued.len() as u64);
        assert!(disk.issued.len() > MOST / 2);
        let last = COUNT - 1;
        assert_eq!(disk.completed(issued(last)), done(issued(last), last as i64, by(1, last as i64)));
        assert_eq!(disk.completed(issued(0)), Err(UnknownRequest));
        disk.issued(DiskOperation::Read, at(u64::MAX, u64::MAX), by(1, 1), None);
        disk.issued(DiskOperation::Read, at(0, u64::MAX), by(1, 1), None);
        assert_eq!(disk.completed(at(u64::MAX, u64::MAX)).map(|done| done.is_some()), Ok(true));
    }
}
