CREATE TABLE item (
  id bigint NOT NULL AUTO_INCREMENT,
  shop_id bigint NOT NULL,
  name varchar(100) NOT NULL,
  price int NOT NULL,
  picture longblob NOT NULL,
  PRIMARY KEY (id)
);
INSERT INTO item (shop_id, name, price, picture) VALUES
  (1, 'red cup', 100, REPEAT('a', 3000)), (1, 'blue cup', 120, REPEAT('b', 3000)), (2, 'Red Cup', 90, REPEAT('c', 3000)),
  (2, 'red pot', 400, REPEAT('d', 3000)), (3, 'tea', 20, REPEAT('e', 3000)), (3, 'red tea', 20, REPEAT('f', 3000)),
  (1, 'red cup ', 77, REPEAT('g', 3000));
INSERT INTO item (shop_id, name, price, picture)
  SELECT 4, CONCAT('spoon ', seq), seq % 50, '' FROM seq_1_to_300;
CREATE TABLE sale (
  id bigint NOT NULL AUTO_INCREMENT,
  shop_id bigint NOT NULL,
  name varchar(100) NOT NULL,
  price int NOT NULL,
  PRIMARY KEY (id)
);
