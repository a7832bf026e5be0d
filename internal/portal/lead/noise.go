package lead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// SetNoise keeps how far single runs of an unchanged site differ; the last one counts. Boards mark
// neighbours that a single run does not tell apart.
func (c *Core) SetNoise(ctx context.Context, who, round string, n api.Noise) error {
	if !(n.SD >= 0 && n.SD <= 1) || n.Runs < api.LeastNoiseRuns {
		return refused("noise", "the noise is 0 to 1, of at least %d runs", api.LeastNoiseRuns)
	}
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("writing the noise: %w", err)
	}
	err = c.store.Write(ctx, "noise", func(tx *store.Tx) error {
		if _, err := c.round(tx, round); err != nil {
			return err
		}
		if err := c.audit(tx, who, "noise", round+": "+strconv.FormatFloat(n.SD, 'g', 3, 64)+" of "+strconv.Itoa(n.Runs)+" runs"); err != nil {
			return err
		}
		return c.event(tx, Event{Round: round, Kind: KindNoise, Body: body})
	})
	c.Wake()
	return err
}

// readNoise is the last noise of a round; 0 if it is not known.
func readNoise(tx *store.Tx, round string, d *board.Data) error {
	body := ""
	err := tx.Row("SELECT body FROM events WHERE round = ? AND kind = ? ORDER BY number DESC LIMIT 1", []any{round, KindNoise}, &body)
	if errors.Is(err, store.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	var n api.Noise
	if err := json.Unmarshal([]byte(body), &n); err != nil {
		return fmt.Errorf("reading the noise of %s: %w", round, err)
	}
	d.Noise = n.SD
	return nil
}
