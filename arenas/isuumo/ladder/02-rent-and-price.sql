-- row: indexes from the slow log: rent and popularity, price and stock
-- told: none for the row alone
-- source: a team's write-up of the contest (Go, MySQL, three machines)
-- target: database
-- schema: isuumo

ALTER TABLE estate ADD INDEX rent_popularity (rent, popularity);
ALTER TABLE chair ADD INDEX price_stock (price, stock);
