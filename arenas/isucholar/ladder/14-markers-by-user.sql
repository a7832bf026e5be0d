-- row: an index on the unread markers of a user, in the order of the list
-- told: none
-- source: not in the write-up: our continuation on one machine
-- target: database
-- schema: isucholar

ALTER TABLE unread_announcements ADD INDEX user_newest (user_id, announcement_id);
