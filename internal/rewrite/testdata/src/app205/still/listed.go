package main

import "database/sql"

// ListedShared: the values of a row share their memory.
func ListedShared(db *sql.DB, ids []int64) (texts [][]byte) {
	for _, id := range ids {
		rows, err := db.Query("SELECT text FROM comments WHERE post_id = ?", id) // want `APP205`
		if err != nil {
			return nil
		}
		for rows.Next() {
			var text []byte
			if rows.Scan(&text) == nil {
				texts = append(texts, text)
			}
		}
		rows.Close()
	}
	return texts
}

// ListedColumns: the names of the columns are asked for.
func ListedColumns(db *sql.DB, ids []int64) (n int) {
	for _, id := range ids {
		rows, err := db.Query("SELECT text FROM comments WHERE post_id = ?", id) // want `APP205`
		if err != nil {
			return 0
		}
		names, _ := rows.Columns()
		n += len(names)
		rows.Close()
	}
	return n
}

// ListedTwice: the rows are scanned at two places.
func ListedTwice(db *sql.DB, ids []int64) (n int64) {
	for _, id := range ids {
		rows, err := db.Query("SELECT id FROM comments WHERE post_id = ?", id) // want `APP205`
		if err != nil {
			return 0
		}
		var first, next int64
		if rows.Next() && rows.Scan(&first) == nil {
			for rows.Next() && rows.Scan(&next) == nil {
				n += next - first
			}
		}
		rows.Close()
	}
	return n
}

// ListedWrites: the loop writes the table.
func ListedWrites(db *sql.DB, ids []int64) (n int64) {
	for _, id := range ids {
		rows, err := db.Query("SELECT id FROM comments WHERE post_id = ?", id) // want `APP205`
		if err != nil {
			return 0
		}
		for rows.Next() {
			if rows.Scan(&n) != nil {
				break
			}
		}
		rows.Close()
		if _, err := db.Exec("DELETE FROM comments WHERE id = ?", n); err != nil {
			return 0
		}
	}
	return n
}
