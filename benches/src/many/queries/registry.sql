-- The ten keys of each recording with the most time in operations: `dump registry --top 10`.
SELECT trace AS file, calls, failed, sum_ns, sum_ns // calls AS avg_ns, longest_ns, first_ns, key
FROM (
    SELECT
        trace, key, count(*) AS calls, count(*) FILTER (status >= 2147483648) AS failed, sum(time - start) AS sum_ns,
        max(time - start) AS longest_ns, min(start) AS first_ns
    FROM read_parquet('{archives}/*.sift/registry.parquet')
    GROUP BY trace, key
)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY sum_ns DESC, key DESC) <= 10
ORDER BY trace, sum_ns, key
