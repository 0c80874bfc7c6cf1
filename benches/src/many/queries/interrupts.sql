-- The ten drivers of each recording with the most time in interrupts: `dump interrupts --top 10`.
-- A percentile that lies half a nanosecond above a number is rounded up, whatever the last bit of the sum says.
SELECT
    trace AS file, count, time_ns, exclusive_ns, time_ns // count AS avg_ns, p50_ns, p99_ns, max_ns, over_100us, over_1ms,
    first_ns, name AS driver
FROM (
    SELECT
        trace, module, count(*) AS count, sum(time - start) AS time_ns, sum(exclusive) AS exclusive_ns,
        CAST(round(round(quantile_cont(time - start, 0.5), 3)) AS BIGINT) AS p50_ns,
        CAST(round(round(quantile_cont(time - start, 0.99), 3)) AS BIGINT) AS p99_ns, max(time - start) AS max_ns,
        count(*) FILTER (time - start > 100000) AS over_100us, count(*) FILTER (time - start > 1000000) AS over_1ms,
        min(start) AS first_ns
    FROM read_parquet('{archives}/*.sift/interrupts.parquet')
    GROUP BY trace, module
)
JOIN read_parquet('{archives}/*.sift/modules.parquet') AS modules USING (trace, module)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY time_ns DESC, name DESC) <= 10
ORDER BY trace, time_ns, name
