CREATE TABLE reading (
  id bigint NOT NULL AUTO_INCREMENT,
  sensor_id bigint NOT NULL,
  at datetime NOT NULL,
  state varchar(50) NOT NULL,
  value int NOT NULL,
  PRIMARY KEY (id)
);
INSERT INTO reading (sensor_id, at, state, value)
  SELECT 1 + seq % 3, '2026-01-01 00:00:00' + INTERVAL seq * 25 MINUTE, ELT(1 + seq % 7, 'ok', 'ok', 'dirty!', 'OK', 'ok', 'dirty! broken!', 'ok'), seq
  FROM seq_1_to_600;
CREATE TABLE sensor (id bigint NOT NULL, name varchar(50) NOT NULL, PRIMARY KEY (id));
INSERT INTO sensor VALUES (1, 'door'), (2, 'roof'), (3, 'cellar');
