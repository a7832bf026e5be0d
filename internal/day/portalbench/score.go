package portalbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/loader"
	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A Given is what a person says that the portal says about a run.
type Given struct {
	Version  int       `json:"v"`
	At       time.Time `json:"at"`
	Who      string    `json:"who"`
	Score    float64   `json:"score"`
	Fail     string    `json:"fail,omitempty"`     // why it failed; "" for a run that counts
	Messages []string  `json:"messages,omitempty"` // of failed checks
	// Said are the portal's messages by what they mean.
	Said []iikanji.Message `json:"said,omitempty"`
	By   string            `json:"by,omitempty"` // where it was given: terminal, page, command
}

// givenVersion is the version of a line; readers refuse a larger one.
const givenVersion = 1

// scoreFile is the file beside a run with what was given, a line each.
const scoreFile = "score.jsonl"

// Limits of what a person gives.
const (
	maxMessages = 50
	maxSaid     = 200
	maxMessage  = 300 // runes
	maxFail     = 500 // runes
)

// ParseScore reads a score with thousands separators, as people copy it from a page.
func ParseScore(text string) (float64, bool) {
	text = strings.NewReplacer(",", "", "_", "", "'", "", " ", "", "\u00a0", "", "\u202f", "", "，", "").Replace(strings.TrimSpace(text))
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// Paste reads what a person copied from the portal: its messages, and its score unless it
// is known.
func Paste(b *target.Bench, text string) (score float64, scored bool, messages []string) {
	r := loader.Read(b, loader.Output{Out: []byte(text)})
	messages = r.Faults
	if b.Faults.None() {
		messages = nil
		for line := range strings.Lines(text) {
			if line = clean(line, maxMessage); line != "" && len(messages) < maxMessages {
				messages = append(messages, line)
			}
		}
	}
	return r.Score, r.Scored, messages
}

// clean makes a text one printable line without secrets.
func clean(text string, most int) string {
	return plain.Cut(plain.Line(redact.Text(strings.TrimSpace(strings.ToValidUTF8(text, "?")))), most)
}

func runFolder(historyDir string, id iikanji.RunID) string {
	return filepath.Join(historyDir, "runs", fmt.Sprintf("%04d", id))
}

// ErrNoRun is the error of a score for a run that is not in the history.
var ErrNoRun = errors.New("there is no such run")

// Give keeps what was given of a run, beside it. It needs no lock of the history: a command
// that waits for the score holds it.
func Give(historyDir string, id iikanji.RunID, g Given) (err error) {
	g = g.cleaned()
	g.Version = givenVersion
	line, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("encoding a score: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(runFolder(historyDir, id), scoreFile), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("giving the score of run %d: %w", id, ErrNoRun)
	}
	if err != nil {
		return fmt.Errorf("keeping a score: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("keeping a score: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("keeping a score: %w", err)
	}
	if last := make([]byte, 1); info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' { // torn by a power cut
			line = append([]byte("\n"), line...)
		}
	}
	if _, err = f.Write(append(line, '\n')); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("keeping a score: %w", err)
	}
	return nil
}

// ReadGiven reads what was given of a run, oldest first; nil if nothing was.
func ReadGiven(historyDir string, id iikanji.RunID) ([]Given, error) {
	text, err := os.ReadFile(filepath.Join(runFolder(historyDir, id), scoreFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the scores of run %d: %w", id, err)
	}
	var all []Given
	for line := range strings.Lines(string(text)) {
		var g Given
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &g) != nil {
			continue // torn, or edited by hand
		}
		if g.Version > givenVersion {
			return nil, fmt.Errorf("a score of run %d has version %d, this iikanji reads up to %d", id, g.Version, givenVersion)
		}
		all = append(all, g)
	}
	return all, nil
}

// pendingReason is the reason of a run whose score nobody has given.
const pendingReason = "its score was not given yet"

