#!/bin/sh
# What the benchmark records: for so many seconds many processes and threads that wait for each other, short programs, pipelines.
end=$(($(date +%s) + ${1:-20}))
going() { [ "$(date +%s)" -lt "$end" ]; }
(while going; do perf bench -f simple sched messaging -g 4 -l 200; done) &
(while going; do perf bench -f simple sched messaging -g 4 -t -l 200; done) &
(while going; do perf bench -f simple sched pipe -l 20000; done) &
(while going; do i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i + 1)); done; done) &
(while going; do find /usr/lib /usr/share -xdev | sort | gzip -1 | cksum; done) &
wait
