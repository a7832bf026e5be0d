DROP TABLE IF EXISTS `users`;
DROP TABLE IF EXISTS `salts`;
DROP TABLE IF EXISTS `relations`;
DROP TABLE IF EXISTS `profiles`;
DROP TABLE IF EXISTS `entries`;
DROP TABLE IF EXISTS `comments`;
DROP TABLE IF EXISTS `footprints`;

CREATE TABLE `users` (
  `id` INT NOT NULL AUTO_INCREMENT,
  `account_name` VARCHAR(64) NOT NULL,
  `nick_name` VARCHAR(32) NOT NULL,
  `email` VARCHAR(255) CHARACTER SET utf8 NOT NULL,
  `passhash` VARCHAR(128) NOT NULL, -- SHA2 (512 bits) of password and salt, in hex
  PRIMARY KEY (`id`),
  UNIQUE KEY `account_name` (`account_name`),
  UNIQUE KEY `email` (`email`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;

CREATE TABLE `salts` (
  `user_id` INT NOT NULL,
  `salt` VARCHAR(6) DEFAULT NULL,
  PRIMARY KEY (`user_id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;

CREATE TABLE `relations` (
  `id` INT NOT NULL AUTO_INCREMENT,
  `one` INT NOT NULL,
  `another` INT NOT NULL,
  `created_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`),
  UNIQUE KEY `friendship` (`one`, `another`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;

CREATE TABLE `profiles` (
  `user_id` INT NOT NULL,
  `first_name` VARCHAR(64) NOT NULL,
  `last_name` VARCHAR(64) NOT NULL,
  `sex` VARCHAR(4) NOT NULL,
  `birthday` DATE NOT NULL,
  `pref` VARCHAR(4) NOT NULL,
  `updated_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (`user_id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;

CREATE TABLE `entries` (
  `id` INT NOT NULL AUTO_INCREMENT,
  `user_id` INT NOT NULL,
  `private` TINYINT NOT NULL,
  `body` TEXT, -- the title, a line break, the content
  `created_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`),
  KEY `user_id` (`user_id`, `created_at`),
  KEY `created_at` (`created_at`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;

CREATE TABLE `comments` (
  `id` INT NOT NULL AUTO_INCREMENT,
  `entry_id` INT NOT NULL,
  `user_id` INT NOT NULL,
  `comment` TEXT,
  `created_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`),
  KEY `entry_id` (`entry_id`),
  KEY `created_at` (`created_at`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;

-- user_id is the visited user, owner_id the visitor.
CREATE TABLE `footprints` (
  `id` INT NOT NULL AUTO_INCREMENT,
  `user_id` INT NOT NULL,
  `owner_id` INT NOT NULL,
  `created_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;
