-- The ten processes of each recording with the most waits for locks: `dump contention --top 10`.
SELECT
    trace AS file, name AS process, pid, waits, sum_ns, union_ns, sum_ns // waits AS avg_ns, longest_ns, first_ns, 'monitor' AS kind
FROM (
    SELECT
        trace, process, count(*) AS waits, sum(time - start) AS sum_ns,
        sum(greatest(0, time - greatest(start, coalesce(before, start)))) AS union_ns, max(time - start) AS longest_ns,
        min(start) AS first_ns
    FROM (
        SELECT *, max(time) OVER (
            PARTITION BY trace, process ORDER BY start, time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM read_parquet('{archives}/*.sift/lock_waits.parquet')
    )
    GROUP BY trace, process
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY sum_ns DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, sum_ns, lower(name), pid
