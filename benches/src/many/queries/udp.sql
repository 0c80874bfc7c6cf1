-- The ten connections of each recording with the most bytes: `dump udp --top 10`.
SELECT
    trace AS file, name AS process, pid, receive_events AS received_packets, received AS received_bytes,
    send_events AS sent_packets, sent AS sent_bytes, sent + received AS bytes,
    local || ':' || local_port || ' ' || remote || ':' || remote_port AS connection
FROM read_parquet('{archives}/*.sift/connections.parquet') AS connections
JOIN read_parquet('{archives}/*.sift/processes.parquet') AS processes USING (trace, process)
WHERE protocol = 17
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY sent + received DESC, lower(name) DESC, pid DESC) <= 10
ORDER BY trace, sent + received, lower(name), pid
