-- The ten processes of each recording that collections stopped longest: `dump gc --top 10`.
SELECT trace AS file, name AS process, pid, collections, gen0, gen1, gen2, pause_sum_ns, pause_max_ns, p50 AS pause_p50_ns
FROM (
    SELECT
        trace, process, count(*) AS collections, count(*) FILTER (generation = 0) AS gen0,
        count(*) FILTER (generation = 1) AS gen1, count(*) FILTER (generation = 2) AS gen2, sum(pause) AS pause_sum_ns,
        max(pause) AS pause_max_ns, CAST(round(quantile_cont(pause, 0.5)) AS BIGINT) AS p50
    FROM read_parquet('{archives}/*.sift/gc_collections.parquet')
    GROUP BY trace, process
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY pause_sum_ns DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, pause_sum_ns, lower(name), pid
