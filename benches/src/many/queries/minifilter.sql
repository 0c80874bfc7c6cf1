-- Calls of filter drivers: `dump minifilter`.
SELECT
    trace AS file, calls, failed, total_ns, union_ns, longest_ns, total_ns // calls AS avg_ns, name AS driver
FROM (
    SELECT
        trace, driver AS module, count(*) AS calls, count(status) AS failed, sum(time - start) AS total_ns,
        sum(greatest(0, time - greatest(start, coalesce(before, start)))) AS union_ns, max(time - start) AS longest_ns
    FROM (
        SELECT *, max(time) OVER (
            PARTITION BY trace, driver ORDER BY start, time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM read_parquet('{archives}/*.sift/filter_calls.parquet')
    )
    GROUP BY trace, driver
)
JOIN read_parquet('{archives}/*.sift/modules.parquet') AS modules USING (trace, module)
ORDER BY trace, total_ns
