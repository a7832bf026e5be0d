package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// Files are what an export has: ROUND, JOB and TEAM are ids. Those of staff's form alone are
// marked in Write.
var Files = []string{"manifest.json", "contest.toml", "teams.tsv", "people.tsv", "rounds.jsonl", "results.jsonl", "boards/ROUND-provisional.json", "history/ROUND.tsv",
	"questions.jsonl", "announcements.md", "hints.jsonl", "machines.jsonl", "audit.jsonl", "ghosts/ROUND.tsv", "runs/JOB.json", "logs/JOB.txt", "writeup/TEAM.md"}

// version is that of the form.
const version = 1

// A Form is whose view an export has.
type Form string

const (
	Public Form = "public"
	Staff  Form = "staff"
)

// reader is whose view a form has.
func (f Form) reader() board.Reader {
	if f == Staff {
		return board.Reader{Role: board.Staff}
	}
	return board.Reader{Role: board.Public}
}

// A manifest names the files with their SHA-256, in hex.
type manifest struct {
	Version int               `json:"version"`
	Form    Form              `json:"form"`
	Contest string            `json:"contest"`
	At      time.Time         `json:"at"` // of the export: boards are those of this instant
	Files   map[string]string `json:"files"`
}

// A round is what happened to a round's time table.
type round struct {
	Round     string               `json:"round"`
	State     contest.State        `json:"state"`
	Published time.Time            `json:"published,omitzero"`
	Acts      []contest.Act        `json:"acts,omitempty"`
	Windows   map[string]time.Time `json:"windows,omitempty"`
	Noise     float64              `json:"noise,omitempty"`
	Finals    []board.FinalScore   `json:"finals,omitempty"`
	Awards    []board.Award        `json:"awards,omitempty"`
}

// A result is one run. Note and Commit are of staff's form.
type result struct {
	Round    string          `json:"round"`
	Job      string          `json:"job"`
	Team     string          `json:"team"`
	Number   int64           `json:"number"`
	Enqueued time.Time       `json:"enqueued"`
	At       time.Time       `json:"at"`
	Outcome  iikanji.Outcome `json:"outcome"`
	Score    float64         `json:"score"`
	Note     string          `json:"note,omitempty"`
	Clean    bool            `json:"clean,omitempty"`
	Judged   []judgement     `json:"judgements,omitempty"`
}

// A judgement replaces what a result counts.
type judgement struct {
	At      time.Time       `json:"at"`
	Outcome iikanji.Outcome `json:"outcome"`
	Score   float64         `json:"score"`
	Reason  string          `json:"reason"`
}

// public is a contest file without what is not for everyone: seeds, commands, pages that are asked
// after runs, networks of hosts, and questions to teams.
func public(file []byte) ([]byte, error) {
	top := map[string]any{}
	if err := toml.Unmarshal(file, &top); err != nil {
		return nil, fmt.Errorf("reading the contest file: %w", err)
	}
	if problems, ok := top["problem"].(map[string]any); ok {
		for _, p := range problems {
			if p, ok := p.(map[string]any); ok {
				delete(p, "seed")
				delete(p, "final_seed")
				delete(p, "set")
				delete(p, "shadow")
				if _, has := p["command"]; has {
					p["command"] = []string{"hidden"}
				}
			}
		}
	}
	if rounds, ok := top["rounds"].([]any); ok {
		for _, r := range rounds {
			if r, ok := r.(map[string]any); ok {
				delete(r, "hints")
			}
		}
	}
	if _, has := top["targets"]; has {
		top["targets"] = map[string]any{"allow": []string{"192.0.2.0/24"}} // of documentation (RFC 5737)
	}
	delete(top, "registration")
	var out bytes.Buffer
	if err := toml.NewEncoder(&out).Encode(top); err != nil {
		return nil, fmt.Errorf("writing the contest file: %w", err)
	}
	return out.Bytes(), nil
}

// cell is a text as a cell of a table: no spreadsheet takes it for a formula. uncell is its
// inverse.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@'", rune(text[0])) {
		return "'" + text
	}
	return text
}

func uncell(text string) string { return strings.TrimPrefix(text, "'") }

// row writes a line of a table. Cells have no tabs and line breaks: all texts were cleaned.
func row(w io.Writer, cells ...string) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(c))
	}
	fmt.Fprint(w, "\n")
}

// lines writes values as lines of JSON.
func lines[T any](values []T) ([]byte, error) {
	var out bytes.Buffer
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("writing a line: %w", err)
		}
		out.Write(append(text, '\n'))
	}
	return out.Bytes(), nil
}

// unlines reads lines of JSON.
func unlines[T any](text []byte) (out []T, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	for d.More() {
		var v T
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(out)+1, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// stamp is a time in a table; "" for never.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func unstamp(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339Nano, text)
}
