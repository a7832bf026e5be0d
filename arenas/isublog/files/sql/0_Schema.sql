DROP TABLE IF EXISTS `comment`;
DROP TABLE IF EXISTS `article`;

CREATE TABLE `article` (
  `id` INT NOT NULL AUTO_INCREMENT,
  `title` VARCHAR(128) NOT NULL,
  `body` VARCHAR(4096) NOT NULL,
  `created_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;

CREATE TABLE `comment` (
  `id` INT NOT NULL AUTO_INCREMENT,
  `article` INT NOT NULL,
  `name` VARCHAR(64) DEFAULT NULL,
  `body` VARCHAR(1024) NOT NULL,
  `created_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`),
  -- KEY (`created_at`, `article`),
  KEY `article_id` (`article`, `id` DESC),
  KEY `article_created` (`article`, `created_at` DESC)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;
