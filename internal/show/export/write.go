package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/show/redact"
)

// A Report lists what was written.
type Report struct {
	Dir     string             `json:"dir"`
	Changes []iikanji.ChangeID `json:"changes"` // in the order in which they were applied
	Files   []string           `json:"files"`   // in Dir, with slashes
}

// ErrNothing is returned when no change is kept.
var ErrNothing = errors.New("no change is kept: there is nothing to take elsewhere")

// Write writes the kept changes of a history into dir, which must be empty or
// missing.
func Write(dir string, h *history.History, o Options) (*Report, error) {
	o.Root = filepath.Clean(o.Root)
	changes, err := kept(h)
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, ErrNothing
	}
	items := make([]Item, len(changes))
	times := appliedAt(h)
	for i, c := range changes {
		items[i].Change, items[i].At = c, times[c.ID]
		if items[i].Verdict, err = h.LoadVerdict(c.ID); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	o.redactWords(items)
	sum, err := fold(items, o.Root)
	if err != nil {
		return nil, fmt.Errorf("exporting: %w", err)
	}
	o.findAddress(sum.files)
	if err := o.separate(items, sum); err != nil {
		return nil, fmt.Errorf("exporting: %w", err)
	}
	f, err := newFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("exporting: %w", err)
	}
	f.all(items, sum, &o)
	if f.err != nil {
		return nil, fmt.Errorf("exporting: %w", f.err)
	}
	r := &Report{Dir: f.dir, Files: f.names}
	for _, c := range changes {
		r.Changes = append(r.Changes, c.ID)
	}
	return r, nil
}

// Modes of the export. Sources and configurations may contain passwords, so only
// the owner has access.
const (
	ownFolder = 0o700
	ownFile   = 0o600
	ownScript = 0o700
)

// A folder writes files and remembers the first error, after which it writes
// nothing.
type folder struct {
	dir   string
	names []string
	err   error
}

// newFolder creates the folder. It refuses one that is not empty, because two
// exports would mix.
func newFolder(dir string) (*folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, ownFolder); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty", dir)
	}
	return &folder{dir: dir}, nil
}

func (f *folder) put(name string, body []byte, perm os.FileMode) {
	if f.err != nil {
		return
	}
	file := filepath.Join(f.dir, filepath.FromSlash(name))
	if f.err = os.MkdirAll(filepath.Dir(file), ownFolder); f.err == nil {
		f.err = os.WriteFile(file, body, perm)
	}
	f.names = append(f.names, name)
}

// all writes all files.
func (f *folder) all(items []Item, sum *folded, o *Options) {
	steps := make([]step, len(sum.files))
	for i, x := range sum.files {
		steps[i] = f.file(x, o)
	}
	for _, it := range items {
		f.statements(it.Change)
		f.act(it.Change, o)
	}
	f.series(items, o)
	f.put("README.md", []byte(readme(items, sum, o)), ownFile)
	s := script{Options: o, items: items, steps: steps, notices: sum.notices}
	f.put("apply.sh", []byte(s.apply()), ownScript)
	f.put("undo.sh", []byte(s.undo()), ownScript)
}

// A step is what apply.sh does to one file.
type step struct {
	rel  string
	how  string // patch, new, remove
	from string // the portable file; "" to remove
	text string // its content
	of   []iikanji.ChangeID
}

// added returns the text that the step adds to the other machine: of a patch, its
// added lines.
func (s step) added() string {
	if s.how != "patch" {
		return s.text
	}
	var b strings.Builder
	for line := range strings.Lines(s.text) {
		if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++ ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// file writes the final content of a file, and its portable form.
func (f *folder) file(x file, o *Options) step {
	if x.new != nil {
		f.put(path.Join("files", x.rel), []byte(o.shown(string(x.new))), ownFile)
	}
	s := step{rel: x.rel, of: x.of}
	switch {
	case x.new == nil:
		s.how = "remove"
		return s
	case x.old == nil:
		s.how, s.from, s.text = "new", path.Join("portable", x.rel), x.portable
	default:
		s.how, s.from, s.text = "patch", path.Join("portable", x.rel+".patch"), x.portable
	}
	f.put(s.from, []byte(s.text), ownFile)
	return s
}

// patch returns the unified diff of a file, with its relative path in the headers.
func patch(x file) string {
	op := func(body []byte) []iikanji.Op {
		return []iikanji.Op{{Verb: iikanji.Write, Place: "/f", Body: string(body)}}
	}
	text := change.Diff(&iikanji.Change{Do: op(x.new), Undo: op(x.old)})
	_, text, _ = strings.Cut(text, "\n")
	_, text, _ = strings.Cut(text, "\n")
	return "--- a/" + x.rel + "\n+++ b/" + x.rel + "\n" + text
}

// act writes what a change was planned from. Unlike a patch it names its places by
// anchors, as server, location, upstream or table, so that iikanji apply --file
// plans the same change on a configuration of another form. An act that would hold
// a secret is left out.
func (f *folder) act(c *iikanji.Change, o *Options) {
	if c.Remedy == nil || !o.Literals && !maps.Equal(redact.Args(c.Remedy.Args), c.Remedy.Args) {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c.Remedy); err != nil && f.err == nil {
		f.err = fmt.Errorf("writing the act of change %d: %w", c.ID, err)
		return
	}
	f.put(fmt.Sprintf("acts/%04d.json", c.ID), b.Bytes(), ownFile)
}

// statements writes a change's statements and their undo.
func (f *folder) statements(c *iikanji.Change) {
	for _, st := range statements(c) {
		head := fmt.Sprintf("-- change %d: %s\n", c.ID, oneLine(c.Says))
		for _, x := range st.texts() {
			f.put("sql/"+st.name+x.end, []byte(head+x.text), ownFile)
		}
	}
}

// oneLine makes hostile text safe for a comment, a table and a terminal.
func oneLine(s string) string { return plain.Line(s) }
