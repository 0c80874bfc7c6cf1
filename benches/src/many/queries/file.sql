-- The ten pairs of process and file of each recording that read and wrote most: `dump file --top 10`.
SELECT
    trace AS file, coalesce(path, '(no file)') AS path, name AS process, pid, operations, opens, open_close_ns, reads, read_bytes, read_ns,
    writes, write_bytes, write_ns, failed, total_bytes, total_ns, longest_ns
FROM (
    -- Where nothing has a size, rows stand in the order of their number.
    SELECT *, CASE WHEN max(total_bytes) OVER (PARTITION BY trace) > 0 THEN total_bytes ELSE operations END AS figure
    FROM (
    SELECT
        trace, process, file,
        count(*) AS operations,
        count(*) FILTER (operation = 0) AS opens,
        CASE WHEN count(*) FILTER (operation IN (0, 1, 13)) = 0 THEN 0 ELSE sum(length) FILTER (operation IN (0, 1, 13)) END AS open_close_ns,
        count(*) FILTER (operation = 2) AS reads,
        CASE WHEN count(*) FILTER (operation = 2) = 0 THEN 0 ELSE sum(moved) FILTER (operation = 2) END AS read_bytes,
        CASE WHEN count(*) FILTER (operation = 2) = 0 THEN 0 ELSE sum(length) FILTER (operation = 2) END AS read_ns,
        count(*) FILTER (operation = 3) AS writes,
        CASE WHEN count(*) FILTER (operation = 3) = 0 THEN 0 ELSE sum(moved) FILTER (operation = 3) END AS write_bytes,
        CASE WHEN count(*) FILTER (operation = 3) = 0 THEN 0 ELSE sum(length) FILTER (operation = 3) END AS write_ns,
        CASE WHEN count(*) FILTER (error IS NOT NULL OR open IS NOT TRUE) > 0 THEN count(error) END AS failed,
        CASE WHEN count(*) FILTER (operation IN (2, 3)) = 0 THEN 0 ELSE sum(moved) FILTER (operation IN (2, 3)) END AS total_bytes,
        sum(length) AS total_ns,
        max(length) AS longest_ns
    FROM (
        -- An operation without an end has no length. One that failed moved nothing.
        SELECT
            *,
            CASE WHEN open THEN NULL WHEN operation = 15 THEN 0 ELSE time - start END AS length,
            CASE WHEN error IS NOT NULL THEN coalesce(transferred, 0) ELSE transferred END AS moved
        FROM read_parquet('{archives}/*.sift/file_io.parquet')
    )
    GROUP BY trace, process, file
)
) AS summary
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
LEFT JOIN read_parquet('{archives}/*.sift/files.parquet') AS files USING (trace, file)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY figure DESC NULLS LAST, lower(name) DESC, pid DESC, path DESC) <= 10
ORDER BY trace, figure NULLS FIRST, lower(name), pid, path
