#!/bin/sh
# Instructions that the start of the program takes; the budget is 30 M for each of these. Needs valgrind.
set -eu
cd "$(dirname "$0")/.."
cargo build --profile dist --locked
program=${CARGO_TARGET_DIR:-target}/dist/tracesift
for option in --version --help; do
    counted=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$option" 2>&1 >/dev/null)
    echo "$option $(echo "$counted" | sed -n 's/.*Collected : //p') instructions"
done
