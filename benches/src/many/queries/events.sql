-- The ten most frequent events of each recording: `dump events --top 10`.
SELECT trace AS file, count(*) AS count, min(time) AS first_ns, max(time) AS last_ns, provider, event, id
FROM read_parquet('{archives}/*.sift/events.parquet')
GROUP BY trace, provider, event, id
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY count(*) DESC, provider DESC, event DESC, id DESC) <= 10
ORDER BY trace, count, provider, event, id
