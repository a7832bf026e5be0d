package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// A flavour is the server whose slow log format is generated.
type flavour string

const (
	mariaDB flavour = "mariadb"
	mySQL8  flavour = "mysql8"
)

// A shape is one kind of statement that the generated application sends.
type shape struct {
	weight   int
	micros   float64 // typical query time
	examined int     // rows, at most
	sent     int
	sql      func(r *rand.Rand, b []byte) []byte
}

const hexDigits = "0123456789abcdef"

func uuid(r *rand.Rand, b []byte) []byte {
	for i := range 36 {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			b = append(b, '-')
			continue
		}
		b = append(b, hexDigits[r.IntN(16)])
	}
	return b
}

// fill returns a generator that replaces %d by a number, %u by a UUID, %s by words
// and %t by a time.
func fill(template string) func(*rand.Rand, []byte) []byte {
	words := strings.Fields("chair sitting dirty overweight broken is_sitting the quick brown fox it\\'s a; # test いす 状態 message")
	return func(r *rand.Rand, b []byte) []byte {
		for i := 0; i < len(template); i++ {
			c := template[i]
			if c != '%' {
				b = append(b, c)
				continue
			}
			i++
			switch template[i] {
			case 'd':
				b = fmt.Append(b, r.IntN(1_000_000))
			case 'u':
				b = uuid(r, b)
			case 's':
				for k := range 1 + r.IntN(8) {
					if k > 0 {
						b = append(b, ' ')
					}
					b = append(b, words[r.IntN(len(words))]...)
				}
			case 't':
				b = time.Unix(1_630_000_000+r.Int64N(1e7), 0).UTC().AppendFormat(b, time.DateTime)
			}
		}
		return b
	}
}

// list returns a generator that repeats a template between a prefix and a suffix.
func list(prefix, item, sep, suffix string, most int) func(*rand.Rand, []byte) []byte {
	one := fill(item)
	return func(r *rand.Rand, b []byte) []byte {
		b = append(b, prefix...)
		for i := range 1 + r.IntN(most) {
			if i > 0 {
				b = append(b, sep...)
			}
			b = one(r, b)
		}
		return append(b, suffix...)
	}
}

// shapes returns thirty kinds of statements of typical web applications.
func shapes() []shape {
	f := fill
	return []shape{
		{900, 250, 900, 20, f("SELECT `id`, `jia_isu_uuid`, `timestamp`, `is_sitting`, `condition`, `message`, `created_at` FROM `isu_condition` WHERE `jia_isu_uuid` = '%u' AND `timestamp` < '%t' ORDER BY `timestamp` DESC LIMIT 20")},
		{700, 90, 1, 1, f("SELECT * FROM `isu` WHERE `jia_user_id` = '%u' AND `jia_isu_uuid` = '%u'")},
		{600, 60, 1, 1, f("SELECT * FROM users WHERE id = %d")},
		{500, 300, 0, 0, list("INSERT INTO `isu_condition` (`jia_isu_uuid`, `timestamp`, `is_sitting`, `condition`, `message`) VALUES ", "('%u', '%t', %d, 'is_dirty=true,is_overweight=false', '%s')", ", ", "", 4)},
		{400, 50, 1, 1, f("SELECT COUNT(*) FROM `user` WHERE `jia_user_id` = '%u'")},
		{300, 110, 30, 30, list("SELECT id, name, price FROM items WHERE id IN (", "%d", ", ", ") ORDER BY id", 30)},
		{300, 20, 0, 0, f("BEGIN")},
		{300, 900, 0, 0, f("COMMIT")},
		{200, 500, 0, 0, f("COMMIT /* POST /api/condition/%d */")},
		{250, 180, 1, 0, f("UPDATE `isu` SET `character` = '%s', updated_at = '%t' WHERE id = %d")},
		{200, 2000, 50000, 10, f("SELECT c.id, c.title, COUNT(v.id) AS views FROM contents c LEFT JOIN views v ON v.content_id = c.id AND v.created_at >= '%t' WHERE c.category_id = %d GROUP BY c.id, c.title HAVING COUNT(v.id) > %d ORDER BY views DESC, c.id LIMIT 10 OFFSET %d")},
		{150, 70, 1, 1, f("select posts.*, users.account_name from posts inner join users on users.id = posts.user_id where posts.id = %d and users.del_flg = 0")},
		{150, 400, 20, 20, f("SELECT * FROM `comments` WHERE `post_id` = %d ORDER BY `created_at` DESC")},
		{120, 800, 10000, 0, f("DELETE FROM sessions WHERE updated_at < '%t' AND user_id <> %d")},
		{120, 140, 1, 1, f("SELECT `image` FROM `isu` WHERE `jia_user_id` = '%s' AND `jia_isu_uuid` = '%u'")},
		{100, 160, 0, 0, f("INSERT INTO visit_history (player_id, tenant_id, competition_id, created_at, updated_at) VALUES ('%u', %d, '%u', %d, %d)")},
		{100, 130, 0, 0, f("REPLACE INTO id_generator (stub) VALUES ('a')")},
		{90, 1200, 3000, 1, f("SELECT SUM(amount) FROM ledger\nWHERE account_id = %d\n  AND booked_at BETWEEN '%t' AND '%t'\n  AND (kind = 'in' OR kind = 'out')\n  AND memo <> '%s'")},
		{90, 30, 0, 0, f("ROLLBACK")},
		{80, 90, 1, 1, f("SELECT `value` FROM `config` WHERE `name` = '%s' LIMIT 1")},
		{80, 3000, 100000, 50, f("SELECT chair.id, ST_Distance_Sphere(POINT(%d.%d, %d.%d), chair.loc) AS d FROM chair WHERE price >= %d AND price < %d AND features LIKE '%s' ORDER BY d ASC LIMIT 50")},
		{70, 60, 1, 0, f("UPDATE stock SET qty = qty - %d WHERE item_id = %d AND qty >= %d")},
		{60, 75, 1, 1, f("SELECT EXISTS (SELECT 1 FROM follows WHERE from_id = %d AND to_id = %d)")},
		{60, 85, 0, 0, f("INSERT INTO likes (user_id, post_id) VALUES (%d, %d) ON DUPLICATE KEY UPDATE created_at = VALUES(created_at), n = n + 1")},
		{50, 40, 0, 0, f("SET NAMES utf8mb4")},
		{50, 2500, 20000, 100, f("SELECT a.train_class, a.train_name, b.* FROM seat_reservations b, reservations a WHERE a.reservation_id = b.reservation_id AND a.date = '%t' AND a.train_class = '%s' AND b.car_number = %d /* seat map %d */")},
		{40, 100, 5, 5, f("SELECT id FROM jobs WHERE state = 'ready' AND run_at <= '%t' ORDER BY priority DESC, id LIMIT 5 FOR UPDATE SKIP LOCKED")},
		{40, 60, 1, 0, f("UPDATE jobs SET state = 'done', result = '{\\\"ok\\\": true, \\\"n\\\": %d, \\\"m\\\": \\\"%s\\\"}' WHERE id = %d")},
		{30, 5000, 200000, 1000, f("SELECT t.id, t.name, (SELECT COUNT(*) FROM player p WHERE p.tenant_id = t.id AND p.is_disqualified = 0) FROM tenant t WHERE t.id < %d ORDER BY t.id DESC")},
		{30, 50, 0, 0, f("SELECT /*+ MAX_EXECUTION_TIME(1000) */ 1")},
	}
}

