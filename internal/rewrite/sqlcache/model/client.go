package model

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Spellings of two groups.
var spellings = []string{"red", "Red", "red ", "réd", "blue"}

func (c *client) id() int64        { return 1 + c.rng.Int64N(4) }
func (c *client) spelling() string { return spellings[c.rng.IntN(len(spellings))] }

// threeIDs draws one of 64 lists. Half of the lists are one of four, so that answers to
// them are kept and asked for again: any list alone is asked for a few times in a round.
func (c *client) threeIDs() []int64 {
	id := c.id()
	if c.rng.IntN(2) == 0 {
		return []int64{id, 1 + id%mostID, 1 + (id+1)%mostID}
	}
	return []int64{id, c.id(), c.id()}
}

// read asks a question and records the answer. A read that fails is not recorded.
func (c *client) read(ctx context.Context) error {
	q := question{ask: ask(c.rng.IntN(int(pair) + 1)), id: c.id(), group: c.spelling()}
	q.ids = c.threeIDs()
	return c.readOne(ctx, q)
}

func (c *client) readOne(ctx context.Context, q question) error {
	from := time.Now()
	out, err := askTable(ctx, c.Pool, q)
	to := time.Now()
	if err != nil {
		c.failed.Add(1)
		return ctx.Err()
	}
	q.group = c.fold(q.group)
	c.h.add(c.number, input{reads: true, asked: q}, out, from, to, false)
	return nil
}

type queryer interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

func askTable(ctx context.Context, db queryer, q question) (string, error) {
	text, args := ReadID, []any{q.id}
	switch q.ask {
	case byIDs:
		text, args = ReadIDs, []any{q.ids[0], q.ids[1], q.ids[2]}
	case byGroup:
		text, args = ReadGroup, []any{q.group}
	case whole:
		text, args = ReadWhole, nil
	case countRow:
		text, args = ReadCount, []any{q.group, q.id}
	case pair:
		text = ReadPair
	}
	return answerOf(ctx, db, text, args...)
}

// answerOf is the answer to a statement in the form of history.
func answerOf(ctx context.Context, db queryer, text string, args ...any) (string, error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var out []byte
	for rows.Next() {
		var x, y int64
		if len(columns) == 1 {
			err = rows.Scan(&x)
			out = appendValue(out, x)
		} else {
			err = rows.Scan(&x, &y)
			out = appendRow(out, x, y)
		}
		if err != nil {
			return "", err
		}
	}
	return string(out), rows.Err()
}

// change draws a write: its text, its arguments and its effect.
func (c *client) change() (text string, args []any, e effect) {
	id, group, value := c.id(), c.spelling(), c.values.Add(1)
	folded := c.fold(group)
	switch c.rng.IntN(13) {
	case 0, 1:
		return SetValue, []any{value, id}, effect{verb: setValue, id: id, value: value}
	case 2:
		return SetGroup, []any{group, id}, effect{verb: setGroup, id: id, group: folded}
	case 3, 4, 12:
		return SetValueGroup, []any{value, group}, effect{verb: setValueGroup, group: folded, value: value}
	case 5:
		return Remove, []any{id}, effect{verb: remove, id: id}
	case 6, 7:
		return Insert, []any{id, group, value}, effect{verb: insert, rows: []row{{id, folded, value}}}
	case 8:
		two, other := c.values.Add(1), 1+id%4
		return InsertTwo, []any{id, group, value, other, group, two},
			effect{verb: insert, rows: []row{{id, folded, value}, {other, folded, two}}}
	case 9:
		text := Put
		if c.SQLite {
			text = PutSQLite
		}
		return text, []any{id, group, value, value}, effect{verb: put, rows: []row{{id, folded, value}}}
	case 10:
		return UnlistedSet, []any{value, id}, effect{verb: setValue, id: id, value: value}
	}
	if c.rng.IntN(4) == 0 {
		return UnlistedClear, nil, effect{verb: clearAll}
	}
	return SetValue, []any{value, id}, effect{verb: setValue, id: id, value: value}
}

