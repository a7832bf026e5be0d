package export

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// A hintUse is a hint that a team has opened.
type hintUse struct {
	Round   string    `json:"round"`
	Team    string    `json:"team"`
	Hint    string    `json:"hint"`
	At      time.Time `json:"at"`
	Account string    `json:"account,omitempty"`
}

// A machineEvent is a boot or other SSH host keys of a team's machine.
type machineEvent struct {
	Team   string    `json:"team"`
	Host   string    `json:"host"` // its name
	At     time.Time `json:"at"`
	What   string    `json:"what"`
	Detail string    `json:"detail,omitempty"` // of a boot: the boot id
}

// training writes which hints teams have opened, and what happened to their machines.
func (w *writer) training(tx *store.Tx, rounds []string) error {
	hints, machines := []hintUse{}, []machineEvent{}
	for _, id := range rounds {
		err := tx.Each("SELECT team, hint, at, account FROM hint_uses WHERE round = ? ORDER BY at, team, hint", []any{id}, func(scan func(...any) error) error {
			u := hintUse{Round: id}
			err := scan(&u.Team, &u.Hint, &u.At, &u.Account)
			hints = append(hints, u)
			return err
		})
		if err != nil {
			return err
		}
	}
	err := tx.Each("SELECT x.team, COALESCE(h.name, x.host), x.at, x.what, x.detail FROM host_events x JOIN teams t ON t.id = x.team LEFT JOIN hosts h ON h.id = x.host WHERE t.contest = ? ORDER BY x.at, x.team, x.id", []any{w.id}, func(scan func(...any) error) error {
		x := machineEvent{}
		err := scan(&x.Team, &x.Host, &x.At, &x.What, &x.Detail)
		machines = append(machines, x)
		return err
	})
	if err != nil {
		return err
	}
	if w.files["hints.jsonl"], err = lines(hints); err != nil {
		return err
	}
	w.files["machines.jsonl"], err = lines(machines)
	return err
}

// training writes the opened hints and the events of machines of an export. One that has neither
// file is public, or of an earlier program.
func (r *reader) training(tx *store.Tx, teams map[string]bool) error {
	hints, err := optional[hintUse](r, "hints.jsonl")
	if err != nil {
		return err
	}
	for _, u := range hints {
		id, ok := strings.CutPrefix(u.Round, r.contest.ID+"_")
		round := r.contest.Round(id)
		if !ok || round == nil || round.Hint(u.Hint) == nil || !teams[u.Team] || len(u.Account) > 64 {
			return fmt.Errorf("hints.jsonl: hint %q of round %q and team %q is not in the contest", u.Hint, u.Round, u.Team)
		}
		if _, err := tx.Exec("INSERT INTO hint_uses (round, team, hint, at, account) VALUES (?, ?, ?, ?, ?)", u.Round, u.Team, u.Hint, u.At, plain.Line(u.Account)); err != nil {
			return err
		}
	}
	machines, err := optional[machineEvent](r, "machines.jsonl")
	if err != nil {
		return err
	}
	for i, x := range machines {
		if !teams[x.Team] || !lead.IsHostEvent(x.What) {
			return fmt.Errorf("machines.jsonl: event %q of team %q is not of the contest", x.What, x.Team)
		}
		// The machine itself is not there any more: the event has its name.
		if _, err := tx.Exec("INSERT INTO host_events (id, host, team, at, what, detail) VALUES (?, ?, ?, ?, ?, ?)", fmt.Sprintf("%s-%08d", r.contest.ID, i+1),
			plain.CutBytes(plain.Line(x.Host), 64), x.Team, x.At, x.What, plain.CutBytes(plain.Line(x.Detail), 180)); err != nil {
			return err
		}
	}
	return nil
}

// optional reads lines of JSON of a file that an export may lack.
func optional[T any](r *reader, name string) ([]T, error) {
	if _, has := r.at.Files[name]; !has {
		return nil, nil
	}
	text, err := r.text(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing", name)
	}
	if err != nil {
		return nil, err
	}
	out, err := unlines[T](text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}
