-- The clock rates of each CPU while something ran, by its samples: `dump frequency`.
SELECT
    samples.trace AS file, samples.cpu, sum(weight) AS run_ns, coalesce(sum(weight) FILTER (khz IS NOT NULL), 0) AS known_ns,
    sum(weight * khz)::DOUBLE / (sum(weight) FILTER (khz IS NOT NULL))::DOUBLE / 1000 AS mean_mhz,
    min(khz)::DOUBLE / 1000 AS min_mhz, max(khz)::DOUBLE / 1000 AS max_mhz
FROM read_parquet('{archives}/*.sift/cpu_samples.parquet') AS samples
ASOF LEFT JOIN read_parquet('{archives}/*.sift/cpu_frequencies.parquet') AS rates
    ON samples.trace = rates.trace AND samples.cpu = rates.cpu AND samples.time >= rates.time
GROUP BY samples.trace, samples.cpu
ORDER BY file, cpu