// generate writes about size bytes of a log to name. The same arguments give the
// same log.
func generate(name string, fl flavour, size int64) (events int64, err error) {
	file, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	events, err = writeLog(w, fl, size)
	if err != nil {
		return events, err
	}
	if err := w.Flush(); err != nil {
		return events, err
	}
	return events, file.Close()
}

func writeLog(w io.Writer, fl flavour, size int64) (events int64, err error) {
	r := rand.New(rand.NewPCG(7, 11))
	all := shapes()
	var deal []int
	for i, s := range all {
		for range s.weight / 10 {
			deal = append(deal, i)
		}
	}
	now := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	shown := int64(0)
	var b []byte
	for done := int64(0); done < size; events++ {
		s := &all[deal[r.IntN(len(deal))]]
		now = now.Add(time.Duration(r.IntN(400)) * time.Microsecond)
		b = header(b[:0], r, fl, s, now, shown != now.Unix())
		shown = now.Unix()
		b = append(s.sql(r, b), ";\n"...)
		if _, err := w.Write(b); err != nil {
			return events, err
		}
		done += int64(len(b))
	}
	return events, nil
}

func header(b []byte, r *rand.Rand, fl flavour, s *shape, now time.Time, newSecond bool) []byte {
	took := s.micros * math.Exp(r.NormFloat64()) / 1e6
	lock := took / 20
	thread, examined, sent := 10+r.IntN(64), 0, 0
	if s.examined > 0 {
		examined = 1 + r.IntN(s.examined)
	}
	if s.sent > 0 {
		sent = 1 + r.IntN(s.sent)
	}
	if fl == mySQL8 {
		b = now.AppendFormat(append(b, "# Time: "...), "2006-01-02T15:04:05.000000Z\n")
		b = fmt.Appendf(b, "# User@Host: isucon[isucon] @ localhost [127.0.0.1]  Id: %5d\n", thread)
		b = fmt.Appendf(b, "# Query_time: %.6f  Lock_time: %.6f Rows_sent: %d  Rows_examined: %d\n", took, lock, sent, examined)
		return fmt.Appendf(b, "SET timestamp=%d;\n", now.Unix())
	}
	if newSecond {
		b = fmt.Appendf(b, "# Time: %s\n", now.Format("060102 15:04:05"))
	}
	b = append(b, "# User@Host: isucon[isucon] @ localhost [127.0.0.1]\n"...)
	b = fmt.Appendf(b, "# Thread_id: %d  Schema: isucondition  QC_hit: No\n", thread)
	b = fmt.Appendf(b, "# Query_time: %.6f  Lock_time: %.6f  Rows_sent: %d  Rows_examined: %d\n", took, lock, sent, examined)
	b = fmt.Appendf(b, "# Rows_affected: %d  Bytes_sent: %d\n", r.IntN(2), 40+sent*80)
	return fmt.Appendf(b, "SET timestamp=%d;\n", now.Unix())
}
