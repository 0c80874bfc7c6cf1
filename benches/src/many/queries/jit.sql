-- The ten processes of each recording with the most time in compilations: `dump jit --top 10`.
SELECT
    trace AS file, name AS process, pid, threads, methods, sum_ns, foreground_ns, background_ns, union_ns, longest_ns, il_bytes, native_bytes
FROM (
    SELECT
        trace, process, count(DISTINCT thread) AS threads, count(*) AS methods, sum(exclusive) AS sum_ns,
        coalesce(sum(exclusive) FILTER (trigger = 0), 0) AS foreground_ns,
        coalesce(sum(exclusive) FILTER (trigger <> 0), 0) AS background_ns,
        sum(greatest(0, time - greatest(start, coalesce(before, start)))) AS union_ns, max(time - start) AS longest_ns,
        sum(il_size) AS il_bytes, sum(native_size) AS native_bytes
    FROM (
        SELECT *, max(time) OVER (
            PARTITION BY trace, process ORDER BY start, time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM read_parquet('{archives}/*.sift/jit_methods.parquet')
    )
    GROUP BY trace, process
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY sum_ns DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, sum_ns, lower(name), pid
