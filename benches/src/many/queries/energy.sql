-- What each counter of energy counted: `dump energy`.
SELECT
    trace AS file, counter, package, sum(value) AS energy_uj, sum(value)::DOUBLE / sum(span)::DOUBLE * 1000 AS watts,
    count(*) AS readings, sum(span) AS span_ns
FROM read_parquet('{archives}/*.sift/energy.parquet')
GROUP BY trace, counter, package
ORDER BY trace, counter