// cleaned is what was given as printable lines without secrets.
func (g Given) cleaned() Given {
	var messages []string
	for _, m := range g.Messages[:min(len(g.Messages), maxMessages)] {
		messages = append(messages, clean(m, maxMessage))
	}
	var said []iikanji.Message
	for _, m := range g.Said[:min(len(g.Said), maxSaid)] {
		m.Text, m.Route = clean(m.Text, maxMessage), clean(m.Route, maxMessage)
		said = append(said, m)
	}
	g.Fail, g.Messages, g.Said = clean(g.Fail, maxFail), messages, said
	return g
}

// note is what a run says about something that was given.
func (g *Given) note() string {
	what := "score " + strconv.FormatFloat(g.Score, 'f', -1, 64)
	if g.Fail != "" {
		what = "failure"
	}
	return fmt.Sprintf("%s given by %s at %s", what, g.Who, g.At.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// apply fills in what was given of a run. The last one counts; all stay as notes.
func apply(run *iikanji.Run, all []Given) (changed bool) {
	for _, g := range all {
		g = g.cleaned()
		note := g.note()
		if slices.ContainsFunc(run.Notes, func(n string) bool { return strings.HasPrefix(n, note) }) {
			continue
		}
		changed = true
		switch run.Outcome {
		case iikanji.Pending:
		case iikanji.Failed:
			note += "; it corrects a failure"
		default:
			note += "; it corrects " + strconv.FormatFloat(run.Raw, 'f', -1, 64)
		}
		run.Notes = append(run.Notes, note)
		run.Outcome, run.Score, run.Raw, run.Reasons = iikanji.Passed, g.Score, g.Score, []string{}
		run.Points = []iikanji.PointStat{{Event: "score of the portal", Count: 1, Points: g.Score}}
		run.Faults = []iikanji.Fault{}
		if g.Fail != "" {
			run.Outcome, run.Score, run.Raw, run.Points = iikanji.Failed, 0, 0, []iikanji.PointStat{}
			run.Reasons = append(run.Reasons, "the benchmarker failed: "+g.Fail)
		}
		for _, m := range g.Messages {
			run.Faults = addFault(run.Faults, m)
		}
		if len(g.Said) > 0 {
			run.Messages = g.Said
		}
	}
	return changed
}

// addFault counts a message of the benchmarker.
func addFault(faults []iikanji.Fault, message string) []iikanji.Fault {
	i := slices.IndexFunc(faults, func(f iikanji.Fault) bool { return f.Message == message })
	if i >= 0 {
		faults[i].Count++
		return faults
	}
	return append(faults, iikanji.Fault{Kind: iikanji.FaultCheck, Check: "benchmarker", Message: message, Count: 1})
}

// Settle fills in the scores that were given while no command could write them into their
// runs, and returns these runs.
func Settle(h *history.History) ([]*iikanji.Run, error) {
	ids, err := h.Runs()
	if err != nil {
		return nil, err
	}
	var done []*iikanji.Run
	for _, id := range ids {
		all, err := ReadGiven(h.Dir(), id)
		if err != nil {
			return done, err
		}
		if len(all) == 0 {
			continue
		}
		run, err := h.LoadRun(id)
		if err != nil {
			return done, err
		}
		if !apply(run, all) {
			continue
		}
		if err := h.SaveRun(run); err != nil {
			return done, err
		}
		done = append(done, run)
	}
	return done, nil
}

// Waiting lists the runs whose score nobody has given, oldest first.
func Waiting(h *history.History) ([]history.RunEntry, error) {
	all, err := h.RunList()
	if err != nil {
		return nil, err
	}
	var out []history.RunEntry
	for _, r := range all {
		if !r.Saved || r.Outcome != iikanji.Pending {
			continue
		}
		given, err := ReadGiven(h.Dir(), r.ID)
		if err != nil {
			return nil, err
		}
		if len(given) == 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// ByPortal reports whether a run's score is given by a person.
func ByPortal(run *iikanji.Run) bool {
	return run.Outcome == iikanji.Pending || slices.Contains(run.Notes, portalNote)
}

// portalNote is the note of every run of a portal.
const portalNote = "the score is given by a person"
