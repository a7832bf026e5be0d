package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

const (
	maxFile  = 64 << 20 // bytes of one file
	maxFiles = 500_000
)

// A reader has the files of an export.
type reader struct {
	core    *lead.Core
	from    fs.FS
	at      manifest
	contest *contest.Contest
	file    []byte
	teams   [][]string
	rounds  []round
	results []result
	said    []api.Message
}

// Import rebuilds a contest. A file that differs from the manifest, and a contest that the
// portal has, are refused. It returns the contest's id and the rounds whose boards are not those
// of the export: none, unless the program has changed.
func Import(ctx context.Context, core *lead.Core, from fs.FS) (contestID string, differ []string, err error) {
	r := &reader{core: core, from: from}
	if err := r.read(); err != nil {
		return "", nil, err
	}
	if err := core.Write(ctx, "import", r.write); err != nil {
		return "", nil, err
	}
	core.Wake()
	differ, err = r.compare(ctx)
	return r.at.Contest, differ, err
}

// text reads a file and compares it with the manifest.
func (r *reader) text(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("the manifest names the file %q", name)
	}
	info, err := fs.Stat(r.from, name)
	if err != nil {
		return nil, fmt.Errorf("reading the export: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", name, maxFile)
	}
	text, err := fs.ReadFile(r.from, name)
	if err != nil {
		return nil, fmt.Errorf("reading the export: %w", err)
	}
	if want, known := r.at.Files[name]; known {
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			return nil, fmt.Errorf("%s is not as it was exported", name)
		}
	} else if name != "manifest.json" {
		return nil, fmt.Errorf("%s is not in the manifest", name)
	}
	return text, nil
}

