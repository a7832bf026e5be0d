package cacheplan

import (
	"testing"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// TestBatches: the statement that reads the rows of many keys, and statements without one.
func TestBatches(t *testing.T) {
	cases := []struct{ text, column, want string }{
		{"SELECT * FROM users WHERE id = ?", "id", "SELECT *, id FROM users WHERE id IN (?)"},
		{"SELECT u.name FROM users AS u WHERE u.score > ? AND u.`id` = ? LIMIT 1", "id", "SELECT u.name, u.`id` FROM users AS u WHERE u.score > ? AND u.`id` IN (?)"},
		{"SELECT title FROM posts WHERE user_id = ? AND title IS NOT NULL", "user_id", "SELECT title, user_id FROM posts WHERE user_id IN (?) AND title IS NOT NULL"},
		{"SELECT id, title FROM posts WHERE user_id = ? ORDER BY id DESC", "user_id", "SELECT id, title, user_id FROM posts WHERE user_id IN (?) ORDER BY id DESC"},
		{"SELECT id FROM posts WHERE user_id = ? ORDER BY id DESC LIMIT 3", "user_id", "SELECT * FROM (SELECT id, user_id AS iikanji_key, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY id DESC) AS iikanji_row FROM posts WHERE user_id IN (?)) AS iikanji_rows WHERE iikanji_row <= 3 ORDER BY iikanji_row"},
		{"SELECT * FROM posts WHERE user_id = ? AND title > ? LIMIT ?", "user_id", "SELECT * FROM (SELECT *, user_id AS iikanji_key, ROW_NUMBER() OVER (PARTITION BY user_id) AS iikanji_row FROM posts WHERE user_id IN (?) AND title > ?) AS iikanji_rows WHERE iikanji_row <= ? ORDER BY iikanji_row"},
		{"SELECT COUNT(*) FROM posts WHERE user_id = ?", "user_id", "SELECT COUNT(*), user_id FROM posts WHERE user_id IN (?) GROUP BY user_id"},
		{"SELECT IFNULL(SUM(score), 0) AS s FROM users WHERE name = ?", "name", "SELECT IFNULL(SUM(score), 0) AS s, name FROM users WHERE name IN (?) GROUP BY name"},
		{"SELECT 1 FROM tags WHERE post_id = ? AND tag = 'a' LIMIT 1", "post_id", "SELECT * FROM (SELECT 1, post_id AS iikanji_key, ROW_NUMBER() OVER (PARTITION BY post_id) AS iikanji_row FROM tags WHERE post_id IN (?) AND tag = 'a') AS iikanji_rows WHERE iikanji_row <= 1 ORDER BY iikanji_row"},
		{"SELECT title FROM posts WHERE user_id = ? AND title IN (?, ?)", "user_id", "SELECT title, user_id FROM posts WHERE user_id IN (?) AND title IN (?, ?)"},
		{"SELECT * FROM users WHERE id IN (?, ?)", "id", ""},
		{"SELECT * FROM users WHERE id = 5", "id", ""},
		{"SELECT * FROM users WHERE id = ? OR score = ?", "id", ""},
		{"SELECT * FROM users WHERE NOT (id = ?)", "id", ""},
		{"SELECT * FROM users WHERE (id = ?)", "id", "SELECT *, id FROM users WHERE (id IN (?))"},
		{"SELECT * FROM `users` WHERE `users`.`id` = ? AND `users`.`score` IS NULL ORDER BY `users`.`id` LIMIT 1", "id",
			"SELECT *, `users`.`id` FROM `users` WHERE `users`.`id` IN (?) AND `users`.`score` IS NULL"},
		{"SELECT `users`.`id`, `users`.`name` FROM `users` WHERE `users`.`id` = ? LIMIT 2", "id", "SELECT `users`.`id`, `users`.`name`, `users`.`id` FROM `users` WHERE `users`.`id` IN (?)"},
		{"SELECT `id`, `title` FROM `posts` WHERE (user_id = ?) AND (title > ?)", "user_id", "SELECT `id`, `title`, user_id FROM `posts` WHERE (user_id IN (?)) AND (title > ?)"},
		{"SELECT count(*) FROM `posts` WHERE user_id = ?", "user_id", "SELECT count(*), user_id FROM `posts` WHERE user_id IN (?) GROUP BY user_id"},
		{"SELECT * FROM users WHERE (id = ? OR score = 1)", "id", ""},
		{"SELECT * FROM users WHERE NOT (score = 1 AND (id = ?))", "id", ""},
		{"SELECT * FROM users WHERE ? = id", "id", ""},
		{"SELECT * FROM users WHERE id <=> ?", "id", ""},
		{"SELECT DISTINCT name FROM users WHERE id = ?", "id", ""},
		{"SELECT COUNT(*), title FROM posts WHERE user_id = ?", "user_id", ""},
		{"SELECT COUNT(*) FROM posts WHERE user_id = ? GROUP BY title", "user_id", ""},
		{"SELECT COUNT(*) FROM posts WHERE user_id = ? LIMIT 1", "user_id", ""},
		{"SELECT GROUP_CONCAT(title) FROM posts WHERE user_id = ?", "user_id", ""},
		{"SELECT id FROM posts WHERE user_id = ? LIMIT 3, 5", "user_id", ""},
		{"SELECT id FROM posts WHERE user_id = ? ORDER BY LENGTH(title)", "user_id", ""},
		{"SELECT id FROM posts WHERE user_id = ? ORDER BY 1 LIMIT 2", "user_id", ""},
		{"SELECT -id AS id FROM posts WHERE user_id = ? ORDER BY id LIMIT 2", "user_id", ""},
		{"SELECT p.id FROM posts p JOIN users u ON u.id = p.user_id WHERE p.user_id = ?", "user_id", ""},
		{"SELECT id FROM posts WHERE user_id = ? AND EXISTS (SELECT 1 FROM tags)", "user_id", ""},
		{"SELECT id FROM posts WHERE user_id = ? FOR UPDATE", "user_id", ""},
		{"SELECT id, NOW() FROM posts WHERE user_id = ?", "user_id", ""},
		{"SELECT id FROM posts WHERE slug = ?", "slug", ""},
		{"SELECT ROW_NUMBER() OVER (ORDER BY id) FROM posts WHERE user_id = ?", "user_id", ""},
	}
	for _, c := range cases {
		plan, _ := Build(schema(t), []string{"  " + c.text + "\n"})
		got := ""
		for _, b := range plan.Batches {
			if b.Column == c.column && b.Shape != sqlcache.Parts {
				got = b.Head + "?" + b.Tail
			}
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
		if _, err := sqlcache.New(plan, sqlcache.Options{}); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}
