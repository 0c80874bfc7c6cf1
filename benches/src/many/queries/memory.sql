-- The ten processes of each recording with the most committed memory at the end: `dump memory --top 10`.
SELECT
    trace AS file, name AS process, pid,
    commit - CASE WHEN start > 0 THEN 0 ELSE first_commit END AS diff_commit, commit,
    working_set - CASE WHEN start > 0 THEN 0 ELSE first_working_set END AS diff_working_set, working_set
FROM (
    SELECT
        trace, process, arg_max(commit, time) AS commit, arg_min(commit, time) AS first_commit,
        arg_max(working_set, time) AS working_set, arg_min(working_set, time) AS first_working_set
    FROM read_parquet('{archives}/*.sift/memory_processes.parquet')
    GROUP BY trace, process
)
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY commit DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, commit, lower(name), pid
