CREATE TABLE keepers (id varchar(26) NOT NULL PRIMARY KEY, name varchar(50) NOT NULL);
CREATE TABLE plots (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, title varchar(50) NOT NULL UNIQUE);
CREATE TABLE trees (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, plot_id bigint NOT NULL, keeper_id varchar(26) NOT NULL, kind varchar(20) NOT NULL, spot varchar(50) NOT NULL);
CREATE TABLE baskets (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, tree_id bigint NOT NULL, weight int NOT NULL, deleted_at datetime(3) NULL);
INSERT INTO keepers VALUES ('01A', 'ann'), ('01b', 'bo');
INSERT INTO plots (title) VALUES ('south'), ('wall'), ('pond');
INSERT INTO trees (plot_id, keeper_id, kind, spot) VALUES (1, '01A', 'apple', 'south'), (2, '01B', 'pear', 'Wall'), (9, '01X', 'plum', 'none'), (3, '01A', 'Pear', 'pond'), (1, '01b', 'quince', 'wall '), (2, '01b', 'cherry', 'wall');
INSERT INTO baskets (tree_id, weight, deleted_at) VALUES (1, 5, NULL), (1, 7, NULL), (2, 1, NULL), (2, 7, '2025-01-01'), (4, 7, NULL), (1, 7, NULL), (6, 2, NULL);
