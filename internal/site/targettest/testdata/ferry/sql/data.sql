INSERT INTO crossing SELECT seq, CONCAT('harbour-', seq % 50), '2026-01-01' + INTERVAL seq * 7 MINUTE, CONCAT('ship-', seq % 9), REPEAT('calm sea ', 12) FROM seq_1_to_6000;
INSERT INTO booking (crossing_id, passenger, seats) SELECT 1 + (seq * 7919) % 6000, CONCAT('passenger ', seq), 1 + seq % 4 FROM seq_1_to_20000;
