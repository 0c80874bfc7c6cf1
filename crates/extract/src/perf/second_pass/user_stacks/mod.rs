//! User sides of call chains that the kernel did not walk itself: copies of registers and stack (`--call-graph dwarf`), which are
//! unwound here, and branches that the processor recorded (`--call-graph lbr`).

mod branches;
mod images;
mod registers;

use tracesift_perf::{BranchSampleFormat, Metadata};
use tracesift_trace::HealthKind;
use tracesift_trace::modules::{AddressSpace, Modules};
use tracesift_trace::rows::stack_ends;
use tracesift_trace::{Health, ModuleId};
use tracesift_unwind::{Architecture, Chain, End, Missing, Stack, Unwinder};

use crate::image_files::{ImageFiles, Unusable};
use crate::perf::second_pass::chain_words::CONTEXT_USER;
use crate::perf::second_pass::sample_context::SampleContext;
use images::{Images, InProcess};

/// Branches of a call stack that are used. Processors have 32.
const MAX_BRANCHES: usize = 512;

/// Makes the chains of one recording.
pub(crate) struct UserStacks {
    architecture: Option<Architecture>,
    /// By event: whether its branch stacks are call stacks.
    has_call_stacks: Vec<bool>,
    unwinder: Unwinder,
    images: Images,
    chain: Vec<u64>,
    /// Where the last chain that was unwound ends.
    end: Option<i8>,
}

impl UserStacks {
    /// `memory` bounds what is kept of the images, in bytes.
    pub(crate) fn new(metadata: &Metadata, files: ImageFiles, memory: usize) -> Self {
        let call_stacks = metadata.events.all().iter().map(|event| {
            let format = event.attr.branch_format;
            format.contains(BranchSampleFormat::CALL_STACK)
        });
        Self {
            architecture: registers::architecture(metadata),
            has_call_stacks: call_stacks.collect(),
            unwinder: Unwinder::new(memory / 4),
            images: Images::new(files, memory / 4 * 3),
            chain: Vec::new(),
            end: None,
        }
    }

    /// Where the chain ends that [`Self::chain`] gave, as [`stack_ends`] has it; `None` of branches.
    pub(super) fn end(&self) -> Option<i8> {
        self.end
    }

    /// The user side of a sample's call chain, leaf first and with return addresses as they are; `None` where there is nothing to
    /// make it of. `recorded` is how much of it the sample's own chain has: what is shorter is not better.
    pub(super) fn chain(
        &mut self,
        at: &SampleContext<'_>,
        recorded: impl FnOnce() -> usize,
        modules: &Modules,
        health: &mut Health,
    ) -> Option<&[u64]> {
        let sample = &at.sample;
        self.end = None;
        if !sample.has_tail() {
            return None;
        }
        let tail = sample.tail();
        // In a thread without a user side the branches are left from another one.
        let has_user_side = || sample.callchain.is_some_and(|chain| chain.iter().any(|word| word == CONTEXT_USER));
        if self.has_call_stacks.get(at.event) == Some(&true)
            && let Some(branches) = tail.branches.filter(|branches| !branches.is_empty() && has_user_side())
        {
            branches::chain_of(&branches, &mut self.chain);
            return Some(&self.chain);
        }
        let (sampled, stack) = (tail.user_registers?, tail.user_stack?);
        let mut unusable = |kind, why: &str| {
            health.count(kind, Some(at.ticks), || why.to_owned());
            None
        };
        if sampled.abi != registers::ABI_64 {
            return unusable(HealthKind::USER_STACKS_OF_32_BIT, "registers of a 32-bit program");
        }
        let Some(architecture) = self.architecture else {
            return unusable(HealthKind::USER_STACKS_OF_OTHER_PROCESSORS, "neither x86-64 nor 64-bit Arm");
        };
        let registers = registers::registers(architecture, &sampled);
        let Some(top) = registers.get(architecture.stack_pointer()) else {
            return unusable(HealthKind::USER_STACKS_WITHOUT_REGISTERS, "the stack pointer was not recorded");
        };
        let space = AddressSpace::Process(at.process);
        let mut space = InProcess { images: &mut self.images, modules, space, ticks: at.ticks };
        let chain = self.unwinder.unwind(&registers, Stack::new(top, stack.bytes), &mut space, &mut self.chain);
        self.end = Some(match &chain.end {
            End::Root => stack_ends::WHOLE,
            End::Cut { .. } => stack_ends::CUT,
            End::Missing { missing: Missing::NoImage, .. } => stack_ends::JIT_CODE,
            End::Missing { missing: Missing::Unusable(_), .. } => stack_ends::WITHOUT_FILE,
            End::NoUnwindInformation { .. } | End::Lost { .. } => stack_ends::WITHOUT_INFORMATION,
            End::TooLong => stack_ends::TOO_LONG,
        });
        self.count(&chain, stack.bytes.len(), at, modules, health);
        (self.chain.len() > recorded()).then_some(&self.chain)
    }

    fn count(
        &self,
        chain: &Chain<ModuleId>,
        copied: usize,
        at: &SampleContext<'_>,
        modules: &Modules,
        health: &mut Health,
    ) {
        let place = |address: u64| {
            let found = modules.find(AddressSpace::Process(at.process), address, at.ticks);
            let path = found.and_then(|(module, offset)| Some((&modules.modules.get(module.index())?.path, offset)));
            path.map_or_else(|| format!("{address:#x}"), |(path, offset)| format!("{path}+{offset:#x}"))
        };
        let frames = self.chain.len();
        let mut count = |kind, example: &dyn Fn() -> String| health.count(kind, Some(at.ticks), example);
        match &chain.end {
            End::Root => {}
            End::Cut { address } => count(HealthKind::USER_STACKS_CUT, &|| {
                format!("{frames} frames, {copied} bytes of the stack were recorded; at {}", place(*address))
            }),
            End::Missing { address, missing: Missing::NoImage } => {
                count(HealthKind::USER_STACKS_OUTSIDE_OF_IMAGES, &|| {
                    format!("{frames} frames; at {}", place(*address))
                });
            }
            End::Missing { missing: Missing::Unusable(module), .. } => {
                let path = modules.modules.get(module.index()).map_or("", |row| row.path.as_str());
                let (kind, why) = match self.images.why(*module) {
                    Some(Unusable::NoFile(why)) => (HealthKind::USER_STACKS_WITHOUT_FILE, why.as_str()),
                    Some(Unusable::OtherFile(why)) => (HealthKind::USER_STACKS_WITH_ANOTHER_FILE, why.as_str()),
                    Some(Unusable::Unreadable(why)) => (HealthKind::USER_STACKS_WITH_UNREADABLE_FILE, why.as_str()),
                    None => (HealthKind::USER_STACKS_WITHOUT_FILE, ""),
                };
                count(kind, &|| format!("{path}: {why}"));
            }
            End::NoUnwindInformation { address } => {
                count(HealthKind::USER_STACKS_WITHOUT_UNWIND_INFORMATION, &|| {
                    format!("{frames} frames; at {}", place(*address))
                });
            }
            End::Lost { address } => {
                count(HealthKind::USER_STACKS_LOST, &|| format!("{frames} frames; at {}", place(*address)));
            }
            End::TooLong => count(HealthKind::USER_STACKS_TOO_LONG, &|| format!("{frames} frames")),
        }
        if chain.by_frame_pointer > 0 {
            count(HealthKind::USER_STACKS_BY_FRAME_POINTERS, &|| {
                format!("{} of {frames} frames, where there is no unwind information", chain.by_frame_pointer)
            });
        }
    }
}
