//! The places of the rows that a pass over a table sees.

use rustc_hash::FxHashMap;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;

use super::asked::Asked;
use super::dimension::{Cut, Of};
use super::list::{Keeper, Listing};
use super::names::{Interner, Lists, Names};
use super::places::{Places, UNKNOWN};
use super::plan::Plan;
use super::reading::Read;
use super::sums::Sums;
use super::wanted::Wanted;
use crate::time_windows::TimeWindows;

/// Processes with numbers below this have a place in a list.
const LISTED: usize = 1 << 20;

/// What a pass has seen, without the rows themselves.
pub(super) struct Seen<'p, 'n, 'r> {
    asked: &'n Asked,
    names: &'n mut Names<'r>,
    pub(super) ranges: TimeWindows,
    /// The dimensions whose numbers tell places apart.
    dimensions: &'p [usize],
    /// Whether processes tell places apart.
    by_process: bool,
    /// Whether rows of a process are asked for, by its number; the numbers of a damaged archive can be larger.
    processes: Vec<bool>,
    /// The texts of the numbers of each of them.
    pub(super) texts: Vec<Texts>,
    places: Places,
    /// Whether the filters let a number of a dimension pass.
    verdicts: FxHashMap<(usize, i64), bool>,
    /// The sums of each range and place, in a series.
    sums_of: FxHashMap<(u32, u32), u32>,
    /// The numbers of the row at hand; the process first, where processes tell places apart.
    pub(super) row: Vec<i64>,
    /// Single rows, where they are asked for.
    pub(super) keeper: Option<Keeper>,
    pub(super) read: Read<'p>,
}

/// The texts that numbers of rows stand for.
pub(super) enum Texts {
    /// They stand for something else.
    No,
    Whole(Interner),
    /// A part of each text, with its length.
    Part(Cut, Option<usize>, Interner),
    Lists(Lists),
}

impl Texts {
    /// The number of a text.
    #[inline]
    pub(super) fn number(&mut self, text: Option<&str>) -> i64 {
        let Some(text) = text else { return UNKNOWN };
        match self {
            Self::Whole(texts) => texts.number(text),
            Self::Part(cut, level, texts) => texts.number(cut(text, *level)),
            Self::No | Self::Lists(_) => UNKNOWN,
        }
    }

    /// The number of a list.
    #[inline]
    pub(super) fn number_of_list(&mut self, list: Option<&Vec<String>>) -> i64 {
        match (self, list) {
            (Self::Lists(lists), Some(list)) => lists.number(list),
            _ => UNKNOWN,
        }
    }
}

impl<'p, 'n, 'r> Seen<'p, 'n, 'r> {
    pub(super) fn new(asked: &'n Asked, plan: &'p Plan, ranges: &[TimeRange], names: &'n mut Names<'r>) -> Self {
        let texts = |place: &usize| match plan.stated.dimensions[*place].of {
            Of::Text { cut: Some(cut) } => Texts::Part(cut, plan.dir_level, Interner::default()),
            Of::Text { cut: None } => Texts::Whole(Interner::default()),
            Of::Texts => Texts::Lists(Lists::default()),
            _ => Texts::No,
        };
        let processes = names.asked_processes(LISTED);
        let (places, width) = Places::new(plan.keys.len() + 1);
        Self {
            asked,
            names,
            ranges: TimeWindows::of(ranges),
            dimensions: &plan.keys,
            by_process: plan.by_process,
            processes,
            texts: plan.keys.iter().map(texts).collect(),
            places,
            verdicts: FxHashMap::default(),
            sums_of: FxHashMap::default(),
            row: vec![0; width],
            keeper: match asked.listing {
                Some(listing @ (Listing::Flat | Listing::OfGroups(_))) => Some(Keeper::new(asked, listing)),
                Some(Listing::Stacks(_)) | None => None,
            },
            read: Read {
                numbers: Vec::new(),
                width,
                sums: Sums::new(plan),
                in_ranges: vec![Vec::new(); ranges.len()],
                single: None,
            },
        }
    }

    /// Whether the sums of a place have its number.
    pub(super) fn has_one_range(&self) -> bool {
        self.ranges.spans().len() == 1
    }

    /// Sees the process of the row at hand. `false`: rows of it are not asked for.
    #[inline]
    pub(super) fn takes_process(&mut self, process: i64) -> bool {
        // Where it tells places apart the filter looks at each place, and not at each row.
        if self.by_process {
            self.row[0] = process;
            return true;
        }
        self.is_asked(process)
    }

    /// Whether rows of a process are asked for.
    fn is_asked(&self, process: i64) -> bool {
        match process {
            UNKNOWN => self.asked.takes_unknown_processes(),
            process => match usize::try_from(process).ok().and_then(|process| self.processes.get(process)) {
                Some(is_asked) => *is_asked,
                None => i32::try_from(process).is_ok_and(|process| self.names.has_process(ProcessId(process))),
            },
        }
    }

    /// The place of the numbers of the row at hand; `None`: the filters do not let it pass.
    #[inline]
    pub(super) fn place(&mut self) -> Option<u32> {
        match self.places.get(&self.row) {
            Ok(place) => place,
            Err(_) => self.add_place(),
        }
    }

    /// The place of numbers that were never seen.
    #[cold]
    fn add_place(&mut self) -> Option<u32> {
        let place = self.lets_pass().then(|| {
            let place = (self.read.numbers.len() / self.read.width) as u32;
            self.read.numbers.extend_from_slice(&self.row);
            if self.has_one_range() {
                self.read.sums.add_place();
            }
            place
        });
        self.places.insert(&self.row, place);
        place
    }

    /// Whether the filters let the row at hand pass.
    fn lets_pass(&mut self) -> bool {
        let asked = self.asked;
        (!self.by_process || self.is_asked(self.row[0]))
            && asked.patterns.iter().all(|(dimension, wanted)| self.is_wanted(*dimension, wanted))
    }

    fn is_wanted(&mut self, dimension: usize, wanted: &Wanted) -> bool {
        let Some(place) = self.dimensions.iter().position(|known| *known == dimension) else { return true };
        let number = self.row[place + 1];
        match &self.texts[place] {
            Texts::Whole(texts) | Texts::Part(_, _, texts) => wanted.lets_pass_text(texts.text(number)),
            Texts::Lists(lists) => lists.lets_pass(number, wanted),
            Texts::No => {
                let names = &*self.names;
                let verdict = || names.lets_pass(dimension, number, wanted);
                *self.verdicts.entry((dimension, number)).or_insert_with(verdict)
            }
        }
    }

    /// The number of the sums of a place in a range of a series.
    #[inline]
    pub(super) fn sums_in(&mut self, range: usize, place: u32) -> usize {
        let many = self.sums_of.len() as u32;
        let read = &mut self.read;
        let sums = *self.sums_of.entry((range as u32, place)).or_insert_with(|| {
            read.sums.add_place();
            read.in_ranges[range].push((place, many));
            many
        });
        sums as usize
    }

    /// What was read. The names get the texts that were found.
    pub(super) fn into_read(mut self) -> Read<'p> {
        if self.has_one_range() {
            let places = self.read.numbers.len() / self.read.width;
            self.read.in_ranges[0] = (0..places as u32).map(|place| (place, place)).collect();
        }
        for (dimension, texts) in self.dimensions.iter().zip(self.texts) {
            match texts {
                Texts::Whole(texts) | Texts::Part(_, _, texts) => self.names.set_texts(*dimension, texts),
                Texts::Lists(lists) => self.names.set_lists(*dimension, lists),
                Texts::No => {}
            }
        }
        Read { single: self.keeper, ..self.read }
    }
}
