-- The ten pairs of process and operation of each recording with the most time in calls: `dump sockets --top 10`.
SELECT
    trace AS file, name AS process, pid, calls, failed, sent_bytes, received_bytes, sum_ns, total_ns, sum_ns // calls AS avg_ns, longest_ns,
    list_extract(['create', 'bind', 'listen', 'connect', 'accept', 'send', 'receive', 'shut down', 'close', 'option'], operation + 1) AS operation
FROM (
    SELECT
        trace, process, operation, count(*) AS calls, count(*) FILTER (status <> 0) AS failed,
        coalesce(sum(transferred) FILTER (operation = 5), 0) AS sent_bytes,
        coalesce(sum(transferred) FILTER (operation = 6), 0) AS received_bytes,
        sum(time - start) AS sum_ns,
        sum(greatest(0, time - greatest(start, coalesce(before, start)))) AS total_ns, max(time - start) AS longest_ns
    FROM (
        SELECT *, max(time) OVER (
            PARTITION BY trace, process, operation ORDER BY start, time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM read_parquet('{archives}/*.sift/socket_calls.parquet')
    )
    GROUP BY trace, process, operation
) AS summary
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY sum_ns DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, sum_ns, lower(name), pid
