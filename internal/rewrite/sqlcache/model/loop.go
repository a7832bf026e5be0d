package model

import (
	"context"
	"errors"
	"fmt"
)

// A loop sends a child for each row of an answer, so that a cache may read the children's
// rows ahead.

// A parentRow is a row of ReadGroups.
type parentRow struct {
	id    int64
	group string
}

// parentRows asks the parent of a loop.
func parentRows(ctx context.Context, db queryer) (out []parentRow, err error) {
	rows, err := db.QueryContext(ctx, ReadGroups)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r parentRow
		if err := rows.Scan(&r.id, &r.group); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// children are the questions of a loop over some rows.
func (c *client) children(rows []parentRow) (out []question) {
	kind, group := c.rng.IntN(3), c.spelling()
	for _, r := range rows {
		switch kind {
		case 0:
			out = append(out, question{ask: byID, id: r.id})
		case 1:
			out = append(out, question{ask: countRow, id: r.id, group: group})
		default:
			out = append(out, question{ask: byGroup, group: r.group})
		}
	}
	return out
}

// loop reads the rows of a parent, and a child for each. The children are recorded.
func (c *client) loop(ctx context.Context) error {
	rows, err := parentRows(ctx, c.Pool)
	if err != nil {
		c.failed.Add(1)
		return ctx.Err()
	}
	for _, q := range c.children(rows) {
		if err := c.readOne(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// loopInTransaction compares each child in a transaction with the same question past the
// cache: both are of its snapshot, with what it has written. Another transaction with the
// same children follows, most often on the same connection.
func (c *client) loopInTransaction(ctx context.Context) error {
	rows, err := parentRows(ctx, c.Pool)
	if err != nil {
		c.failed.Add(1)
		return ctx.Err()
	}
	children := c.children(rows)
	for range 2 {
		err := c.compare(ctx, children)
		var v *Violation
		if errors.As(err, &v) {
			return v
		}
		if err != nil {
			c.failed.Add(1)
			return ctx.Err()
		}
	}
	return nil
}

// compare asks the children in one transaction, through the cache and past it.
func (c *client) compare(ctx context.Context, children []question) (err error) {
	tx, err := c.Pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // a lost connection rolls back, too
	if _, err := parentRows(ctx, tx); err != nil {
		return err
	}
	if err := c.write(ctx); err != nil { // past the transaction, which does not see it
		return err
	}
	for _, q := range children {
		got, err := askTable(ctx, tx, q)
		if err != nil {
			return err
		}
		want, err := askPast(ctx, tx, q)
		if err != nil {
			return err
		}
		if got != want {
			return &Violation{Text: fmt.Sprintf("in one transaction, %+v gave %q through the cache and %q past it", q, got, want)}
		}
		if c.rng.IntN(12) == 0 {
			text, args, _ := c.change()
			if _, err := tx.ExecContext(ctx, text, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// askPast asks a question by a text that no plan lists.
func askPast(ctx context.Context, db queryer, q question) (string, error) {
	switch q.ask {
	case byGroup:
		return answerOf(ctx, db, UnlistedGroup, q.group)
	case countRow:
		return answerOf(ctx, db, UnlistedCount, q.group, q.id)
	}
	return answerOf(ctx, db, UnlistedID, q.id)
}
