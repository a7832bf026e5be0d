-- The tables, empty. References exist as foreign keys, which index themselves; nothing else is indexed.

DROP TABLE IF EXISTS `unread_announcements`;
DROP TABLE IF EXISTS `announcements`;
DROP TABLE IF EXISTS `submissions`;
DROP TABLE IF EXISTS `classes`;
DROP TABLE IF EXISTS `registrations`;
DROP TABLE IF EXISTS `courses`;
DROP TABLE IF EXISTS `users`;

CREATE TABLE `users` (
  `id` char(26) NOT NULL,
  `code` char(6) NOT NULL,
  `name` varchar(255) NOT NULL,
  `hashed_password` binary(60) NOT NULL,
  `type` enum('student', 'teacher') NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `code` (`code`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE `courses` (
  `id` char(26) NOT NULL,
  `code` varchar(255) NOT NULL,
  `type` enum('liberal-arts', 'major-subjects') NOT NULL,
  `name` varchar(255) NOT NULL,
  `description` text NOT NULL,
  `credit` tinyint unsigned NOT NULL,
  `period` tinyint unsigned NOT NULL,
  `day_of_week` enum('monday', 'tuesday', 'wednesday', 'thursday', 'friday') NOT NULL,
  `teacher_id` char(26) NOT NULL,
  `keywords` text NOT NULL,
  `status` enum('registration', 'in-progress', 'closed') NOT NULL DEFAULT 'registration',
  PRIMARY KEY (`id`),
  UNIQUE KEY `code` (`code`),
  CONSTRAINT `courses_teacher` FOREIGN KEY (`teacher_id`) REFERENCES `users` (`id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE `registrations` (
  `course_id` char(26) NOT NULL,
  `user_id` char(26) NOT NULL,
  PRIMARY KEY (`course_id`, `user_id`),
  CONSTRAINT `registrations_course` FOREIGN KEY (`course_id`) REFERENCES `courses` (`id`),
  CONSTRAINT `registrations_user` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE `classes` (
  `id` char(26) NOT NULL,
  `course_id` char(26) NOT NULL,
  `part` tinyint unsigned NOT NULL,
  `title` varchar(255) NOT NULL,
  `description` text NOT NULL,
  `submission_closed` tinyint(1) NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE KEY `course_part` (`course_id`, `part`),
  CONSTRAINT `classes_course` FOREIGN KEY (`course_id`) REFERENCES `courses` (`id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE `submissions` (
  `user_id` char(26) NOT NULL,
  `class_id` char(26) NOT NULL,
  `file_name` varchar(255) NOT NULL,
  `score` tinyint unsigned,
  PRIMARY KEY (`user_id`, `class_id`),
  CONSTRAINT `submissions_user` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`),
  CONSTRAINT `submissions_class` FOREIGN KEY (`class_id`) REFERENCES `classes` (`id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE `announcements` (
  `id` char(26) NOT NULL,
  `course_id` char(26) NOT NULL,
  `title` varchar(255) NOT NULL,
  `message` text NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `announcements_course` FOREIGN KEY (`course_id`) REFERENCES `courses` (`id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE `unread_announcements` (
  `announcement_id` char(26) NOT NULL,
  `user_id` char(26) NOT NULL,
  `is_deleted` tinyint(1) NOT NULL DEFAULT 0,
  PRIMARY KEY (`announcement_id`, `user_id`),
  CONSTRAINT `unread_announcement` FOREIGN KEY (`announcement_id`) REFERENCES `announcements` (`id`),
  CONSTRAINT `unread_user` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_bin;
