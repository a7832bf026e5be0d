// Package ledger writes down each run for the team: one commit in a repository of its own,
// which nothing else is in and no file of the user is moved or linked to.
//
//	hosts/NAME/etc/…              configuration, as it is on the host
//	hosts/NAME/…                  source, crontabs and other files, by their paths
//	hosts/NAME/schema/DB/T.sql    the definition of each table
//	hosts/NAME/settings/…         variables, kernel values, packages, units, programs,
//	                              digests of environments and of files that are not taken
//	hosts/NAME/repository/…       HEAD, branch and difference of the user's repositories
//	routes.tsv, statements.tsv    where the time of the run went
//	edits.tsv, run.json           what changed by hand, and the run
//
// Keys, account files, certificates and dumps are not in it, whatever the user allows. A
// file with a line that looks like a secret stays out until the user allows it. Texts of
// runs are redacted.
package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
	"github.com/iikanji/iikanji/internal/show/redact"
)

// A Ledger is the repository in a folder of the store.
type Ledger struct {
	dir   string
	store *store.Store
	// written are the digests of the files that are in the ledger, and of those that were
	// stopped, by their names in it: only others are looked at.
	written map[string]entry
}

type entry struct {
	SHA string `json:"sha"`
	// Line is the line that looks like a secret; 0 for a file that was taken.
	Line int `json:"line,omitempty"`
}

// Open opens the ledger of a store.
func Open(st *store.Store) (*Ledger, error) {
	l := &Ledger{dir: filepath.Join(st.Dir(), "ledger"), store: st, written: map[string]entry{}}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the ledger: %w", err)
	}
	text, err := os.ReadFile(l.index())
	if err == nil {
		_ = json.Unmarshal(text, &l.written) // a damaged index only costs time
	}
	return l, nil
}

// Dir is the folder of the repository.
func (l *Ledger) Dir() string { return l.dir }

func (l *Ledger) index() string { return filepath.Join(l.store.Dir(), "ledger.json") }

// A Stopped is a file that was left out because a line looks like a secret.
type Stopped struct {
	Place string `json:"place"` // as "host:path"; a path of this machine
	Line  int    `json:"line"`
	New   bool   `json:"new,omitempty"` // it was not stopped before
}

// A Record is what is written of a run.
type Record struct {
	State *state.State
	Run   *iikanji.Run
	Edits []difference.Edit
	// Subject and Body are the commit's message.
	Subject, Body      string
	Routes, Statements *iikanji.Profile // nil for none
	Who                string
}

// Write writes a run and commits it. The id of the commit is "" with ErrNoGit.
func (l *Ledger) Write(ctx context.Context, r Record) (id string, stopped []Stopped, err error) {
	allowed, err := l.store.Allowed()
	if err != nil {
		return "", nil, err
	}
	w := &writer{l: l, allowed: allowed, next: map[string]entry{}}
	for i := range r.State.Hosts {
		if err := w.host(&r.State.Hosts[i]); err != nil {
			return "", nil, err
		}
	}
	if err := w.run(r); err != nil {
		return "", nil, err
	}
	if err := w.finish(); err != nil {
		return "", nil, err
	}
	id, err = l.commit(ctx, r.Who, redact.Prose(r.Subject)+"\n\n"+redact.Prose(r.Body)+"\n")
	return id, w.stopped, err
}

// A writer is a Write under way.
type writer struct {
	l       *Ledger
	allowed map[string]bool
	next    map[string]entry
	stopped []Stopped
}

// hostName is the folder of a host.
func hostName(name string) string {
	if name == "" {
		return "local"
	}
	return path.Base(path.Clean("/" + name))
}

