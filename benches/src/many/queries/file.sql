-- The ten pairs of process and file of each recording that read and wrote most: `dump file --top 10`.
SELECT
    trace AS file, coalesce(path, '(no file)') AS path, name AS process, pid, operations, opens, open_close_ns, reads, coalesce(read_bytes, 0) AS read_bytes, coalesce(read_ns, 0) AS read_ns,
    writes, coalesce(write_bytes, 0) AS write_bytes, coalesce(write_ns, 0) AS write_ns, failed, total_bytes, total_ns, longest_ns
FROM (
    SELECT
        trace, process, file,
        count(*) AS operations,
        count(*) FILTER (operation = 0) AS opens,
        coalesce(sum(time - start) FILTER (operation IN (0, 1, 13)), 0) AS open_close_ns,
        count(*) FILTER (operation = 2) AS reads,
        sum(transferred) FILTER (operation = 2) AS read_bytes,
        sum(time - start) FILTER (operation = 2) AS read_ns,
        count(*) FILTER (operation = 3) AS writes,
        sum(transferred) FILTER (operation = 3) AS write_bytes,
        sum(time - start) FILTER (operation = 3) AS write_ns,
        count(error) AS failed,
        coalesce(sum(transferred) FILTER (operation IN (2, 3)), 0) AS total_bytes,
        coalesce(sum(time - start) FILTER (operation <> 15), 0) AS total_ns,
        max(time - start) AS longest_ns
    FROM read_parquet('{archives}/*.sift/file_io.parquet')
    GROUP BY trace, process, file
) AS summary
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
LEFT JOIN read_parquet('{archives}/*.sift/files.parquet') AS files USING (trace, file)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY total_bytes DESC, lower(name) DESC, pid DESC, path DESC) <= 10
ORDER BY trace, total_bytes, lower(name), pid, path
