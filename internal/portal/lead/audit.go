package lead

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/store"
)

// audit adds a line to the audit log; each line has the hash of the one before.
func (c *Core) audit(tx *store.Tx, who, what, body string) error {
	number, chain := int64(0), ""
	err := tx.Row("SELECT number, chain FROM audit ORDER BY number DESC LIMIT 1", nil, &number, &chain)
	if err != nil && !errors.Is(err, store.ErrNone) {
		return err
	}
	at := c.Now().Truncate(time.Microsecond) // as it is kept: CheckAudit computes the hash again
	_, err = tx.Exec("INSERT INTO audit (number, at, account, what, body, chain) VALUES (?, ?, ?, ?, ?, ?)", number+1, at, who, what, body, link(chain, at, who, what, body))
	return err
}

// link is the hash of a line of the audit log with those before it.
func link(chain string, at time.Time, who, what, body string) string {
	return Digest(strings.Join([]string{chain, at.Format(time.RFC3339Nano), who, what, body}, "\x00"))
}

// CheckAudit computes the chain of the audit log again. It returns how many lines there are, and the
// number of the first one that is not what was written, or that follows a gap; 0 if all are.
func (c *Core) CheckAudit(ctx context.Context) (lines, broken int64, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		lines, broken = 0, 0
		chain := ""
		return tx.Each("SELECT number, at, account, what, body, chain FROM audit ORDER BY number", nil, func(scan func(...any) error) error {
			var number int64
			var at time.Time
			var who, what, body, kept string
			if err := scan(&number, &at, &who, &what, &body, &kept); err != nil {
				return err
			}
			lines++
			if broken == 0 && (number != lines || !linked(kept, chain, at, who, what, body)) {
				broken = number
			}
			chain = kept
			return nil
		})
	})
	return lines, broken, err
}

// linked reports whether a hash is that of a line. Lines of the first portals hashed a time with
// nanoseconds and kept its microseconds: one of these thousand has to fit.
func linked(kept, chain string, at time.Time, who, what, body string) bool {
	for ns := range time.Duration(1000) {
		if link(chain, at.Add(ns), who, what, body) == kept {
			return true
		}
	}
	return false
}
