package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"

	"github.com/jmoiron/sqlx"
)

// Forms of source that was written without thought of rewriting.

type Visit struct {
	Member  string
	Host    *Visit
	Room    int64
	Name    string
	Guests  int
	Skipped bool
}

type office struct {
	sql *sql.DB
	x   *sqlx.DB
}

// RowInLoop: a QueryRow in the loop itself.
func (o *office) RowInLoop(visits []Visit) error {
	for i, v := range visits {
		if err := o.sql.QueryRow("SELECT name FROM users WHERE id = ?", v.Room).Scan(&visits[i].Name); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// RowWithContext: with a context of a request, two values, and an error that is answered.
func (o *office) RowWithContext(w http.ResponseWriter, r *http.Request, rooms []int64) {
	for _, room := range rooms {
		var name string
		var team sql.NullInt64
		err := o.sql.QueryRowContext(r.Context(), "SELECT name, team_id FROM users WHERE id = ?", room).Scan(&name, &team) // want `APP205`
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, name, team.Int64)
	}
}

// RowMissing: a row that is missing is none.
func (o *office) RowMissing(rooms []int64) (names []string, err error) {
	for _, room := range rooms {
		var name string
		switch err := o.sql.QueryRow("SELECT name FROM users WHERE id = ?", room).Scan(&name); { // want `APP205`
		case errors.Is(err, sql.ErrNoRows):
			continue
		case err != nil:
			return nil, fmt.Errorf("room %d: %w", room, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// RowText: the key is a text.
func (o *office) RowText(visits []Visit) error {
	for i := range visits {
		err := o.sql.QueryRow("SELECT id FROM users WHERE name = ?", visits[i].Member).Scan(&visits[i].Room) // want `APP205`
		if err != nil {
			return err
		}
	}
	return nil
}

// RowCount: rows are counted for each element.
func (o *office) RowCount(visits []Visit) {
	for i, v := range visits {
		if err := o.sql.QueryRow("SELECT COUNT(*) FROM comments WHERE post_id = ?", v.Room).Scan(&visits[i].Guests); err != nil { // want `APP205`
			log.Printf("room %d: %v", v.Room, err)
		}
	}
}

// RowLatest: the latest row of each element.
func (o *office) RowLatest(visits []Visit) error {
	for i := range visits {
		err := o.sql.QueryRow("SELECT text FROM comments WHERE post_id = ? ORDER BY id DESC LIMIT 1", visits[i].Room).Scan(&visits[i].Name) // want `APP205`
		if err != nil && err != sql.ErrNoRows {
			return err
		}
	}
	return nil
}

// RowDollar: a placeholder of PostgreSQL.
func (o *office) RowDollar(ctx context.Context, rooms []int64) (names []string, err error) {
	for _, room := range rooms {
		var name string
		if err := o.sql.QueryRowContext(ctx, `SELECT name FROM "users" WHERE "id" = $1`, room).Scan(&name); err != nil { // want `APP205`
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// RowDollars: several of them, the key is the second argument.
func (o *office) RowDollars(team int, rooms []int64) (n int, err error) {
	for _, room := range rooms {
		var here int
		if err := o.sql.QueryRow("SELECT COUNT(*) FROM users WHERE team_id = $2 AND id = $1", room, team).Scan(&here); err != nil { // want `APP205`
			return 0, err
		}
		n += here
	}
	return n, nil
}

// RowSome: only some elements have a row to read.
func (o *office) RowSome(visits []Visit) error {
	for i, v := range visits {
		if !v.Skipped {
			if err := o.sql.QueryRow("SELECT name FROM users WHERE id = ?", v.Room).Scan(&visits[i].Name); err != nil { // want `APP205`
				return err
			}
		}
	}
	return nil
}

// RowLeaves: the loop stops early.
func (o *office) RowLeaves(rooms []int64, want string) (int64, error) {
	for _, room := range rooms {
		var name string
		if err := o.sql.QueryRow("SELECT name FROM users WHERE id = ?", room).Scan(&name); err != nil { // want `APP205`
			return 0, err
		}
		if name == want {
			return room, nil
		}
	}
	return 0, sql.ErrNoRows
}

// RowLocal: the key is a variable of the round.
func (o *office) RowLocal(visits []Visit) error {
	for i, v := range visits {
		room := v.Room
		if err := o.sql.QueryRow("SELECT name FROM users WHERE id = ?", room).Scan(&visits[i].Name); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// RowWrites: the loop writes to another table.
func (o *office) RowWrites(visits []Visit) error {
	for _, v := range visits {
		var name string
		if err := o.sql.QueryRow("SELECT name FROM users WHERE id = ?", v.Room).Scan(&name); err != nil { // want `APP205`
			return err
		}
		if _, err := o.sql.Exec("UPDATE comments SET text = ? WHERE post_id = ?", name, v.Room); err != nil {
			return err
		}
	}
	return nil
}

// RowTransaction: in a transaction.
func (o *office) RowTransaction(tx *sql.Tx, rooms []int64) (sum int, err error) {
	for _, room := range rooms {
		var team int
		if err = tx.QueryRow("SELECT team_id FROM users WHERE id = ?", room).Scan(&team); err != nil { // want `APP205`
			return 0, err
		}
		sum += team
	}
	return sum, nil
}

// RowMap: the loop goes over a map.
func (o *office) RowMap(rooms map[int64]string) error {
	for room := range rooms {
		var name string
		if err := o.sql.QueryRow("SELECT name FROM users WHERE id = ?", room).Scan(&name); err != nil { // want `APP205`
			return err
		}
		log.Print(name)
	}
	return nil
}

// RowCounts: the loop counts.
func (o *office) RowCounts(visits []Visit) error {
	for i := 0; i < len(visits); i++ {
		if err := o.sql.QueryRow("SELECT name FROM users WHERE id = ?", visits[i].Room).Scan(&visits[i].Name); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// GetFirst: of perhaps several rows, the first one is read.
func (o *office) GetFirst(teams []int) (out []User, err error) {
	for _, team := range teams {
		var u User
		if err := o.x.Get(&u, "SELECT * FROM users WHERE team_id = ?", team); err != nil { // want `APP205`
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// GetSome: only some elements have a row, which is read into a variable of the branch.
func (o *office) GetSome(visits []Visit) (out []User) {
	for _, v := range visits {
		if v.Guests > 0 {
			u := User{}
			if err := o.x.Get(&u, "SELECT * FROM users WHERE id = ?", v.Room); err != nil { // want `APP205`
				log.Print(err)
				continue
			}
			out = append(out, u)
		}
	}
	return out
}

// SelectWrites: several rows for each element, in order, and a write to another table.
func (o *office) SelectWrites(rooms []int64) error {
	for _, room := range rooms {
		var list []Comment
		if err := o.x.Select(&list, "SELECT * FROM comments WHERE post_id = ? ORDER BY id", room); err != nil { // want `APP205`
			return err
		}
		if _, err := o.x.Exec("UPDATE users SET team_id = ? WHERE id = ?", len(list), room); err != nil {
			return err
		}
	}
	return nil
}

func (o *office) nameOf(ctx context.Context, id int64) (string, error) {
	var name string
	err := o.sql.QueryRowContext(ctx, "SELECT name FROM users WHERE id = $1", id).Scan(&name)
	return name, err
}

// HelperDollar: a helper of PostgreSQL.
func (o *office) HelperDollar(ctx context.Context, visits []Visit) error {
	for i := range visits {
		name, err := o.nameOf(ctx, visits[i].Room) // want `APP205`
		if err != nil {
			return fmt.Errorf("room %d: %w", visits[i].Room, err)
		}
		visits[i].Name = name
	}
	return nil
}

func (o *office) latest(id int64) (*Comment, error) {
	c := &Comment{}
	if err := o.x.Get(c, "SELECT * FROM comments WHERE post_id = ? ORDER BY id DESC LIMIT 1", id); err != nil {
		return nil, err
	}
	return c, nil
}

// HelperLatest: a helper reads the latest row into a pointer.
func (o *office) HelperLatest(w http.ResponseWriter, visits []Visit) {
	for i, v := range visits {
		c, err := o.latest(v.Room) // want `APP205`
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		visits[i].Name = c.Text
	}
}

func firstOf(db *sql.DB, team int) (id int64, err error) {
	err = db.QueryRow("SELECT id FROM users WHERE team_id = ? ORDER BY name", team).Scan(&id)
	return id, err
}

// HelperFirst: the first one of several rows.
func HelperFirst(db *sql.DB, teams []int) (ids []int64) {
	for _, t := range teams {
		id, err := firstOf(db, t) // want `APP205`
		if err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// HelperLocal: its key is a variable of the round.
func (o *office) HelperLocal(visits []Visit) (out []*Comment, err error) {
	for _, v := range visits {
		key := v.Room + 100
		c, err := o.latest(key) // want `APP205`
		if errors.Is(err, sql.ErrNoRows) {
			continue
		} else if err != nil {
			return nil, err
		} else {
			out = append(out, c)
		}
	}
	return out, nil
}

// HelperElse: what was found is kept in the other branch.
func (o *office) HelperElse(ctx context.Context, ids []int64) (names []string) {
	for _, id := range ids {
		if name, err := o.nameOf(ctx, id); err != nil { // want `APP205`
			log.Println(id, err)
		} else {
			names = append(names, name)
		}
	}
	return names
}

// HelperTwice: two helpers in one loop.
func (o *office) HelperTwice(ctx context.Context, visits []Visit) error {
	for i, v := range visits {
		name, err := o.nameOf(ctx, v.Room) // want `APP205`
		if err != nil {
			return err
		}
		c, err := o.latest(v.Room) // want `APP205`
		if err != nil {
			return err
		}
		visits[i].Name = name + c.Text
	}
	return nil
}

// RowPrepared: a statement that is prepared before the loop.
func (o *office) RowPrepared(ctx context.Context, visits []Visit) error {
	stmt, err := o.sql.PrepareContext(ctx, "SELECT id FROM users WHERE name = ?")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i, v := range visits {
		if err := stmt.QueryRowContext(ctx, v.Member).Scan(&visits[i].Room); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// RowMade: a row that is missing is inserted, so that the next element finds it.
func (o *office) RowMade(names []string) (ids []int64, err error) {
	for _, name := range names {
		var id int64
		err := o.sql.QueryRow("SELECT id FROM users WHERE name = ?", name).Scan(&id) // want `APP205`
		if errors.Is(err, sql.ErrNoRows) {
			res, err := o.sql.Exec("INSERT INTO users (name, team_id) VALUES (?, 1)", name)
			if err != nil {
				return nil, err
			}
			if id, err = res.LastInsertId(); err != nil {
				return nil, err
			}
		} else if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// GetPrepared: the same of sqlx, in a transaction.
func (o *office) GetPrepared(ctx context.Context, tx *sqlx.Tx, names []string) (ids []int64, err error) {
	find, err := tx.Preparex("SELECT id FROM users WHERE name = ?")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var id int64
		if err := find.Get(&id, name); err != nil { // want `APP205`
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// RowStored: what was found is stored in a table of its own, by a helper.
func (o *office) RowStored(rooms []int64) error {
	for _, room := range rooms {
		var name string
		if err := o.sql.QueryRow("SELECT name FROM users WHERE id = ?", room).Scan(&name); err != nil { // want `APP205`
			return err
		}
		if err := o.note(room, name); err != nil {
			return err
		}
	}
	return nil
}

func (o *office) note(room int64, name string) error {
	_, err := o.sql.Exec("UPDATE comments SET text = ? WHERE post_id = ?", name, room)
	return err
}

// RowTag: the key is a type of the app.
func (o *office) RowTag(tags []tag) (n int, err error) {
	for _, t := range tags {
		var team int
		if err := o.sql.QueryRow("SELECT team_id FROM users WHERE name = ? LIMIT 1", t).Scan(&team); err != nil { // want `APP205`
			return 0, err
		}
		n += team
	}
	return n, nil
}

type tag string

// RowBoth: a further argument is that of the function.
func (o *office) RowBoth(team int64, names []string) (found map[string]int64, err error) {
	found = map[string]int64{}
	for _, name := range names {
		var id int64
		if err := o.sql.QueryRow("SELECT id FROM users WHERE team_id = ? AND name = ?", team, name).Scan(&id); err != nil { // want `APP205`
			return nil, err
		}
		found[name] = id
	}
	return found, nil
}

// GetField: the value is read into a field.
func (o *office) GetField(visits []Visit) error {
	for i, v := range visits {
		if err := o.x.Get(&visits[i].Name, "SELECT name FROM users WHERE id = ?", v.Room); err != nil && err != sql.ErrNoRows { // want `APP205`
			return err
		}
	}
	return nil
}
