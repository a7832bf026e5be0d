-- The 16 cars of each class of trains. Cars 8 to 10 are premium, with four seats in
-- a row; of the others, the class of the train tells which need no reservation.
INSERT INTO `seat_master` (`train_class`, `car_number`, `seat_column`, `seat_row`, `seat_class`, `is_smoking_seat`)
WITH RECURSIVE
  n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20),
  train (number, class) AS (VALUES (1, '最速'), (2, '中間'), (3, '遅いやつ')),
  seat_column (name) AS (VALUES ('A'), ('B'), ('C'), ('D'), ('E')),
  car (number, row_count, is_premium, has_smoking_seats) AS (
    SELECT i,
      CASE WHEN i IN (1, 16) THEN 13 WHEN i IN (8, 9, 10) THEN 17 WHEN i IN (3, 5, 7, 11, 13, 15) THEN 16 ELSE 20 END,
      i IN (8, 9, 10), i IN (3, 5, 7, 11, 13, 15)
    FROM n WHERE i <= 16)
SELECT train.class, car.number, seat_column.name, n.i,
  CASE
    WHEN car.is_premium THEN 'premium'
    WHEN train.number = 1 AND car.number <= 3 THEN 'non-reserved'
    WHEN train.number = 2 AND car.number <= 5 THEN 'non-reserved'
    WHEN train.number = 3 AND car.number <= 15 THEN 'non-reserved'
    ELSE 'reserved'
  END,
  car.has_smoking_seats AND n.i >= 11
FROM train, car, n, seat_column
WHERE n.i <= car.row_count AND NOT (car.is_premium AND seat_column.name = 'E')
ORDER BY train.number, car.number, n.i, seat_column.name;
