package export

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// ghosts writes the ghosts of a round that the reader may see, a line for each point.
func (w *writer) ghosts(id string, h *lead.History) {
	var b bytes.Buffer
	row(&b, "ghost", "name", "source", "public", "minute", "score", "label")
	any := false
	for _, g := range h.Data.Ghosts {
		if w.form == Public && !g.Public {
			continue
		}
		for _, p := range g.Points {
			any = true
			row(&b, g.ID, cell(g.Name), cell(g.Source), strconv.FormatBool(g.Public), number(p.Minute), number(p.Score), cell(p.Label))
		}
	}
	if any {
		w.files["ghosts/"+id+".tsv"] = b.Bytes()
	}
}

// awards are the prizes by hand that the reader may see. While the board is frozen those of the
// frozen time are staff's alone.
func (w *writer) awards(h *lead.History) (out []board.Award) {
	c := h.Data.Clock
	for _, a := range h.Data.Awards {
		if w.form == Staff || !c.Frozen(w.at.At) || a.At.Before(c.Freeze) {
			out = append(out, a)
		}
	}
	return out
}

// ghostID is the form of a ghost's id: it is a part of addresses.
var ghostID = regexp.MustCompile(`^[a-z0-9]{1,64}$`)

// beside writes the ghosts and the prizes by hand of a round of an export.
func (r *reader) beside(tx *store.Tx, x round) error {
	own := r.contest.Round(x.Round[len(r.contest.ID)+1:])
	for i, a := range x.Awards {
		if p := own.Prize(a.Prize); p == nil || p.Kind != "manual" {
			return fmt.Errorf("an award is of the prize %q, which the round does not give by hand", a.Prize)
		}
		if _, err := tx.Exec("INSERT INTO awards (id, round, prize, team, at, account, reason) VALUES (?, ?, ?, ?, ?, '', ?)", fmt.Sprintf("%s-%06d", x.Round, i+1), x.Round, a.Prize, a.Team, a.At, a.Reason); err != nil {
			return err
		}
	}
	text, err := r.text("ghosts/" + x.Round + ".tsv")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines, err := rows(text, 7)
	if err != nil {
		return fmt.Errorf("the ghosts of %s: %w", x.Round, err)
	}
	var ids []string
	made := map[string]*api.NewGhost{}
	for _, cells := range lines {
		p := board.GhostPoint{Label: uncell(cells[6])}
		minute, badMinute := strconv.ParseFloat(cells[4], 64)
		score, badScore := strconv.ParseFloat(cells[5], 64)
		if err := errors.Join(badMinute, badScore); err != nil {
			return fmt.Errorf("the ghosts of %s: %w", x.Round, err)
		}
		p.Minute, p.Score = minute, score
		g := made[cells[0]]
		if g == nil {
			if !ghostID.MatchString(cells[0]) {
				return fmt.Errorf("a ghost has the id %q", cells[0])
			}
			g = &api.NewGhost{Name: uncell(cells[1]), Source: uncell(cells[2]), Public: cells[3] == "true"}
			made[cells[0]], ids = g, append(ids, cells[0])
		}
		g.Points = append(g.Points, p)
	}
	for i, id := range ids {
		if err := r.core.KeepGhost(tx, x.Round, id, r.core.Now().Add(time.Duration(i)*time.Microsecond), *made[id]); err != nil {
			return fmt.Errorf("the ghosts of %s: %w", x.Round, err)
		}
	}
	return nil
}
