-- The idle loop and the ten processes with the most CPU of each recording: `dump cpu --top 10`.
SELECT
    trace AS file, name AS process, pid, start AS start_ns, "end" AS end_ns, cpu AS cpu_ns, samples, cores_used, priority, command_line
FROM (
    SELECT *, pid = 0 AND origin <> 3 AS idle
    FROM read_parquet('{archives}/*.sift/processes.parquet') AS processes
    JOIN read_parquet('{archives}/*.sift/process_summary.parquet') AS summary USING (trace, process)
    WHERE samples > 0 OR cpu > 0 OR run > 0
)
QUALIFY row_number() OVER (PARTITION BY trace, idle ORDER BY cpu DESC, run DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, idle DESC, cpu, run, lower(name), pid