// write sends one statement. In trouble, its context ends while the server may
// still be executing it.
func (c *client) write(ctx context.Context) error {
	text, args, e := c.change()
	call := ctx
	if c.rng.Float64() < c.trouble {
		var cancel context.CancelFunc
		call, cancel = context.WithTimeout(ctx, time.Duration(c.rng.IntN(1500))*time.Microsecond)
		defer cancel()
	}
	from := time.Now()
	_, err := c.Pool.ExecContext(call, text, args...)
	c.record([]effect{e}, err, from)
	return ctx.Err()
}

// record adds a write. After a refusal of the server it had no effect; after
// the outcome of any other error is unknown.
func (c *client) record(effects []effect, err error, from time.Time) {
	to := time.Now()
	if refused(err) {
		c.failed.Add(1)
		return
	}
	if err != nil {
		c.unknown.Add(1)
	}
	c.h.add(c.number, input{effects: effects}, "", from, to, err != nil)
}

// snapshot is a transaction that only reads: what it reads after a pause is
// older than what others may read then.
func (c *client) snapshot(ctx context.Context) error {
	tx, err := c.Pool.BeginTx(ctx, nil)
	if err != nil {
		c.failed.Add(1)
		return ctx.Err()
	}
	defer func() { _ = tx.Rollback() }() // a lost connection rolls back, too
	for range 6 {
		q := question{ask: ask(c.rng.IntN(int(pair) + 1)), id: c.id(), ids: []int64{1, 2, 3}, group: c.spelling()}
		if _, err := askTable(ctx, tx, q); err != nil {
			c.failed.Add(1)
			return ctx.Err()
		}
		time.Sleep(time.Duration(c.rng.IntN(800)) * time.Microsecond)
	}
	return nil
}

// transaction sends several writes and ends them together. Reads in it see its
// own snapshot and are not recorded; they must not fill the cache.
func (c *client) transaction(ctx context.Context) error {
	tx, err := c.Pool.BeginTx(ctx, nil)
	if err != nil {
		c.failed.Add(1)
		return ctx.Err()
	}
	var effects []effect
	for range 1 + c.rng.IntN(3) {
		if c.rng.IntN(2) == 0 {
			q := question{ask: ask(c.rng.IntN(int(pair) + 1)), id: c.id(), ids: []int64{1, 2, 3}, group: c.spelling()}
			if _, err := askTable(ctx, tx, q); err != nil {
				break
			}
		}
		text, args, e := c.change()
		if _, err = tx.ExecContext(ctx, text, args...); err != nil {
			break
		}
		effects = append(effects, e)
		if c.rng.IntN(4) == 0 {
			time.Sleep(time.Duration(c.rng.IntN(300)) * time.Microsecond)
		}
	}
	if err != nil || c.rng.IntN(4) == 0 {
		c.failed.Add(1)
		_ = tx.Rollback() // a lost connection rolls back, too
		return ctx.Err()
	}
	from := time.Now()
	err = tx.Commit()
	c.record(effects, err, from)
	return ctx.Err()
}

// outside writes past the cache, announced.
func (c *client) outside(ctx context.Context) error {
	text, args, e := c.change()
	end := c.Outside()
	from := time.Now()
	_, err := c.Direct.ExecContext(ctx, text, args...)
	c.record([]effect{e}, err, from)
	end()
	return ctx.Err()
}

// kill ends a connection of the pool, in the middle of whatever it does.
func (c *client) kill(ctx context.Context) error {
	if c.SQLite || c.rng.Float64() >= c.trouble {
		return nil
	}
	var id int64
	err := c.Direct.QueryRowContext(ctx, `SELECT ID FROM information_schema.PROCESSLIST
		WHERE USER = 'cached' ORDER BY (COMMAND = 'Sleep'), RAND() LIMIT 1`).Scan(&id)
	if err == nil {
		_, err = c.Direct.ExecContext(ctx, fmt.Sprintf("KILL %d", id))
	}
	if err != nil {
		c.failed.Add(1) // it ended by itself, or none was there
	}
	return ctx.Err()
}
