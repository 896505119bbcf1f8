-- question: in which order are the calls of some workers read best, and how long are they?
-- inputs:   request_contents, request_workers, contents
-- grain:    one row per call
-- parameters: workers (list)
-- order:    the newest text of the call: texts are stored as they were met, so that neighbours lie together on disk
SELECT u.request, max(u.content) AS newest, sum(c.code_points)::BIGINT AS code_points
FROM request_contents AS u
INNER JOIN request_workers AS w ON w.request = u.request
INNER JOIN contents AS c ON c.content = u.content
WHERE w.worker IN (SELECT unnest($workers))
GROUP BY u.request
ORDER BY newest, u.request
