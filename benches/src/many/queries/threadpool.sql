-- The ten processes of each recording whose thread pools were starved most: `dump threadpool --top 10`.
SELECT trace AS file, name AS process, pid, events, adjusted, starvations, most_workers, started, stopped, first_ns
FROM (
    SELECT
        trace, process, count(*) AS events, count(*) FILTER (event = 0) AS adjusted,
        count(*) FILTER (event = 0 AND reason = 6) AS starvations, max(workers) FILTER (event = 0) AS most_workers,
        count(*) FILTER (event = 1) AS started, count(*) FILTER (event = 2) AS stopped, min(time) AS first_ns
    FROM read_parquet('{archives}/*.sift/thread_pool.parquet')
    GROUP BY trace, process
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY starvations DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, starvations, lower(name), pid
