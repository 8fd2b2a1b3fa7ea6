-- The busiest call sites: events, hosts and threads of each.
WITH
	'' AS only_host,
	0 AS window_from,
	4611686018427387903 AS window_to
SELECT class, site, count() AS events, uniq(host) AS hosts, uniq(host, pid, tid) AS threads
FROM ktr.events
WHERE ts >= window_from AND ts < window_to AND (only_host = '' OR host = only_host)
GROUP BY class, site
ORDER BY events DESC, class, site
LIMIT 20
