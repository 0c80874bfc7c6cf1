-- The ten processes with the most hard faults of each recording: `dump faults --top 10`.
SELECT
    trace AS file, name AS process, pid, threads, faults AS faults, faults AS hard_faults, hard_bytes, hard_time_sum_ns, longest_ns
FROM (
    SELECT
        trace, process, count(DISTINCT thread) AS threads, count(*) AS faults, sum(size) AS hard_bytes,
        sum(time - start) AS hard_time_sum_ns, max(time - start) AS longest_ns
    FROM read_parquet('{archives}/*.sift/hard_faults.parquet')
    GROUP BY trace, process
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY faults DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, faults, lower(name), pid
