#!/bin/sh
# Fuzzes one target over its kept corpus: run.sh PROGRAM SECONDS CORPUS. What it finds is beside the program's folder:
# new inputs in corpus/NAME, and inputs that make it fail in NAME-*. Prints one line, or why it failed.
set -u
program=$1 seconds=$2 kept=$3
name=${program##*/fuzz-}
place=$(dirname "$(dirname "$program")")
log=$place/fuzz-$name.log
mkdir -p "$place/corpus/$name"

if "$program" -max_total_time="$seconds" -max_len=4096 -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$place/$name-" "$place/corpus/$name" "$kept" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(grep -a 'DONE' "$log" | sed -n 's/.* cov: \([0-9]*\) .*/\1/p')
    printf '%-10s %9s runs, %5s edges, no failure\n' "$name" "$runs" "$edges"
else
    printf '%-10s FAILS, see %s\n' "$name" "$log"
    grep -a -v -E 'NEW|REDUCE|pulse' "$log" | tail -n 30
    exit 1
fi
