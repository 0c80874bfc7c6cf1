-- Operations by drive: `dump disk`.
SELECT
    trace AS file,
    count(*) FILTER (operation = 0) AS reads,
    sum(size) FILTER (operation = 0) AS read_bytes,
    sum(service) FILTER (operation = 0) AS read_service_ns,
    count(*) FILTER (operation = 1) AS writes,
    sum(size) FILTER (operation = 1) AS write_bytes,
    sum(service) FILTER (operation = 1) AS write_service_ns,
    count(*) FILTER (operation = 2) AS flushes,
    sum(service) FILTER (operation = 2) AS flush_service_ns,
    sum(size) AS total_bytes,
    sum(service) AS total_service_ns,
    sum(time - start) // count(*) AS response_avg_ns,
    max(time - start) AS response_max_ns,
    sum(greatest(0, time - greatest(start, coalesce(before, start)))) AS busy_ns,
    drive
FROM (
    SELECT *, max(time) OVER (
        PARTITION BY trace, drive ORDER BY start, time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before
    FROM (
        SELECT operations.*, coalesce(substring(path, 1, 2), 'disk ' || disk) AS drive
        FROM read_parquet('{archives}/*.sift/disk_io.parquet') AS operations
        LEFT JOIN read_parquet('{archives}/*.sift/files.parquet') AS files USING (trace, file)
    )
)
GROUP BY trace, drive
ORDER BY trace, total_bytes
