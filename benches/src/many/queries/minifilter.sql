-- Calls of filter drivers: `dump minifilter`.
SELECT
    trace AS file, calls, failed, total_ns, union_ns, longest_ns, total_ns // ended AS avg_ns, name AS driver
FROM (
    SELECT
        trace, driver AS module, count(*) AS calls, CASE WHEN count(*) FILTER (status IS NOT NULL OR open IS NOT TRUE) > 0 THEN count(status) END AS failed,
        count(time) AS ended, sum(time - start) AS total_ns,
        sum(greatest(0, time - greatest(start, coalesce(before, start)))) AS union_ns, max(time - start) AS longest_ns
    FROM (
        SELECT * REPLACE (CASE WHEN open THEN NULL ELSE time END AS time), max(CASE WHEN open THEN NULL ELSE time END) OVER (
            PARTITION BY trace, driver ORDER BY start, time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM read_parquet('{archives}/*.sift/filter_calls.parquet')
    )
    GROUP BY trace, driver
)
JOIN read_parquet('{archives}/*.sift/modules.parquet') AS modules USING (trace, module)
ORDER BY trace, total_ns
