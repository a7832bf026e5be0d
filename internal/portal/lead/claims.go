package lead

import (
	"context"
	"errors"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// claimLasts is how long a question belongs to who claimed it: people are called away.
const claimLasts = 10 * time.Minute

// ClaimQuestion gives a question to one member of staff: the others see it, and cannot answer. It is
// refused while another one has it.
func (c *Core) ClaimQuestion(ctx context.Context, who api.Who, round, question string) error {
	return c.store.Write(ctx, "claim-question", func(tx *store.Tx) error {
		if err := c.claimed(tx, who, round, question); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE messages SET claimed = ?, claimed_at = ? WHERE id = ?", who.Account, c.Now(), question)
		return err
	})
}

// claimed refuses a question that another member of staff has claimed.
func (c *Core) claimed(tx *store.Tx, who api.Who, round, question string) error {
	claimed, at := "", time.Time{}
	if err := tx.Row("SELECT claimed, claimed_at FROM messages WHERE id = ? AND round = ? AND kind = 'question'", []any{question, round}, &claimed, &at); err != nil {
		return notFound(err)
	}
	if claimed == "" || claimed == who.Account || c.Now().Sub(at) >= claimLasts {
		return nil
	}
	name := ""
	if err := tx.Row("SELECT name FROM accounts WHERE id = ?", []any{claimed}, &name); err != nil && !errors.Is(err, store.ErrNone) {
		return err
	}
	return refused("claimed", "%s is answering this question", cleaned(name, 190))
}
