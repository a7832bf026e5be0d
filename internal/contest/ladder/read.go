package ladder

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// A Rung is one row of a ladder.
type Rung struct {
	Number   int              `json:"rung"`
	Name     string           `json:"name"` // of the file, without its number and its ending
	File     string           `json:"file"`
	Row      string           `json:"row"`    // what was changed, in words
	Told     string           `json:"told"`   // the effect that the source states
	Source   string           `json:"source"` // who told it, and when
	Hurts    bool             `json:"hurts,omitempty"`
	Hosts    int              `json:"hosts,omitempty"` // of its own that it needs; 0 for none
	Remedies []iikanji.Remedy `json:"remedies"`
}

var nameForm = regexp.MustCompile(`^([0-9]{2})-([a-z0-9]+(?:-[a-z0-9]+)*)(\.[a-z]+)$`)

// readers read what follows the heading. Lines are counted from the beginning of
// the file: a body begins with an empty line for each line of the heading.
var readers = map[string]func(h heading, body string) ([]placed, *Error){
	".sql": readSQL, ".conf": readConf, ".patch": readPatch, ".toml": readTOML,
}

// placed is a remedy with its line.
type placed struct {
	iikanji.Remedy
	line int
}

// Read reads a ladder, whose files are in the root of fsys, in the order of the
// rungs. Every remedy has a kind that accepts its arguments; whether it fits the site
// shows when it is planned.
func Read(fsys fs.FS) ([]Rung, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the ladder: %w", err)
	}
	var rungs []Rung
	for _, e := range entries { // sorted by name
		text, err := fs.ReadFile(fsys, e.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the ladder: %w", err)
		}
		r, err := Parse(e.Name(), string(text))
		if err != nil {
			return nil, err
		}
		if want := len(rungs) + 1; r.Number != want {
			return nil, &Error{File: e.Name(), Line: 1, Err: fmt.Errorf("rung %d, after which %d follows", want-1, r.Number), Hint: "number the files 01, 02, 03 without a gap"}
		}
		rungs = append(rungs, r)
	}
	return rungs, nil
}

// Parse reads one file of a ladder.
func Parse(name, text string) (Rung, error) {
	m := nameForm.FindStringSubmatch(name)
	if m == nil || readers[m[3]] == nil {
		return Rung{}, &Error{File: name, Line: 1, Err: errors.New("not the name of a rung"), Hint: "want NN-name with the ending .sql, .conf, .patch or .toml"}
	}
	number, err := strconv.Atoi(m[1])
	if err != nil || number == 0 {
		return Rung{}, &Error{File: name, Line: 1, Err: errors.New("rungs are numbered from 01"), Hint: "rename the file"}
	}
	r := Rung{Number: number, Name: m[2], File: path.Base(name)}
	if e := r.parse(m[3], text); e != nil {
		e.File = name
		return Rung{}, e
	}
	return r, nil
}

func (r *Rung) parse(ending, text string) *Error {
	lines := strings.SplitAfter(text, "\n")
	plain := make([]string, len(lines))
	for i, l := range lines {
		plain[i] = strings.TrimRight(l, "\r\n")
	}
	h, e := readHeading(plain, ending)
	if e != nil {
		return e
	}
	r.Row, r.Told, r.Source, r.Hurts = h.values["row"], h.values["told"], h.values["source"], h.values["expect"] == expectHurts
	r.Hosts = hostsIn(h.values["hosts"])
	all, e := readers[ending](h, strings.Repeat("\n", h.end)+strings.Join(lines[h.end:], ""))
	if e != nil {
		return e
	}
	if len(all) == 0 {
		return mistake(min(h.end+1, len(lines)), "nothing follows the heading").hint("a rung has at least one remedy")
	}
	for _, p := range all {
		if p.Says == "" {
			p.Says = r.Row
		}
		if _, err := change.Match(p.Remedy); err != nil {
			return mistake(p.line, "%w", err).hint("docs/proposer.md lists the kinds with their acts and arguments")
		}
		r.Remedies = append(r.Remedies, p.Remedy)
	}
	return nil
}

// readPatch reads a unified diff.
func readPatch(h heading, body string) ([]placed, *Error) {
	diff := strings.TrimLeft(body, "\n")
	args := map[string]string{"diff": diff}
	if w := h.values["weakens"]; w != "" {
		args["weakens"] = w
	}
	if strings.TrimSpace(diff) == "" {
		return nil, nil
	}
	return []placed{{iikanji.Remedy{Kind: "patch", Target: h.values["target"], Args: args}, h.end + 1}}, nil
}
