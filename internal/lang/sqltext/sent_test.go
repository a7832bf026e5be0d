package sqltext

import (
	"slices"
	"testing"
)

func TestSent(t *testing.T) {
	for _, c := range []struct {
		name   string
		logged []string
		want   []string
	}{
		{"gorm's First", []string{"SELECT * FROM `users` WHERE `users`.`id` = 7 AND `users`.`deleted_at` IS NULL ORDER BY `users`.`id` LIMIT 1"},
			[]string{"SELECT * FROM `users` WHERE `users`.`id` = ? AND `users`.`deleted_at` IS NULL ORDER BY `users`.`id` LIMIT ?",
				"SELECT * FROM `users` WHERE `users`.`id` = ? AND `users`.`deleted_at` IS NULL ORDER BY `users`.`id` LIMIT 1"}},
		{"a list", []string{"SELECT id FROM t WHERE id IN (1,2, 3) AND n > -5;"}, []string{"SELECT id FROM t WHERE id IN (?,?, ?) AND n > ?"}},
		{"a difference", []string{"SELECT id FROM t WHERE a - 5 > '2026-01-02 03:04:05'"}, []string{"SELECT id FROM t WHERE a - ? > ?"}},
		{"before FROM", []string{"SELECT COUNT(1), 'x' FROM t WHERE a = 'it''s'"}, []string{"SELECT COUNT(1), 'x' FROM t WHERE a = ?"}},
		{"placeholders", []string{"SELECT a FROM t WHERE b = ? LIMIT 20 OFFSET 40"}, []string{"SELECT a FROM t WHERE b = ? LIMIT ? OFFSET ?", "SELECT a FROM t WHERE b = ? LIMIT 20 OFFSET 40"}},
		{"a value of the text", []string{"SELECT a FROM t WHERE kind = 'open' AND id = 3", "SELECT a FROM t WHERE kind = 'open' AND id = 9"},
			[]string{"SELECT a FROM t WHERE kind = ? AND id = ?", "SELECT a FROM t WHERE kind = 'open' AND id = ?"}},
		{"too long for the text", []string{"SELECT a FROM t WHERE name = 'Wilhelmina von Ort'", "SELECT a FROM t WHERE name = 'Wilhelmina von Ort'"}, []string{"SELECT a FROM t WHERE name = ?"}},
		{"cut", []string{"SELECT a FROM t WHERE b = 'x"}, nil},
		{"cut by a server", []string{"SELECT a FROM t WHERE b = 1 AND c ..."}, nil},
		{"a comment", []string{"SELECT a FROM t /* by me */ WHERE b = 1"}, nil},
		{"two statements", []string{"SELECT 1; SELECT 2"}, nil},
		{"none", nil, nil},
	} {
		if got := MySQL.Sent(c.logged...); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}
