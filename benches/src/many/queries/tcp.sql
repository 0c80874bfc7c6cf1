-- The ten connections of each recording with the most bytes: `dump tcp --top 10`.
SELECT
    trace AS file, name AS process, pid, receive_events AS received_packets, received AS received_bytes,
    send_events AS sent_packets, sent AS sent_bytes, retransmits, retransmit_delay AS retransmit_delay_ns,
    local || ':' || local_port || ' ' || remote || ':' || remote_port AS connection
FROM read_parquet('{archives}/*.sift/connections.parquet') AS connections
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
WHERE protocol = 6
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY sent + received DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, sent + received, lower(name), pid
