-- CPU, wait and ready of the methods whose names fit a wildcard: `dump cpu --methods '{pattern}'`.
SELECT
    trace AS file, name AS process, pid, start AS start_ns, "end" AS end_ns, cpu AS cpu_ns, exclusive_cpu AS exclusive_cpu_ns, wait AS wait_ns,
    ready AS ready_ns, module, function AS method, command_line
FROM (
    SELECT trace, process, module, function, cpu, exclusive_cpu, wait, ready
    FROM read_parquet('{archives}/*.sift/method_summary.parquet') AS summary
    WHERE function ILIKE '{like}'
) AS chosen
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
WHERE pid <> 0 OR origin = 3
ORDER BY
    trace, max(cpu) OVER (PARTITION BY trace, process), lower(name), pid,
    cpu, wait, module DESC, function DESC
