package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A writer collects the files of an export.
type writer struct {
	core  *lead.Core
	form  Form
	id    string
	at    manifest
	file  string // of the contest
	files map[string][]byte
	names map[string]string // of teams
}

// Write makes the files of a contest in a form. Keys are paths with slashes.
func Write(ctx context.Context, core *lead.Core, contestID string, form Form) (map[string][]byte, error) {
	w := &writer{core: core, form: form, id: contestID, files: map[string][]byte{}, names: map[string]string{}}
	w.at = manifest{Version: version, Form: form, Contest: contestID, At: core.Now(), Files: map[string]string{}}
	var rounds []string
	err := core.Read(ctx, func(tx *store.Tx) (err error) {
		if err := tx.Row("SELECT file FROM contests WHERE id = ?", []any{contestID}, &w.file); err != nil {
			return fmt.Errorf("there is no contest %s: %w", contestID, api.ErrNotFound)
		}
		if rounds, err = lead.RoundsOf(tx, contestID); err != nil {
			return err
		}
		if err := w.teams(tx); err != nil {
			return err
		}
		return w.messages(tx, rounds)
	})
	if err != nil {
		return nil, err
	}
	file := []byte(w.file)
	if form == Public {
		if file, err = public(file); err != nil {
			return nil, err
		}
	}
	w.files["contest.toml"] = file
	if err := w.rounds(ctx, rounds); err != nil {
		return nil, err
	}
	if form == Staff {
		if err := w.staff(ctx, rounds); err != nil {
			return nil, err
		}
	}
	return w.files, w.manifest()
}

// manifest writes the list of the files.
func (w *writer) manifest() error {
	for name, text := range w.files {
		sum := sha256.Sum256(text)
		w.at.Files[name] = hex.EncodeToString(sum[:])
	}
	text, err := json.MarshalIndent(w.at, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	w.files["manifest.json"] = append(text, '\n')
	return nil
}

// rounds writes what happened in each round, as the reader may see it.
func (w *writer) rounds(ctx context.Context, ids []string) error {
	var all []round
	var results []result
	for _, id := range ids {
		var h lead.History
		if _, err := w.core.Follow(ctx, id, &h); err != nil {
			return err
		}
		v := h.View(w.form.reader(), w.at.At)
		r, err := w.round(ctx, id, &h)
		if err != nil {
			return err
		}
		all = append(all, *r)
		results = append(results, w.results(id, &h, v)...)
		if err := w.boards(id, &h, v); err != nil {
			return err
		}
		w.ghosts(id, &h)
	}
	var err error
	if w.files["rounds.jsonl"], err = lines(all); err != nil {
		return err
	}
	w.files["results.jsonl"], err = lines(results)
	return err
}

// round is a round's time table. Who made an act is for staff.
func (w *writer) round(ctx context.Context, id string, h *lead.History) (*round, error) {
	r := &round{Round: id, Noise: h.Data.Noise, Windows: h.Data.Clock.Windows, Awards: w.awards(h)}
	if w.form == Staff || !h.Data.Published.IsZero() && !w.at.At.Before(h.Data.Published) {
		r.Published, r.Finals = h.Data.Published, h.Data.Finals
	}
	now, err := w.core.Round(ctx, id)
	if err != nil {
		return nil, err
	}
	r.State = now.State
	err = w.core.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT body FROM acts WHERE round = ? ORDER BY number", []any{id}, func(scan func(...any) error) error {
			body := ""
			if err := scan(&body); err != nil {
				return err
			}
			r.Acts = append(r.Acts, actOf(body, w.form))
			return nil
		})
	})
	return r, err
}

// results are the results of a round. The public form has them as they count, the form of staff
// with the judgements that changed them.
func (w *writer) results(id string, h *lead.History, v *board.View) (out []result) {
	if w.form == Staff {
		judged := map[string][]judgement{}
		for _, j := range h.Data.Judgements {
			judged[j.Job] = append(judged[j.Job], judgement{j.At, j.Outcome, j.Score, j.Reason})
		}
		for _, r := range h.Data.Results {
			out = append(out, result{id, r.Job, r.Team, r.Number, r.Enqueued, r.At, r.Outcome, r.Score, r.Note, r.Clean, judged[r.Job]})
		}
		return out
	}
	place := map[string]int{}
	for i, r := range h.Data.Results {
		place[r.Job] = i
	}
	for _, t := range h.Data.Teams {
		for _, r := range v.Results(t.ID) {
			out = append(out, result{Round: id, Job: r.Job, Team: r.Team, Number: r.Number, Enqueued: r.Enqueued, At: r.At, Outcome: r.Outcome, Score: r.Score})
		}
	}
	slices.SortFunc(out, func(a, b result) int { return place[a.Job] - place[b.Job] })
	return out
}

// staff writes what staff alone may see: opened hints, events of machines, the audit log, reports
// and logs of runs, and the write-ups of teams.
func (w *writer) staff(ctx context.Context, rounds []string) error {
	for _, id := range rounds {
		jobs, err := w.core.Jobs(ctx, id, "")
		if err != nil {
			return err
		}
		for i := len(jobs) - 1; i >= 0; i-- {
			j, err := w.core.Job(ctx, jobs[i].ID)
			if err != nil {
				return err
			}
			if err := w.run(j); err != nil {
				return err
			}
		}
	}
	return w.core.Read(ctx, func(tx *store.Tx) error {
		if err := w.training(tx, rounds); err != nil {
			return err
		}
		return w.audit(tx)
	})
}

// run writes a run with its log apart, and its line in the team's write-up.
func (w *writer) run(j *api.Job) error {
	if j.Result != nil {
		if j.Result.Log != "" {
			w.files["logs/"+j.ID+".txt"] = []byte(j.Result.Log)
		}
		j.Result.Log, j.Result.Seed, j.Result.Stderr = "", 0, "" // seeds are secrets of the problem
	}
	text, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return fmt.Errorf("writing a run: %w", err)
	}
	w.files["runs/"+j.ID+".json"] = append(text, '\n')
	if j.Result == nil {
		return nil
	}
	name := "writeup/" + j.Team + ".md"
	b := bytes.NewBuffer(w.files[name])
	if b.Len() == 0 {
		fmt.Fprintf(b, "# %s\n\n| time (UTC) | run | outcome | score | note | commit |\n|---|---|---|---|---|---|\n", markdown(w.names[j.Team]))
	}
	fmt.Fprintf(b, "| %s | %d | %s | %.0f | %s | %s |\n", j.Ended.Format("2006-01-02 15:04:05"), j.Number, j.Result.Outcome, j.Result.Score, markdown(j.Note), markdown(j.Commit))
	w.files[name] = b.Bytes()
	return nil
}

// Names are the paths of an export in their order.
func Names(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }
