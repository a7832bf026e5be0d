-- row: indexes from the slow log: the size of the door
-- told: none for the row alone
-- source: a team's write-up of the contest (Go, MySQL, three machines)
-- target: database
-- schema: isuumo

ALTER TABLE estate ADD INDEX door (door_width, door_height);
