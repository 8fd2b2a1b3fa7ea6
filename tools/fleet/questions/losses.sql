-- Which hosts lost events: how many, why, in how many gaps, the worst of them, the longest.
WITH
	'' AS only_host,
	0 AS window_from,
	4611686018427387903 AS window_to
SELECT host, why, sum(events) AS lost, count() AS gaps, max(events) AS worst,
	max(if(from_ts > 0 AND to_ts > 0, to_ts - from_ts, 0)) AS longest_ns
FROM ktr.losses FINAL
WHERE (to_ts = 0 OR to_ts >= window_from) AND from_ts < window_to AND (only_host = '' OR host = only_host) AND
	(from_ts > 0 OR to_ts > 0 OR trace IN (
		WITH
		0 AS window_from,
		4611686018427387903 AS window_to
		SELECT trace FROM ktr.traces WHERE last_ts >= window_from AND first_ts < window_to))
GROUP BY host, why
ORDER BY lost DESC, host, why
