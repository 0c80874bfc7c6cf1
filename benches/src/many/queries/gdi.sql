-- The ten pairs of process and type of each recording whose handles of the window manager and of GDI grew most: `dump gdi --top 10`.
WITH lives AS (
    SELECT trace, owner AS process, object_type AS type, start, time, coalesce(open, false) AS open, made_by = 2 AS older
    FROM read_parquet('{archives}/*.sift/handles.parquet')
    WHERE kind IN (1, 2)
),
changes AS (
    SELECT trace, process, type, start AS moment, 1 AS change FROM lives WHERE open OR time > start
    UNION ALL
    SELECT trace, process, type, time, -1 FROM lives WHERE NOT open AND time > start
),
peaks AS (
    SELECT trace, process, type, max(alive) AS peak
    FROM (
        SELECT trace, process, type, sum(change) OVER (
            PARTITION BY trace, process, type ORDER BY moment, change ROWS UNBOUNDED PRECEDING
        ) AS alive
        FROM changes
    )
    GROUP BY trace, process, type
)
SELECT
    trace AS file, name AS process, pid, open_first, made, closed, made - closed AS diff, open_last, peak, leaked, type
FROM (
    SELECT
        trace, process, type, count(*) FILTER (older) AS open_first, count(*) FILTER (NOT older) AS made,
        count(*) FILTER (NOT open) AS closed, count(*) FILTER (open) AS open_last,
        count(*) FILTER (NOT older AND open) AS leaked
    FROM lives
    GROUP BY trace, process, type
)
JOIN peaks USING (trace, process, type)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY made - closed DESC, lower(name) DESC, pid DESC, type DESC) <= 10
ORDER BY trace, made - closed, lower(name), pid, type
