package mine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// saveInterval is how often a game is saved.
const saveInterval = time.Second

// saved is the first line of a saved game. The depths of all cells follow, a byte each.
type saved struct {
	Seed     int64         `json:"seed"`
	Size     Size          `json:"size"`
	Duration time.Duration `json:"duration_ns"`
	Elapsed  time.Duration `json:"elapsed_ns"`
	Balance  int           `json:"balance"`
	Licenses []License     `json:"licenses"`
	Next     int           `json:"next"` // id of a licence
}

// saveEvery saves the game until ctx is done. A game that could not be saved goes on.
func (g *Game) saveEvery(ctx context.Context) {
	t := time.NewTicker(saveInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_ = g.save()
		}
	}
}

// save writes the game beside its file, and then renames it.
func (g *Game) save() error {
	head, dug := g.state()
	line, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("saving the game: %w", err)
	}
	tmp := g.config.Save + ".new"
	if err := os.WriteFile(tmp, append(append(line, '\n'), dug...), 0o600); err != nil {
		return fmt.Errorf("saving the game: %w", err)
	}
	if err := os.Rename(tmp, g.config.Save); err != nil {
		return fmt.Errorf("saving the game: %w", err)
	}
	return nil
}

// state copies what is saved.
func (g *Game) state() (saved, []byte) {
	elapsed := g.before + time.Since(g.begin0())
	s := g.game
	s.mu.Lock()
	defer s.mu.Unlock()
	return saved{g.config.Seed, g.config.Size, g.config.Duration, elapsed, s.bank.balance, s.licenses.list(), s.licenses.next}, bytes.Clone(s.field.dug)
}

// resume takes up a saved game, if there is one. Treasures that were dug out and not cashed
// are lost: no id of the earlier process is known any more.
func (g *Game) resume() error {
	f, err := os.Open(g.config.Save)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("resuming the game: %w", err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("resuming the game: reading its first line: %w", err)
	}
	var head saved
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("resuming the game: %w", err)
	}
	if head.Seed != g.config.Seed || head.Size != g.config.Size {
		return fmt.Errorf("resuming the game: %s is of another world, of seed %d", g.config.Save, head.Seed)
	}
	dug := make([]byte, len(g.game.field.dug))
	if _, err := io.ReadFull(r, dug); err != nil {
		return fmt.Errorf("resuming the game: reading the depths: %w", err)
	}
	return g.take(head, dug)
}

// take puts a saved state in force.
func (g *Game) take(head saved, dug []byte) error {
	s := g.game
	for _, d := range dug {
		if int(d) > s.size.Depth {
			return fmt.Errorf("resuming the game: a depth of %d", d)
		}
	}
	if head.Balance < 0 || head.Elapsed < 0 || head.Balance > 0 && s.bank.earn(head.Balance) == nil {
		return fmt.Errorf("resuming the game: a balance of %d after %v", head.Balance, head.Elapsed)
	}
	if len(head.Licenses) > s.size.Licenses {
		return fmt.Errorf("resuming the game: %d licences", len(head.Licenses))
	}
	s.field.clear(dug)
	for _, l := range head.Licenses {
		s.licenses.active[l.ID] = &l
	}
	s.licenses.next, g.before = head.Next, max(head.Elapsed, 1)
	return nil
}
