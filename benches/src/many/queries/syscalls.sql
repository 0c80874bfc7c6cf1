-- The ten pairs of process and system call of each recording with the most time: `dump syscalls --top 10`.
SELECT
    trace AS file, processes.name AS process, pid, calls, failed, duration_sum_ns, duration_sum_ns // calls AS duration_avg_ns, longest_ns,
    first_ns, names.name AS call
FROM (
    SELECT
        trace, process, number, count(*) AS calls, count(error) AS failed, sum(time - start) AS duration_sum_ns,
        max(time - start) AS longest_ns, min(start) AS first_ns
    FROM read_parquet('{archives}/*.sift/syscalls.parquet')
    GROUP BY trace, process, number
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
JOIN read_parquet('{archives}/*.sift/syscall_names.parquet') AS names USING (trace, number)
QUALIFY row_number() OVER (
    PARTITION BY trace ORDER BY duration_sum_ns DESC, lower(processes.name) DESC, pid DESC, names.name DESC
) <= 10
ORDER BY trace, duration_sum_ns, lower(processes.name), pid, names.name
