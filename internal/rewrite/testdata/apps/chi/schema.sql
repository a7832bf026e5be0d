CREATE TABLE post (
  id bigint NOT NULL AUTO_INCREMENT,
  user_id bigint NOT NULL,
  title varchar(100) NOT NULL,
  hidden tinyint(1) NOT NULL,
  created datetime NOT NULL,
  PRIMARY KEY (id)
);
INSERT INTO post (user_id, title, hidden, created) VALUES
  (1, 'hello', 0, '2026-01-01 10:00:00'), (2, 'Hello', 1, '2026-01-01 11:00:00'), (1, 'second', 1, '2026-01-02 10:00:00'),
  (3, 'third', 0, '2026-01-03 10:00:00'), (2, 'fourth', 0, '2026-01-04 10:00:00'), (1, 'fifth', 0, '2026-01-05 10:00:00');
