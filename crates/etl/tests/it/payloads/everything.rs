//! All decoders at once, for property tests and for the fuzzer.

use tracesift_etl::payload::dotnet::{
    DomainModuleLoad, EntryPoint, MethodIlToNativeMap, MethodLoad, MethodLoadVerbose, ModuleLoad, RuntimeInformation,
};
use tracesift_etl::payload::*;

/// Decodes with every type; looks at every element and text, which are decoded late.
pub(crate) fn decode_everything(payload: &[u8], opcode: u8, version: u8, pointer_size: u8) {
    macro_rules! decode {
        ($($type:ty)*) => {
            $(if let Ok((value, rest)) = <$type>::parse_with_rest(payload, version, pointer_size) {
                assert!(payload.ends_with(rest), stringify!($type));
                let _ = format!("{value:?}");
            })*
        };
    }
    decode! {
        BuildInfo<'_> BuildLab<'_> ContextSwitch CounterConfiguration<'_> CounterCorruption<'_> CounterSample
        DbgFile<'_> DeferredProcedureCall Deterministic DiagnosticsCounter DiagnosticsMachine<'_> DiagnosticsTarget
        DiskFlush DiskInit DiskTransfer DomainModuleLoad<'_> EntryPoint<'_> FileCreate<'_> FileDirectory<'_> FileInformation<'_>
        FileName<'_> FileOperation FileOperationEnd FileReadWrite FileVersion<'_> HardFault HeaderExtension Image<'_>
        ImageFailure<'_> ImageInfo<'_> InterruptService KernelImage<'_> KernelProcessRundown<'_> KernelProcessStart<'_> KernelProcessStop<'_>
        KernelThread LastDroppedTimes<'_> Mark<'_> MethodIlToNativeMap<'_> MethodLoad MethodLoadVerbose<'_> ModuleLoad<'_> NoDebugInfo
        PartitionInfo<'_> PdbId<'_> PortablePdb PortablePdbId Process<'_> ProcessCounters ProcessTermination
        ReadyThread RuntimeInformation<'_> SampleInterval<'_> SampledProfile Stack<'_> StackDefinition<'_>
        StackReference SystemCallEnter SystemCallExit SystemPaths<'_> Thread<'_> ThreadName<'_> ThreadPriority
        UnknownVolume<'_> VolumeMapping<'_>
    }
    let _ = format!("{:?}", ImageId::parse(payload, opcode, version, pointer_size));
    let _ = format!("{:?}", SystemConfig::parse(payload, opcode, version, pointer_size));
    let _ = format!("{:?}", SystemConfigEx::parse(payload, opcode, version, pointer_size));
    let _ = format!("{:?}", Process::parse_either(payload, version, pointer_size));
    let _ = format!("{:?}", Image::parse_either(payload, version, pointer_size));
}
