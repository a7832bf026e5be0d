-- row: MySQL 8 for ORDER BY popularity DESC, id ASC: descending indexes
-- told: 1,144 → 1,200 with the variables of the next row
-- source: a team's write-up of the contest (Go, MySQL, three machines)
-- target: database
-- schema: isuumo

-- MariaDB has descending indexes, so that no other version is needed.
ALTER TABLE estate ADD INDEX popularity (popularity DESC, id);
ALTER TABLE chair ADD INDEX popularity (popularity DESC, id);
