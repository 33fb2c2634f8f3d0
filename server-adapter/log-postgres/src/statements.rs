//! What is asked of the server. The first parameter of each statement is the stream.

/// One statement is one round trip. It locks the head first, whether or not the id is known: so it waits for an append that is under
/// way, and as even a lock is committed through the standbys, for those of the entry that it finds. Where another server has taken over since the
/// last append it returns a row without a position.
pub(super) const APPEND: &str = "
WITH head AS MATERIALIZED (
    SELECT seq, CASE WHEN seq = 0 THEN decode(repeat('00', 16), 'hex') WHEN seq = chained THEN chain END AS chain,
        coalesce(timeline, $4) = $4 AS is_open
    FROM df_head WHERE stream = $1 FOR UPDATE
), known AS MATERIALIZED (
    SELECT log.seq FROM head, df_log log WHERE log.stream = $1 AND log.id = $2
), added AS (
    INSERT INTO df_log (stream, seq, id, body, chain)
    SELECT $1, seq + 1, $2, $3, substr(sha256(chain || (
        SELECT string_agg(substr(int8send(seq + 1), byte, 1), '' ORDER BY byte DESC) FROM generate_series(1, 8) byte
    ) || $2 || $3), 1, 16)
    FROM head WHERE is_open AND NOT EXISTS (SELECT FROM known)
    RETURNING seq, (extract(epoch FROM at) * 1000000)::bigint AS time, chain
), moved AS (
    UPDATE df_head SET seq = added.seq, chain = added.chain, chained = added.seq FROM added WHERE stream = $1
)
SELECT seq, time, chain FROM added UNION ALL SELECT seq, NULL, NULL FROM known
UNION ALL SELECT NULL, NULL, NULL FROM head WHERE NOT is_open AND NOT EXISTS (SELECT FROM known)";

/// An entry as it was, after the one whose chain is the last parameter; whether the server takes appends or not.
pub(super) const RESTORE: &str = "
WITH head AS MATERIALIZED (
    SELECT FROM df_head WHERE stream = $1 AND seq = $2::bigint - 1 AND chained = seq AND chain = $7 FOR UPDATE
), added AS (
    INSERT INTO df_log (stream, seq, at, id, body, chain)
    SELECT $1, $2, 'epoch'::timestamptz + $3::bigint * interval '1 microsecond', $4, $5, $6 FROM head
    RETURNING seq
), moved AS (
    UPDATE df_head SET seq = $2, chain = $6, chained = $2 FROM added WHERE stream = $1
)
SELECT seq FROM added";

pub(super) const RESUME: &str = "UPDATE df_head SET timeline = $2 WHERE stream = $1";

/// At least the row of the head. The lengths of bodies are known without reading them. Before an entry without a chain comes the one before.
pub(super) const READ: &str = "
SELECT head.seq, log.seq, (extract(epoch FROM log.at) * 1000000)::bigint, log.id, log.body, log.chain
FROM df_head head LEFT JOIN (
    SELECT seq, at, id, body, chain, sum(length(body)) FILTER (WHERE seq >= $2) OVER (ORDER BY seq) AS through
    FROM df_log WHERE stream = $1 AND seq < $2::bigint + 1000 AND seq >= $2 - (
        SELECT count(*) FROM df_log WHERE stream = $1 AND seq = $2 AND chain IS NULL
    )
) log ON log.through <= $3 OR log.seq <= $2
WHERE head.stream = $1 ORDER BY log.seq";

/// Also whether another server than that with the timeline $2 appended last.
pub(super) const BOUNDS: &str =
    "SELECT seq, (SELECT min(seq) FROM df_log WHERE stream = $1), timeline <> $2
    FROM df_head WHERE stream = $1";

pub(super) const TRIM: &str = "DELETE FROM df_log WHERE stream = $1 AND seq < $2
    AND seq < (SELECT min(seq) FROM df_log WHERE stream = $1) + $3 RETURNING seq";

pub(super) const REPORT: &str =
    "INSERT INTO df_node (stream, node, at, report) VALUES ($1, $2, clock_timestamp(), $3)
    ON CONFLICT (stream, node) DO UPDATE SET at = excluded.at, report = excluded.report";

pub(super) const REPORTS: &str =
    "SELECT node, (extract(epoch FROM at) * 1000000)::bigint, report FROM df_node
    WHERE stream = $1 ORDER BY node COLLATE \"C\"";

pub(super) const FORGET: &str = "DELETE FROM df_node WHERE stream = $1 AND node = $2";

/// The head is there wherever there is a log.
pub(super) const STANDBYS: &str =
    "SELECT current_setting('synchronous_standby_names') FROM df_head WHERE stream = $1";
