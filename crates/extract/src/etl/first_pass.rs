//! The first pass: what is known late, and what of stacks is, side by side.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tracesift_etl::{DamageLog, EtlFile};
use tracesift_trace::HealthKind;

use super::clock::start_filetime;
use super::inventory::{Inventory, StackInventory};
use super::slice_threads::spawn;
use super::slices::{Cut, Slice, Slices};
use super::{Source, example, merge_options};
use crate::error::Error;
use crate::progress::Progress;
use crate::stage::{Stage, StageWatch, watched};

/// Slices that wait for either thread.
const WAITING: usize = 2;

/// What the first pass finds.
pub(super) struct FirstPass {
    pub(super) inventory: Inventory,
    pub(super) stacks: StackInventory,
}

impl Source<'_> {
    /// Goes over all records: this thread makes the inventory, another one that of stacks, and a third one puts the records in order.
    pub(super) fn first_pass(&self, progress: &mut Progress<'_, '_>) -> Result<FirstPass, Error> {
        let Self { files, clock, budget, .. } = *self;
        let mut inventory = Inventory::new(clock, start_filetime(files, clock));
        let mut stacks = StackInventory::new(clock, budget.temporary.clone());
        let cut = Cut { records: budget.cut_records(), bytes: budget.cut_bytes(), ..Cut::default() };
        let slices = Slices::new(files, merge_options(budget), cut);
        let (to_inventory, for_inventory) = sync_channel(WAITING);
        let (to_stacks, for_stacks) = sync_channel(WAITING);
        let to_stacks = (!self.without_stacks).then_some(to_stacks);
        let (slices, written) = thread::scope(|scope| {
            let slices = spawn(scope, "slices", move || hand_out(slices, &to_inventory, to_stacks.as_ref()));
            let taken = &mut stacks;
            let stages = self.stages.map(AsRef::as_ref);
            let of_stacks = spawn(scope, "stack inventory", move || take_stacks(taken, for_stacks, stages));
            let read = take_all(&mut inventory, for_inventory, stages, progress);
            let slices = slices.join().unwrap_or_else(|panic| resume_unwind(panic));
            let written = of_stacks.join().unwrap_or_else(|panic| resume_unwind(panic));
            read.map(|()| (slices, written))
        })?;
        written.map_err(|source| Error::Temporary {
            directory: budget.temporary.clone().unwrap_or_else(std::env::temp_dir),
            source,
        })?;
        self.count_damage(&slices, &mut inventory);
        progress.pass_done();
        Ok(FirstPass { inventory, stacks })
    }

    fn count_damage(&self, slices: &Slices, inventory: &mut Inventory) {
        for (part, file) in self.files.iter().enumerate() {
            for kind in slices.damage(part).into_iter().flat_map(DamageLog::kinds).chain(EtlFile::damage(file).kinds())
            {
                let example = || format!("{}: {}", self.recording.labels[part], example(kind));
                let count = i64::try_from(kind.count).unwrap_or(i64::MAX);
                inventory.health.add(HealthKind::of_damage(kind.kind), count, None, example);
            }
        }
    }
}

/// Gives each slice to both, as long as they take them. Gives the slices back for the damage that they met.
fn hand_out(
    mut slices: Slices,
    to_inventory: &SyncSender<Arc<Slice>>,
    to_stacks: Option<&SyncSender<Arc<Slice>>>,
) -> Slices {
    for slice in slices.by_ref().map(Arc::new) {
        let to_stacks = to_stacks.map_or(Ok(()), |stacks| stacks.send(Arc::clone(&slice)));
        if to_stacks.and_then(|()| to_inventory.send(slice)).is_err() {
            break;
        }
    }
    slices
}

fn take_all(
    inventory: &mut Inventory,
    slices: Receiver<Arc<Slice>>,
    stages: Option<&dyn StageWatch>,
    progress: &mut Progress<'_, '_>,
) -> Result<(), Error> {
    for (number, slice) in slices.into_iter().enumerate() {
        watched(stages, Stage::Inventory, number, || {
            slice.own.iter().try_for_each(|batch| {
                batch.records().for_each(|record| inventory.record(&record));
                progress.at("reading", slice.bytes_read)
            })
        })?;
    }
    Ok(())
}

fn take_stacks(
    stacks: &mut StackInventory,
    slices: Receiver<Arc<Slice>>,
    stages: Option<&dyn StageWatch>,
) -> io::Result<()> {
    for (number, slice) in slices.into_iter().enumerate() {
        stacks.cut();
        watched(stages, Stage::StackInventory, number, || {
            let mut batches = slice.own.iter();
            batches.try_for_each(|batch| batch.records().try_for_each(|record| stacks.record(&record)))
        })?;
    }
    Ok(())
}