// host writes the files and settings of a host.
func (w *writer) host(h *state.Host) error {
	at := path.Join("hosts", hostName(h.Name))
	var digests strings.Builder
	for _, f := range h.Files {
		switch f.Class {
		case state.Text:
			if err := w.file(h, f, path.Join(at, f.Path)); err != nil {
				return err
			}
		case state.Link:
			fmt.Fprintf(&digests, "%s\tlink\t%s\n", f.Path, f.Target)
		default:
			fmt.Fprintf(&digests, "%s\t%s\t%.16s\n", f.Path, f.Class, f.SHA)
		}
	}
	texts := map[string]string{"settings/files.tsv": digests.String(), "settings/sysctl.tsv": table(h.Sysctl), "settings/packages.tsv": table(h.Packages)}
	units := map[string]string{}
	for name, u := range h.Units {
		units[name] = u.Enabled
	}
	texts["settings/units.tsv"] = table(units)
	programs := map[string]string{}
	for _, s := range h.Services {
		if s.Program.Path != "" {
			programs[s.Name] = fmt.Sprintf("%s\t%.16s", s.Program.Path, s.Program.SHA)
		}
		if len(s.Env) > 0 {
			texts["settings/environment-"+s.Name+".tsv"] = table(s.Env)
		}
		if len(s.Variables) > 0 {
			set := map[string]string{}
			for name, v := range s.Variables {
				if v.Origin != "compile-time" && v.Origin != "compiled" {
					set[name] = v.Value + "\t" + v.Origin
				}
			}
			texts["settings/variables-"+s.Name+".tsv"] = table(set)
		}
		for name, definition := range s.Tables {
			texts["schema/"+s.Name+"/"+plainName(name)+".sql"] = definition
		}
	}
	texts["settings/programs.tsv"] = table(programs)
	for _, r := range h.Repos {
		texts["repository/"+plainName(r.Dir)+".tsv"] = fmt.Sprintf("folder\t%s\nhead\t%s\nbranch\t%s\n", r.Dir, r.Head, r.Branch)
		if r.Dirty == "" {
			continue
		}
		diff, err := w.l.store.Get(r.Dirty)
		if err != nil {
			return err
		}
		if err := w.checked(h, r.Dir+" (difference to HEAD)", path.Join(at, "repository", plainName(r.Dir)+".diff"), state.Sum(diff), func() (string, error) { return string(diff), nil }); err != nil {
			return err
		}
	}
	for name, text := range texts {
		if text != "" {
			if err := w.put(path.Join(at, name), redactLines(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// redactLines redacts lines of settings, of which names stay.
func redactLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if looksSecret(strings.TrimRight(line, "\n"), true, false) {
			line = redact.Text(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// plainName is a path as one name.
func plainName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == '/' || r < ' ' || r == '\\' {
			return '_'
		}
		return r
	}, name), "_.")
}

// table writes a map, a line for each name.
func table(m map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s\t%s\n", name, strings.ReplaceAll(m[name], "\n", " "))
	}
	return b.String()
}

// file writes a file of a host, if no line of it looks like a secret.
func (w *writer) file(h *state.Host, f state.File, name string) error {
	return w.checked(h, f.Path, name, f.SHA, func() (string, error) { text, err := w.l.store.Get(f.SHA); return string(text), err })
}

// checked writes a text that may have a secret. One that was looked at before is not read
// again.
func (w *writer) checked(h *state.Host, place, name, sha string, read func() (string, error)) error {
	if h.Name != "" {
		place = h.Name + ":" + place
	}
	old, known := w.l.written[name]
	allowed := w.allowed[place]
	if known && old.SHA == sha && (old.Line == 0 || !allowed) {
		w.next[name] = old
		if old.Line > 0 {
			w.stopped = append(w.stopped, Stopped{Place: place, Line: old.Line})
		}
		return nil
	}
	text, err := read()
	if err != nil {
		return err
	}
	if line := SecretLine(name, text); line > 0 && !allowed {
		w.stopped = append(w.stopped, Stopped{Place: place, Line: line, New: !known || old.Line == 0})
		w.next[name] = entry{sha, line}
		return nil
	}
	return w.put(name, text, sha)
}

// put writes a file of the ledger, if it differs.
func (w *writer) put(name, text string, sha ...string) error {
	is := entry{SHA: state.Sum([]byte(text))}
	if len(sha) > 0 {
		is.SHA = sha[0]
	}
	w.next[name] = is
	if old, known := w.l.written[name]; known && old == is {
		return nil
	}
	full := filepath.Join(w.l.dir, filepath.FromSlash(path.Clean("/"+name)))
	if strings.Contains(name, "/.git/") || strings.HasSuffix(name, "/.git") {
		return nil // a file of another repository is none of the ledger's
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// run writes the run itself.
func (w *writer) run(r Record) error {
	run := *r.Run
	run.Profiles = nil
	var copied iikanji.Run
	text, err := json.Marshal(run)
	if err == nil {
		err = json.Unmarshal(text, &copied)
	}
	if err != nil {
		return fmt.Errorf("writing the run into the ledger: %w", err)
	}
	redact.Document(&copied)
	if text, err = json.MarshalIndent(copied, "", " "); err != nil {
		return fmt.Errorf("writing the run into the ledger: %w", err)
	}
	texts := map[string]string{"run.json": string(text) + "\n", "edits.tsv": Edits(r.Edits), "routes.tsv": rows(r.Routes), "statements.tsv": rows(r.Statements)}
	for name, text := range texts {
		if text == "" {
			text = "\n"
		}
		if err := w.put(name, text); err != nil {
			return err
		}
	}
	return nil
}

// Edits are edits as lines: who differs where and how.
func Edits(edits []difference.Edit) string {
	var b strings.Builder
	for _, e := range edits {
		changes := make([]string, len(e.Changes))
		for i, id := range e.Changes {
			changes[i] = fmt.Sprint(id)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t+%d\t-%d\t%s\t%s\t%s\n", hostName(e.Host), e.Kind, e.Place, e.Added, e.Removed, redact.Text(strings.Join(e.Names, "; ")), e.Warning, strings.Join(changes, ","))
	}
	return b.String()
}

// maxRows bounds the rows of a profile.
const maxRows = 200

// rows are the rows of a profile, the heaviest first.
func rows(p *iikanji.Profile) string {
	if p == nil {
		return ""
	}
	clean := *p
	clean.Rows = slices.Clone(p.Rows[:min(len(p.Rows), maxRows)])
	redact.Profile(&clean, true)
	var b bytes.Buffer
	b.WriteString("key\tcount\terrors\ttotal_s\tmean_ms\tp99_ms\n")
	for _, r := range clean.Rows {
		fmt.Fprintf(&b, "%s\t%d\t%d\t%.3f\t%.3f\t%.3f\n", strings.ReplaceAll(r.Key, "\t", " "), r.Count, r.Errors, r.Total.Seconds(), 1000*r.Mean.Seconds(), 1000*r.P99.Seconds())
	}
	return b.String()
}

// finish removes what the state does not have any more, and writes the index.
func (w *writer) finish() error {
	for name, old := range w.l.written {
		if _, is := w.next[name]; is || old.Line > 0 {
			continue
		}
		err := os.Remove(filepath.Join(w.l.dir, filepath.FromSlash(path.Clean("/"+name))))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing a file of the ledger: %w", err)
		}
	}
	w.l.written = w.next
	text, err := json.Marshal(w.l.written)
	if err == nil {
		err = os.WriteFile(w.l.index(), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the index of the ledger: %w", err)
	}
	return nil
}
