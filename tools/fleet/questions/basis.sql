-- What an answer rests on: hosts, traces, events that were lost, spans that are unsure, spans of which an end is not known.
SELECT sum(n_hosts) AS hosts, sum(n_traces) AS traces, sum(n_lost) AS events_lost, sum(n_unsure) AS spans_unsure,
	sum(n_open) AS spans_open
FROM (
	WITH
	'' AS only_host,
	0 AS window_from,
	4611686018427387903 AS window_to
	SELECT uniqExact(host) AS n_hosts, count() AS n_traces, toUInt64(0) AS n_lost, toUInt64(0) AS n_unsure, toUInt64(0) AS n_open
	FROM ktr.traces FINAL
	WHERE last_ts >= window_from AND first_ts < window_to AND (only_host = '' OR host = only_host)
	UNION ALL
	WITH
	'' AS only_host,
	0 AS window_from,
	4611686018427387903 AS window_to
	SELECT toUInt64(0), toUInt64(0), sum(events), toUInt64(0), toUInt64(0)
	FROM ktr.losses FINAL
	WHERE (to_ts = 0 OR to_ts >= window_from) AND from_ts < window_to AND (only_host = '' OR host = only_host) AND
		(from_ts > 0 OR to_ts > 0 OR trace IN (
			WITH
			0 AS window_from,
			4611686018427387903 AS window_to
			SELECT trace FROM ktr.traces WHERE last_ts >= window_from AND first_ts < window_to))
	UNION ALL
	WITH
	'' AS only_host,
	0 AS window_from,
	4611686018427387903 AS window_to
	SELECT toUInt64(0), toUInt64(0), toUInt64(0), sum(unsure), sum(open > 0)
	FROM ktr.spans
	WHERE ts >= window_from AND ts < window_to AND (only_host = '' OR host = only_host)
)
