-- What a distance costs, in kilometres and yen, and by what it is multiplied: the
-- product of the factors of the season, the class of the train and the class of the seat.
INSERT INTO `distance_fare_master` (`distance`, `fare`) VALUES
  (0, 2500), (50, 3000), (75, 3700), (100, 4500), (150, 5200), (200, 6000), (300, 7200), (400, 8300), (500, 12000), (1000, 20000);

INSERT INTO `fare_master` (`train_class`, `seat_class`, `start_date`, `fare_multiplier`)
WITH
  season (start_date, factor) AS (VALUES
    (DATE '2020-01-01', 5), (DATE '2020-01-06', 1), (DATE '2020-03-13', 3), (DATE '2020-04-01', 1), (DATE '2020-04-24', 5),
    (DATE '2020-05-11', 1), (DATE '2020-08-07', 3), (DATE '2020-08-24', 1), (DATE '2020-12-25', 5)),
  train (number, class, factor) AS (VALUES (1, '最速', 1.5), (2, '中間', 1.0), (3, '遅いやつ', 0.8)),
  seat (number, class, factor) AS (VALUES (1, 'premium', 2.0), (2, 'reserved', 1.25), (3, 'non-reserved', 1.0))
SELECT train.class, seat.class, season.start_date, season.factor * train.factor * seat.factor
FROM season, train, seat
ORDER BY season.start_date, train.number, seat.number;