// read reads and checks the files that a contest is made of.
func (r *reader) read() error {
	text, err := r.text("manifest.json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &r.at); err != nil {
		return fmt.Errorf("reading the manifest: %w", err)
	}
	if r.at.Version > version || r.at.Version < 1 {
		return fmt.Errorf("the export has version %d, this iikanji knows %d", r.at.Version, version)
	}
	if !contest.ValidID(r.at.Contest) || len(r.at.Files) > maxFiles {
		return errors.New("the manifest is not one of an export")
	}
	if r.file, err = r.text("contest.toml"); err != nil {
		return err
	}
	if r.contest, err = contest.Parse(r.at.Contest+".toml", r.file); err != nil {
		return err
	}
	if r.contest.ID != r.at.Contest {
		return fmt.Errorf("the contest file is of %s, not of %s", r.contest.ID, r.at.Contest)
	}
	if text, err = r.text("teams.tsv"); err != nil {
		return err
	}
	if r.teams, err = rows(text, 6); err != nil {
		return fmt.Errorf("teams.tsv: %w", err)
	}
	for name, into := range map[string]func([]byte) error{
		"rounds.jsonl":    func(t []byte) (err error) { r.rounds, err = unlines[round](t); return err },
		"results.jsonl":   func(t []byte) (err error) { r.results, err = unlines[result](t); return err },
		"questions.jsonl": func(t []byte) (err error) { r.said, err = unlines[api.Message](t); return err },
	} {
		text, err := r.text(name)
		if err == nil {
			err = into(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// rows reads a table of n columns, without its heading.
func rows(text []byte, n int) (out [][]string, err error) {
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != n {
			return nil, fmt.Errorf("line %d has %d cells, want %d", i+1, len(cells), n)
		}
		if i > 0 {
			out = append(out, cells)
		}
	}
	return out, nil
}

// write writes the contest in one transaction.
func (r *reader) write(tx *store.Tx) error {
	n := 0
	if err := tx.Row("SELECT COUNT(*) FROM contests WHERE id = ?", []any{r.contest.ID}, &n); err != nil {
		return err
	}
	if n > 0 {
		return &api.RefusedError{Code: "exists", Text: "there is a contest " + r.contest.ID + " already"}
	}
	if _, err := tx.Exec("INSERT INTO contests (id, file, digest, created) VALUES (?, ?, ?, ?)", r.contest.ID, string(r.file), r.contest.Digest, r.core.Now()); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, t := range r.teams {
		if err := r.team(tx, t); err != nil {
			return err
		}
		known[t[0]] = true
	}
	numbers := map[string]int64{}
	for _, x := range r.rounds {
		if err := r.round(tx, x); err != nil {
			return err
		}
		numbers[x.Round] = 0
	}
	for _, x := range r.results {
		if _, has := numbers[x.Round]; !has || !known[x.Team] {
			return fmt.Errorf("a result is of round %q and team %q, which the export does not have", x.Round, x.Team)
		}
		numbers[x.Round]++
		if err := r.result(tx, x, numbers[x.Round]); err != nil {
			return err
		}
	}
	for _, x := range r.rounds {
		if x.Noise == 0 {
			continue
		}
		numbers[x.Round]++
		body, err := json.Marshal(api.Noise{SD: x.Noise, Runs: api.LeastNoiseRuns}) // of how many is not exported
		if err != nil {
			return fmt.Errorf("writing an event: %w", err)
		}
		if _, err := tx.Exec("INSERT INTO events (round, number, at, kind, team, job, body) VALUES (?, ?, ?, ?, '', '', ?)", x.Round, numbers[x.Round], r.core.Now(), lead.KindNoise, string(body)); err != nil {
			return err
		}
	}
	for id, n := range numbers {
		if _, err := tx.Exec("UPDATE rounds SET last_event = ?, relayed = ? WHERE id = ?", n, n, id); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO notified (round, number) VALUES (?, ?)", id, n); err != nil { // it is past: nobody is told
			return err
		}
	}
	for _, m := range r.said {
		if _, has := numbers[m.Round]; !has {
			return fmt.Errorf("a message is of round %q", m.Round)
		}
		if _, err := tx.Exec("INSERT INTO messages (id, round, kind, at, account, team, reply, open, body) VALUES (?, ?, ?, ?, '', ?, ?, ?, ?)", m.ID, m.Round, m.Kind, m.At, m.Team, m.To, m.Public, m.Text); err != nil {
			return err
		}
	}
	if err := r.training(tx, known); err != nil {
		return err
	}
	return r.core.Audit(tx, "", "import", r.contest.ID)
}

func (r *reader) team(tx *store.Tx, cells []string) error {
	name, err := lead.TeamName(uncell(cells[1]))
	if err != nil {
		return fmt.Errorf("the name of team %q: %w", cells[0], err)
	}
	goneAt, err := unstamp(cells[4])
	if err != nil {
		return fmt.Errorf("team %q: %w", cells[0], err)
	}
	created, err := unstamp(cells[5])
	if err != nil {
		return fmt.Errorf("team %q: %w", cells[0], err)
	}
	_, err = tx.Exec("INSERT INTO teams (id, contest, name, folded, division, gone, gone_at, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", cells[0], r.contest.ID, name, lead.Folded(name), cells[2], cells[3], goneAt, created)
	return err
}

func (r *reader) round(tx *store.Tx, x round) error {
	own, ok := strings.CutPrefix(x.Round, r.contest.ID+"_")
	if !ok || r.contest.Round(own) == nil {
		return fmt.Errorf("the contest has no round %q", x.Round)
	}
	if _, err := tx.Exec("INSERT INTO rounds (id, contest, state, version, last_event, relayed, published) VALUES (?, ?, ?, 1, 0, 0, ?)", x.Round, r.contest.ID, string(x.State), x.Published); err != nil {
		return err
	}
	for i, act := range x.Acts {
		body, err := json.Marshal(act)
		if err != nil {
			return fmt.Errorf("writing an act: %w", err)
		}
		if _, err := tx.Exec("INSERT INTO acts (round, number, body) VALUES (?, ?, ?)", x.Round, i+1, string(body)); err != nil {
			return err
		}
	}
	for _, f := range x.Finals {
		if _, err := tx.Exec("INSERT INTO verdicts (round, team, passed, score, reason, at) VALUES (?, ?, ?, ?, '', ?)", x.Round, f.Team, f.Passed, f.Score, x.Published); err != nil {
			return err
		}
	}
	for team, began := range x.Windows {
		if _, err := tx.Exec("INSERT INTO windows (round, team, began) VALUES (?, ?, ?)", x.Round, team, began); err != nil {
			return err
		}
	}
	return r.beside(tx, x)
}

// result writes a run that ended with its event.
func (r *reader) result(tx *store.Tx, x result, number int64) error {
	if _, err := tx.Exec("INSERT INTO jobs (id, round, team, number, lane, state, attempt, epoch, lost, voids, place, again, stopping, charged, enqueued, offered, sent, claimed, started, ended, worker, handle, host, note, revision, account, says) VALUES (?, ?, ?, ?, 'live', 'done', 1, 1, 0, 0, ?, 0, 0, 1, ?, 0, 0, 0, ?, ?, '', '', '', ?, '', '', '')",
		x.Job, x.Round, x.Team, x.Number, number, x.Enqueued, x.Enqueued, x.At, x.Note); err != nil {
		return err
	}
	report, err := json.Marshal(api.Report{Outcome: x.Outcome, Score: x.Score})
	if err != nil {
		return fmt.Errorf("writing a result: %w", err)
	}
	if _, err := tx.Exec("INSERT INTO results (job, round, team, number, at, outcome, score, digest, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		x.Job, x.Round, x.Team, number, x.At, x.Outcome.String(), x.Score, lead.Digest(string(report)), string(report)); err != nil {
		return err
	}
	for i, j := range x.Judged {
		if _, err := tx.Exec("INSERT INTO judgements (id, round, job, at, outcome, score, reason, account) VALUES (?, ?, ?, ?, ?, ?, ?, '')", fmt.Sprintf("%s-%d", x.Job, i+1), x.Round, x.Job, j.At, j.Outcome.String(), j.Score, j.Reason); err != nil {
			return err
		}
	}
	event, err := json.Marshal(lead.ResultEvent{Number: x.Number, Enqueued: x.Enqueued, Outcome: x.Outcome, Score: x.Score, Note: x.Note, Clean: x.Clean})
	if err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	_, err = tx.Exec("INSERT INTO events (round, number, at, kind, team, job, body) VALUES (?, ?, ?, ?, ?, ?, ?)", x.Round, number, x.At, lead.KindResult, x.Team, x.Job, string(event))
	return err
}

// compare makes the boards of the rebuilt contest at the instant of the export, and names the
// rounds whose boards differ.
func (r *reader) compare(ctx context.Context) (differ []string, err error) {
	for _, x := range r.rounds {
		var h lead.History
		if _, err := r.core.Follow(ctx, x.Round, &h); err != nil {
			return nil, err
		}
		w := &writer{form: r.at.Form, files: map[string][]byte{}, names: map[string]string{}}
		if err := w.boards(x.Round, &h, h.View(r.at.Form.reader(), r.at.At)); err != nil {
			return nil, err
		}
		for name, text := range w.files {
			was, err := r.text(name)
			if errors.Is(err, fs.ErrNotExist) || err == nil && string(was) != string(text) {
				differ = append(differ, x.Round)
				break
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return differ, nil
}
