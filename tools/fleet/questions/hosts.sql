-- What there is of each host: traces, builds, since when and until when, events that were lost.
WITH
	'' AS only_host,
	0 AS window_from,
	4611686018427387903 AS window_to
SELECT host, count() AS traces, uniqExact(build) AS builds, toDateTime(intDiv(min(first_ts), 1000000000)) AS since,
	toDateTime(intDiv(max(last_ts), 1000000000)) AS until, sum(lost) AS events_lost
FROM ktr.traces FINAL
WHERE last_ts >= window_from AND first_ts < window_to AND (only_host = '' OR host = only_host)
GROUP BY host
ORDER BY host
