DROP TABLE IF EXISTS `seat_reservations`;
DROP TABLE IF EXISTS `reservations`;
DROP TABLE IF EXISTS `users`;
DROP TABLE IF EXISTS `seat_master`;
DROP TABLE IF EXISTS `train_timetable_master`;
DROP TABLE IF EXISTS `train_master`;
DROP TABLE IF EXISTS `fare_master`;
DROP TABLE IF EXISTS `distance_fare_master`;
DROP TABLE IF EXISTS `station_master`;

CREATE TABLE `station_master` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `distance` double NOT NULL,
  `name` varchar(100) NOT NULL,
  `is_stop_express` tinyint(1) NOT NULL,
  `is_stop_semi_express` tinyint(1) NOT NULL,
  `is_stop_local` tinyint(1) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `distance_fare_master` (
  `distance` double NOT NULL,
  `fare` int NOT NULL
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `fare_master` (
  `train_class` varchar(100) NOT NULL,
  `seat_class` enum('premium', 'reserved', 'non-reserved') NOT NULL,
  `start_date` date NOT NULL,
  `fare_multiplier` double NOT NULL
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `train_master` (
  `date` date NOT NULL,
  `departure_at` time NOT NULL,
  `train_class` varchar(100) NOT NULL,
  `train_name` varchar(100) NOT NULL,
  `start_station` varchar(100) NOT NULL,
  `last_station` varchar(100) NOT NULL,
  `is_nobori` tinyint(1) NOT NULL
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `train_timetable_master` (
  `date` date NOT NULL,
  `train_class` varchar(100) NOT NULL,
  `train_name` varchar(100) NOT NULL,
  `station` varchar(100) NOT NULL,
  `departure` time NOT NULL,
  `arrival` time NOT NULL
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `seat_master` (
  `train_class` varchar(100) NOT NULL,
  `car_number` int NOT NULL,
  `seat_column` enum('A', 'B', 'C', 'D', 'E') NOT NULL,
  `seat_row` int NOT NULL,
  `seat_class` enum('premium', 'reserved', 'non-reserved') NOT NULL,
  `is_smoking_seat` tinyint(1) NOT NULL
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `reservations` (
  `reservation_id` bigint NOT NULL AUTO_INCREMENT,
  `user_id` bigint NOT NULL,
  `date` datetime NOT NULL,
  `train_class` varchar(100) NOT NULL,
  `train_name` varchar(100) NOT NULL,
  `departure` varchar(100) NOT NULL,
  `arrival` varchar(100) NOT NULL,
  `status` enum('requesting', 'done', 'rejected') NOT NULL,
  `payment_id` varchar(100) NOT NULL,
  `adult` int NOT NULL,
  `child` int NOT NULL,
  `amount` bigint NOT NULL,
  PRIMARY KEY (`reservation_id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `seat_reservations` (
  `reservation_id` bigint NOT NULL,
  `car_number` int NOT NULL,
  `seat_row` int NOT NULL,
  `seat_column` varchar(10) NOT NULL
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `users` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `email` varchar(300) NOT NULL,
  `salt` varbinary(1024) NOT NULL,
  `super_secure_password` varbinary(256) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `email` (`email`)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
