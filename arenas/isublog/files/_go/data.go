package main

import (
	"context"
	"database/sql"
	"time"
)

// An article is one row of the table of the same name.
type article struct {
	ID        int       `db:"id"`
	Title     string    `db:"title"`
	Body      string    `db:"body"`
	CreatedAt time.Time `db:"created_at"`
}

// A comment is one row of the table of the same name. The name may be missing.
type comment struct {
	Name      sql.NullString `db:"name"`
	Body      string         `db:"body"`
	CreatedAt time.Time      `db:"created_at"`
}

// A link is one line of the sidebar.
type link struct {
	ID    int    `db:"id"`
	Title string `db:"title"`
}

// recentlyCommented lists the articles with the newest comments.
func (a *app) recentlyCommented(ctx context.Context) ([]link, error) {
	var links []link
	err := a.db.SelectContext(ctx, &links,
		"SELECT a.id, a.title FROM comment c INNER JOIN article a ON c.article = a.id GROUP BY a.id ORDER BY MAX(c.created_at) DESC LIMIT 10")
	return links, err
}

func (a *app) newestArticles(ctx context.Context) ([]article, error) {
	var articles []article
	err := a.db.SelectContext(ctx, &articles, "SELECT id, title, body, created_at FROM article ORDER BY id DESC LIMIT 10")
	return articles, err
}

func (a *app) article(ctx context.Context, id int) (article, error) {
	var one article
	err := a.db.GetContext(ctx, &one, "SELECT id, title, body, created_at FROM article WHERE id = ?", id)
	return one, err
}

func (a *app) comments(ctx context.Context, article int) ([]comment, error) {
	var comments []comment
	err := a.db.SelectContext(ctx, &comments, "SELECT name, body, created_at FROM comment WHERE article = ? ORDER BY id", article)
	return comments, err
}

func (a *app) addArticle(ctx context.Context, title, body string) error {
	_, err := a.db.ExecContext(ctx, "INSERT INTO article (title, body) VALUES (?, ?)", title, body)
	return err
}

func (a *app) addComment(ctx context.Context, article int, name, body string) error {
	_, err := a.db.ExecContext(ctx, "INSERT INTO comment (article, name, body) VALUES (?, ?, ?)", article, name, body)
	return err
}
