-- CPU, wait and ready of the stack tags whose full name or last part fits a wildcard: `dump cpu --stacktags '*Defender*'`.
SELECT
    trace AS file, name AS process, pid, start AS start_ns, "end" AS end_ns, cpu AS cpu_ns, exclusive_cpu AS exclusive_cpu_ns, wait AS wait_ns,
    ready AS ready_ns, tag AS stack_tag, command_line
FROM (
    SELECT trace, process, tag, cpu, exclusive_cpu, wait, ready
    FROM read_parquet('{archives}/*.sift/tag_summary.parquet') AS summary
    WHERE tag ILIKE '%Defender%'
) AS chosen
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
WHERE pid <> 0 OR origin = 3
ORDER BY
    trace, max(cpu) OVER (PARTITION BY trace, process), lower(name), pid,
    cpu, wait, tag DESC
