-- The ten objects of each recording with the most handles: `dump objectref --top 10`. A handle is of the object at its address that was
-- created last before it, else of the first one; handles without an object are of one object while one of them is open.
WITH held AS (
    SELECT
        row_number() OVER () AS id, trace, object AS address, start, owner, made_by = 0 AS created, coalesce(open, false) AS open,
        CASE WHEN open THEN 9223372036854775807 ELSE time END AS until
    FROM read_parquet('{archives}/*.sift/handles.parquet')
    WHERE object IS NOT NULL
),
objects AS (
    SELECT
        trace, address, object AS number, start, coalesce(there, false) AS there,
        CASE WHEN open THEN 9223372036854775807 ELSE time END AS until
    FROM read_parquet('{archives}/*.sift/objects.parquet')
),
candidates AS (
    SELECT held.id, max_by(o, (o.start, o.until)) AS latest, min_by(o, (o.start, o.until)) AS earliest
    FROM held
    JOIN objects AS o ON o.trace = held.trace AND o.address = held.address AND o.start <= held.start
    GROUP BY held.id
),
placed AS (
    SELECT
        held.*, CASE WHEN latest.until >= held.start THEN latest WHEN earliest.until >= held.start THEN earliest END AS object
    FROM held
    LEFT JOIN candidates USING (id)
),
alone AS (
    SELECT *, sum(begins) OVER (PARTITION BY trace, address ORDER BY start, until DESC, id) AS life
    FROM (
        SELECT *, CASE WHEN start < max(until) OVER (
            PARTITION BY trace, address ORDER BY start, until DESC, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) THEN 0 ELSE 1 END AS begins
        FROM placed
        WHERE object IS NULL
    )
),
lives AS (
    SELECT
        trace, address, count(*) AS handle_count, count(*) FILTER (open) AS open, count(DISTINCT owner) AS processes,
        any_value(object.start) AS start, any_value(CASE WHEN NOT object.there THEN object.start END) AS created_ns
    FROM placed
    WHERE object IS NOT NULL
    GROUP BY trace, address, object.number
    UNION ALL
    SELECT
        trace, address, count(*), count(*) FILTER (open), count(DISTINCT owner), min(start),
        any_value(start) FILTER (begins = 1 AND created)
    FROM alone
    GROUP BY trace, address, life
)
SELECT trace AS file, printf('0x%x', address) AS object, handle_count, open, processes, created_ns
FROM lives
QUALIFY row_number() OVER (PARTITION BY trace ORDER BY handle_count DESC, start DESC, address DESC) <= 10
ORDER BY trace, handle_count, start, address
