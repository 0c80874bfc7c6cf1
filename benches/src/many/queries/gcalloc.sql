-- The ten pairs of process and type of each recording with the most allocated bytes: `dump gcalloc --top 10`.
SELECT trace AS file, name AS process, pid, bytes, large_bytes, samples, type
FROM (
    SELECT
        trace, process, object_type AS type, sum(amount) AS bytes, coalesce(sum(amount) FILTER (kind = 1), 0) AS large_bytes,
        count(*) AS samples
    FROM read_parquet('{archives}/*.sift/clr_allocations.parquet')
    GROUP BY trace, process, object_type
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY bytes DESC, lower(name) DESC, pid DESC, type DESC) <= 10
ORDER BY trace, bytes, lower(name), pid, type
