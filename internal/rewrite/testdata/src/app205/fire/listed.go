package main

import (
	"database/sql"
	"fmt"
	"log"
)

// Rows of database/sql that are read where they arrive.

func tagsOf(db *sql.DB, post int64) ([]string, error) {
	rows, err := db.Query("SELECT text FROM comments WHERE post_id = ? ORDER BY text", post)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var tags []string
	for rows.Next() {
		var tag string
		if err := rows.Scan(&tag); err != nil {
			return nil, err
		}
		tags = append(tags, tag)
	}
	return tags, rows.Err()
}

// Listed: a helper reads the rows.
func Listed(db *sql.DB, posts []Post) error {
	for _, p := range posts {
		tags, err := tagsOf(db, p.ID) // want `APP205`
		if err != nil {
			return err
		}
		log.Print(p.ID, tags)
	}
	return nil
}

type archive struct{ db *sql.DB }

// Listing: a method reads them in its loop, two values of each.
func (a *archive) Listing(ids []int64) (names map[int64]string) {
	names = map[int64]string{}
	for _, id := range ids {
		rows, err := a.db.Query("SELECT id, text FROM comments WHERE post_id = ?", id) // want `APP205`
		if err != nil {
			continue
		}
		for rows.Next() {
			var n int64
			var text sql.NullString
			if rows.Scan(&n, &text) != nil {
				break
			}
			names[n] += text.String
		}
		rows.Close()
	}
	return names
}

func firstTag(db *sql.DB, post int64) (tag string) {
	rows, err := db.Query("SELECT text FROM comments WHERE post_id = ? ORDER BY text", post)
	if err != nil {
		return ""
	}
	defer rows.Close()
	rows.Next()
	rows.Scan(&tag)
	return tag
}

// Unasked: a row is scanned that may not be there.
func Unasked(db *sql.DB, posts []Post) {
	for _, p := range posts {
		log.Print(firstTag(db, p.ID)) // want `APP205`
	}
}

// Closures: each has rows of its own.
func Closures(db *sql.DB) (texts, ids func([]int64) []string) {
	texts = func(posts []int64) (all []string) {
		for _, id := range posts {
			rows, err := db.Query("SELECT text FROM comments WHERE post_id = ?", id) // want `APP205`
			if err != nil {
				return nil
			}
			for rows.Next() {
				var text string
				if rows.Scan(&text) == nil {
					all = append(all, text)
				}
			}
			rows.Close()
		}
		return all
	}
	ids = func(posts []int64) (all []string) {
		for _, id := range posts {
			rows, err := db.Query("SELECT id FROM comments WHERE post_id = ?", id) // want `APP205`
			if err != nil {
				return nil
			}
			for rows.Next() {
				var n int64
				if rows.Scan(&n) == nil {
					all = append(all, fmt.Sprint(n))
				}
			}
			rows.Close()
		}
		return all
	}
	return texts, ids
}
