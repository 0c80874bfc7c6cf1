-- The ten messages of each recording that were thrown most by a process: `dump exceptions --top 10`.
SELECT trace AS file, name AS process, pid, count, rethrown, caught, unhandled, first_ns, type, message
FROM (
    SELECT
        trace, process, exception_type AS type, message, count(*) FILTER (flags & 4 = 0) AS count,
        count(*) FILTER (flags & 4 <> 0) AS rethrown, count(*) FILTER (handling = 1) AS caught,
        count(*) FILTER (handling = 4) AS unhandled, min(time) AS first_ns
    FROM read_parquet('{archives}/*.sift/exceptions.parquet')
    GROUP BY trace, process, exception_type, message
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY count DESC, lower(name) DESC, pid DESC, type DESC, message DESC) <= 10
ORDER BY trace, count, lower(name), pid, type, message
