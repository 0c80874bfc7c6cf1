-- The ten names of each recording for which programs waited longest: `dump dns --top 10`.
SELECT trace AS file, processes, total_ns, max_ns, queries, timed_out, failed, name
FROM (
    SELECT
        trace, name, count(DISTINCT process) AS processes,
        sum(greatest(0, time - greatest(start, coalesce(before, start)))) AS total_ns, max(time - start) AS max_ns,
        count(*) AS queries,
        count(*) FILTER (len(timed_out) > 0 OR status = 1460) AS timed_out,
        count(*) FILTER (status <> 0 AND status <> 87) AS failed
    FROM (
        SELECT *, max(time) OVER (
            PARTITION BY trace, name ORDER BY start, time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM read_parquet('{archives}/*.sift/dns_queries.parquet')
    )
    GROUP BY trace, name
)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY total_ns DESC, name DESC) <= 10
ORDER BY trace, total_ns, name
