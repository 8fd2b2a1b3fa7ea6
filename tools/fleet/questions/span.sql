-- How long a span takes: quantiles of each minute, host and build.
WITH
	'request' AS name,
	'' AS only_host,
	0 AS window_from,
	4611686018427387903 AS window_to
SELECT minute, host, build, grp, id, countMerge(n) AS spans, intDiv(sumMerge(total), countMerge(n)) AS mean_ns,
	toUInt64(quantilesTDigestMerge(0.5, 0.9, 0.99, 0.999)(q)[1]) AS p50_ns,
	toUInt64(quantilesTDigestMerge(0.5, 0.9, 0.99, 0.999)(q)[2]) AS p90_ns,
	toUInt64(quantilesTDigestMerge(0.5, 0.9, 0.99, 0.999)(q)[3]) AS p99_ns,
	toUInt64(quantilesTDigestMerge(0.5, 0.9, 0.99, 0.999)(q)[4]) AS p999_ns,
	maxMerge(worst) AS worst_ns
FROM ktr.span_minute
WHERE (grp = name OR id = name) AND (only_host = '' OR host = only_host) AND
	toInt64(toUInt32(minute)) >= intDiv(window_from, 60000000000) * 60 AND toInt64(toUInt32(minute)) <= intDiv(window_to, 1000000000)
GROUP BY minute, host, build, grp, id
ORDER BY minute, host, build, grp, id
