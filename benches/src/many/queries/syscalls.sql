-- The ten pairs of process and system call of each recording with the most time: `dump syscalls --top 10`.
SELECT
    trace AS file, processes.name AS process, pid, calls, failed, duration_sum_ns, duration_sum_ns // calls AS duration_avg_ns, longest_ns,
    first_ns, names.name AS call
FROM (
    SELECT
        trace, process, number, sum(calls) AS calls, coalesce(sum(calls) FILTER (error IS NOT NULL), 0) AS failed,
        sum(duration) AS duration_sum_ns, max(longest) AS longest_ns, min(first) AS first_ns
    FROM read_parquet('{archives}/*.sift/syscall_summary.parquet')
    GROUP BY trace, process, number
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
JOIN read_parquet('{archives}/*.sift/syscall_names.parquet') AS names USING (trace, number)
QUALIFY row_number() OVER (
    PARTITION BY trace ORDER BY duration_sum_ns DESC, lower(processes.name) DESC, pid DESC, names.name DESC
) <= 10
ORDER BY trace, duration_sum_ns, lower(processes.name), pid, names.name
