-- Two builds, or two hosts, side by side: spans of each, their median and 99th percentile.
WITH
	'one' AS a,
	'two' AS b,
	0 AS window_from,
	4611686018427387903 AS window_to
SELECT grp, id, countIf(build = a OR host = a) AS spans_a, countIf(build = b OR host = b) AS spans_b,
	toUInt64(if(spans_a > 0, quantileTDigestIf(0.5)(dur, build = a OR host = a), 0)) AS p50_a_ns,
	toUInt64(if(spans_b > 0, quantileTDigestIf(0.5)(dur, build = b OR host = b), 0)) AS p50_b_ns,
	toUInt64(if(spans_a > 0, quantileTDigestIf(0.99)(dur, build = a OR host = a), 0)) AS p99_a_ns,
	toUInt64(if(spans_b > 0, quantileTDigestIf(0.99)(dur, build = b OR host = b), 0)) AS p99_b_ns,
	if(p50_a_ns > 0, round(p50_b_ns / p50_a_ns, 2), 0) AS ratio
FROM ktr.spans
WHERE ts >= window_from AND ts < window_to AND kind = 'span' AND unsure = 0 AND open = 0 AND
	(build = a OR host = a OR build = b OR host = b)
GROUP BY grp, id
ORDER BY spans_a + spans_b DESC, grp, id
LIMIT 50
