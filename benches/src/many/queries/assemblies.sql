-- The ten processes of each recording with the most assemblies: `dump assemblies --top 10`.
SELECT trace AS file, name AS process, pid, assemblies, count, loaded, unloaded, first_ns
FROM (
    SELECT
        trace, process, count(DISTINCT assemblies.name) AS assemblies, count(*) AS count, count(*) FILTER (NOT there) AS loaded,
        count(*) FILTER (NOT open) AS unloaded, min(start) AS first_ns
    FROM read_parquet('{archives}/*.sift/assemblies.parquet') AS assemblies
    GROUP BY trace, process
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY count DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, count, lower(name), pid
