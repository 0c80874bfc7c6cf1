#!/bin/sh
# Builds the program as packages have it: laid out by what was counted while it extracted recordings that this checkout writes, and
# answered questions about them. Saves a tenth of the time of an extract beside `--profile dist` alone, and takes two builds, a quarter
# of an hour on two CPUs. The last line says where the program is.
#
# Needs the llvm-profdata of the compiler's LLVM: `rustup component add llvm-tools`, or the system's package llvm-<version>.
set -eu
cd "$(dirname "$0")/.."

version=$(rustc -vV)
host=$(echo "$version" | sed -n 's/^host: //p')
llvm=$(echo "$version" | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
profdata=
for candidate in "$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata" "llvm-profdata-$llvm" llvm-profdata; do
    if "$candidate" --version 2>/dev/null | grep -q "LLVM version $llvm\."; then
        profdata=$candidate
        break
    fi
done
if [ -z "$profdata" ]; then
    echo "llvm-profdata of LLVM $llvm is missing: rustup component add llvm-tools, or install the package llvm-$llvm" >&2
    exit 1
fi

out=${CARGO_TARGET_DIR:-$PWD/target}
work=$out/profile
rm -rf "$work"
mkdir -p "$work"

# Flags with an explicit target are not those of build scripts and macros, which would count, too.
build() {
    RUSTFLAGS="${RUSTFLAGS:-} $1" cargo build --profile dist --locked --target "$host" -p tracesift
}

cargo run --release --locked -p tracesift-scenario --example recordings -- "$work/recordings" 64
build "-Cprofile-generate=$work"
counting() {
    LLVM_PROFILE_FILE="$work/%p.profraw" "$out/$host/dist/tracesift" "$@" >/dev/null
}
counting demo "$work/demo"
counting extract "$work/recordings"
for question in cpu process stacks waits threads stats; do
    counting dump "$question" "$work/recordings"
done
counting dump cpu "$work/recordings" --methods '*' --top 10

# Named by what is in it: cargo builds anew when the flag changes, and not when the file does.
"$profdata" merge -o "$work/counted" "$work"/*.profraw
counted=$work/$(cksum <"$work/counted" | cut -d ' ' -f 1).profdata
mv "$work/counted" "$counted"
build "-Cprofile-use=$counted"
rm -rf "$work/recordings" "$work/demo" "$work"/*.profraw
echo "$out/$host/dist/tracesift"
