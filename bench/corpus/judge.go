package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// A hit is a place as iikanji lint --json prints it.
type hit struct {
	Code    string      `json:"code"`
	File    string      `json:"file"`
	Line    int         `json:"line"`
	What    string      `json:"what"`
	Promise string      `json:"promise"`
	Fixes   []goapp.Fix `json:"fixes"`
	Sends   []string    `json:"statements"`
	Reason  *struct {
		Text string `json:"text"`
		File string `json:"file"`
		Line int    `json:"line"`
	} `json:"reason"`
}

// A result is what the levers found in one application.
type result struct {
	dir      string
	lines    int
	hits     []hit
	problems int  // packages that could not be analysed
	pool     bool // the query cache can go above its driver
	// wall and cpu are what lint took for all levers, with the modules compiled before.
	wall, cpu time.Duration
	// built and vetted say for each hit with a fix what became of it.
	built, vetted map[int]bool
	// tests are the app's own that passed before the fixes and after, of the packages around
	// them; alike are the hits whose fixes some of these tests are of.
	tests  int
	alike  map[int]bool
	broken []string
}

// ofWholeApp begins the reason of a place that gets a change of the whole app.
const ofWholeApp = "it is a change of the whole app"

// judge runs the levers over a module, and builds and vets its packages with their fixes.
func judge(ctx context.Context, program, dir, only string) (*result, error) {
	args := []string{"lint", "--json", "--dir", dir}
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	if err := cmd.Run(); err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 3) {
		return nil, fmt.Errorf("iikanji lint: %w: %s", err, lastLine(errs.String()))
	}
	wall := time.Since(began)
	var found struct {
		Hits     []hit             `json:"hits"`
		Problems []json.RawMessage `json:"problems"`
		Lines    int               `json:"lines"`
	}
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		return nil, fmt.Errorf("reading the answer of iikanji lint: %w", err)
	}
	if found.Lines == 0 {
		return nil, errors.New("no package could be analysed: are the modules that it needs there?")
	}
	r := &result{dir: dir, lines: found.Lines, problems: len(found.Problems), wall: wall,
		cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), built: map[int]bool{}, vetted: map[int]bool{}, alike: map[int]bool{}}
	for _, h := range found.Hits {
		r.pool = r.pool || h.Code == "APP207" && h.Reason != nil && strings.HasPrefix(h.Reason.Text, ofWholeApp)
		if only == "" || slices.Contains(strings.Split(only, ","), h.Code) {
			r.hits = append(r.hits, h)
		}
	}
	return r, r.try(ctx)
}

// try applies the first fix of each place, in rounds of fixes that do not overlap, and
// checks each round. Of a round that fails, each fix is checked by itself.
func (r *result) try(ctx context.Context) error {
	var left []int
	for i, h := range r.hits {
		if len(h.Fixes) > 0 {
			left = append(left, i)
		}
	}
	for len(left) > 0 {
		var round, later []int
		for _, i := range left {
			if _, err := r.apply(append(slices.Clone(round), i)); errors.Is(err, goapp.ErrOverlap) {
				later = append(later, i)
				continue
			}
			round = append(round, i)
		}
		if err := r.check(ctx, round); err != nil {
			return err
		}
		left = later
	}
	return nil
}

// apply is the text of the files that some fixes change.
func (r *result) apply(chosen []int) (map[string][]byte, error) {
	files := map[string][]byte{}
	var fixes []goapp.Fix
	for _, i := range chosen {
		f := r.hits[i].Fixes[0]
		for _, e := range f.Edits {
			if files[e.File] == nil {
				text, err := os.ReadFile(e.File)
				if err != nil {
					return nil, err
				}
				files[e.File] = text
			}
		}
		fixes = append(fixes, f)
	}
	return goapp.Apply(files, fixes)
}

func (r *result) check(ctx context.Context, round []int) error {
	after, err := r.apply(round)
	if err == nil {
		err = r.compile(ctx, after)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && len(round) > 1 {
		for _, i := range round {
			if err := r.check(ctx, []int{i}); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range round {
		var vet vetError
		r.built[i], r.vetted[i] = err == nil || errors.As(err, &vet), err == nil
		if err != nil {
			r.broken = append(r.broken, fmt.Sprintf("%s:%d: %s: %v", r.hits[i].File, r.hits[i].Line, r.hits[i].Code, err))
		}
	}
	return nil
}

// A vetError is what go vet says of code that it did not say before.
type vetError struct{ text string }

func (e vetError) Error() string { return "go vet: " + e.text }

// compile builds and vets the packages of some files, whose new texts are laid over the
// old ones.
func (r *result) compile(ctx context.Context, after map[string][]byte) error {
	overlay, done, err := writeOverlay(after)
	if err != nil {
		return err
	}
	defer done()
	packages, err := r.foldersOf(after)
	if err != nil {
		return err
	}
	// Only compiled: linking takes long, and proves nothing more.
	if out, err := goCommand(ctx, r.dir, append([]string{"list", "-export", "-overlay", overlay, "-f", `{{""}}`, "--"}, packages...)); err != nil {
		return fmt.Errorf("go build: %s", out)
	}
	out, err := goCommand(ctx, r.dir, append([]string{"vet", "-overlay", overlay, "--"}, packages...))
	if err == nil {
		return nil
	}
	before, _ := goCommand(ctx, r.dir, append([]string{"vet", "--"}, packages...))
	if strings.Count(out, "\n") <= strings.Count(before, "\n") {
		return nil // as it was
	}
	return vetError{out}
}

// foldersOf are the packages of some files, as the go command takes them.
func (r *result) foldersOf(files map[string][]byte) ([]string, error) {
	folders := map[string]bool{}
	for name := range files {
		rel, err := filepath.Rel(r.dir, filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		folders["./"+filepath.ToSlash(rel)] = true
	}
	return slices.Sorted(maps.Keys(folders)), nil
}

// writeOverlay writes the texts of some files, and the list by which the go command takes them
// in place of the files. done removes both.
func writeOverlay(after map[string][]byte) (overlay string, done func(), err error) {
	scratch, err := os.MkdirTemp("", "corpus")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(scratch) }
	replace := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(after)) {
		to := filepath.Join(scratch, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(to, after[name], 0o600); err != nil {
			done()
			return "", nil, err
		}
		replace[name] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	overlay = filepath.Join(scratch, "overlay.json")
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		done()
	}
	return overlay, done, err
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndex(s, "\n")+1:]
}
