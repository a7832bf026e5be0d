CREATE TABLE keepers (id char(26) NOT NULL PRIMARY KEY, name varchar(50) NOT NULL, phone varchar(20) NULL);
CREATE TABLE beds (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, title varchar(50) NOT NULL, keeper_id char(26) NOT NULL, shade enum('sun', 'half', 'dark') NOT NULL);
CREATE TABLE plants (id char(26) NOT NULL PRIMARY KEY, bed_id bigint NOT NULL, name varchar(50) NOT NULL, parent_id char(26) NULL);
CREATE TABLE notes (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, plant_id char(26) NOT NULL, text varchar(100) NOT NULL, at datetime NOT NULL);
CREATE TABLE visits (plant_id char(26) NOT NULL, n int NOT NULL);
CREATE TABLE seeds (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, name varchar(50) NOT NULL UNIQUE);
CREATE TABLE beats (id bigint NOT NULL PRIMARY KEY, n int NOT NULL);
INSERT INTO beats VALUES (1, 1), (2, 5);
INSERT INTO seeds (name) VALUES ('elm');
INSERT INTO keepers VALUES ('01A', 'ann', '123'), ('01B', 'bo', NULL), ('01C', 'cy', '');
INSERT INTO beds (title, keeper_id, shade) VALUES ('south', '01A', 'sun'), ('wall', '01B', 'half'), ('pond', '01A', 'dark'), ('gone', '01X', 'sun');
INSERT INTO plants VALUES ('P1', 1, 'rose', NULL), ('P2', 1, 'mint', 'P1'), ('P3', 2, 'fern', 'P1'), ('P4', 3, 'iris', 'p2'), ('P5', 9, 'moss', NULL);
INSERT INTO notes (plant_id, text, at) VALUES ('P1', 'cut', '2025-01-03 10:00:00'), ('P1', 'fed', '2025-01-02 10:00:00'), ('P2', 'cut', '2025-01-02 10:00:00'),
  ('P4', 'upper', '2025-01-02 10:00:00'), ('p4', 'lower', '2025-01-01 10:00:00'), ('P1', 'wet', '2025-01-03 10:00:00');
CREATE TABLE leaves (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, tone int NOT NULL);
INSERT INTO leaves (tone) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT i * 7 % 100 FROM n;
CREATE TABLE spots (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, lat double NOT NULL, lon double NOT NULL);
INSERT INTO spots (lat, lon) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i * 3 % 11 + 0.123456789, i * 7 % 10 + 0.5 FROM n;
CREATE TABLE numbers (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, stub char(1) NOT NULL UNIQUE);
