-- The ten pairs of process and kind of each recording with the most bytes that nobody freed: `dump virtualalloc --top 10`.
WITH parts AS (
    SELECT trace, process, kind, start, time, size, coalesce(open, false) AS open, coalesce(last, false) AS last
    FROM read_parquet('{archives}/*.sift/allocations.parquet')
    WHERE kind = 0
),
changes AS (
    SELECT trace, process, kind, start AS moment, size AS change FROM parts WHERE open OR time > start
    UNION ALL
    SELECT trace, process, kind, time, -size FROM parts WHERE NOT open AND time > start
),
peaks AS (
    SELECT trace, process, kind, max(allocated) AS max_commit_bytes
    FROM (
        SELECT trace, process, kind, sum(change) OVER (
            PARTITION BY trace, process, kind ORDER BY moment, change ROWS UNBOUNDED PRECEDING
        ) AS allocated
        FROM changes
    )
    GROUP BY trace, process, kind
)
SELECT
    trace AS file, name AS process, pid, commits, commit_bytes, freed, freed_bytes, max_commit_bytes,
    not_released, not_released_bytes, 'committed' AS kind
FROM (
    SELECT
        trace, process, kind, count(*) AS commits, sum(size) AS commit_bytes, count(*) FILTER (NOT open) AS freed,
        coalesce(sum(size) FILTER (NOT open), 0) AS freed_bytes, count(*) FILTER (open) AS not_released,
        coalesce(sum(size) FILTER (open), 0) AS not_released_bytes
    FROM parts
    GROUP BY trace, process, kind
)
JOIN peaks USING (trace, process, kind)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY not_released_bytes DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, not_released_bytes, lower(name), pid
