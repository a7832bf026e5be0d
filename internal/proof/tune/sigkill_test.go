package tune

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// Environment of the process that is killed: its folder, and the step at which it
// kills itself, as in "trial 7"; "" for a search that ends.
const (
	killedDir  = "TUNE_KILLED_DIR"
	killedStep = "TUNE_KILLED_STEP"
)

// A doomed search kills its process, with SIGKILL, at a step of a phase. Steps are
// before and after every event of the journal, every operation on a file, every
// run and the rehearsal. It counts the steps of each phase.
type doomed struct {
	tu    *Tuner
	h     *history.History
	phase string
	left  int
	steps map[string]int
}

func (d *doomed) step() {
	phase := d.tu.display.view.Phase
	if phase == "trial" && d.onTrial() > 1 {
		phase = "bundle"
	}
	d.steps[phase]++
	if phase == d.phase && d.steps[phase] == d.left {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal arrives
	}
}

// onTrial counts the changes that are applied and neither kept nor undone.
func (d *doomed) onTrial() (n int) {
	changes, err := d.h.Changes()
	if err != nil {
		panic(err)
	}
	for _, c := range changes {
		if c.Stage == iikanji.Applied || c.Stage == iikanji.Applying || c.Stage == iikanji.Reverting {
			n++
		}
	}
	return n
}

// around calls f between two steps.
func (d *doomed) around(f func() error) error {
	d.step()
	defer d.step()
	return f()
}

type doomedJournal struct {
	*history.History
	*doomed
}

func (j doomedJournal) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	return j.around(func() error { return j.History.MoveChange(id, to, why) })
}

func (j doomedJournal) Append(e history.Event) error {
	return j.around(func() error { return j.History.Append(e) })
}

type doomedHands struct {
	change.Hands
	*doomed
}

func (h doomedHands) Perform(ctx context.Context, op iikanji.Op) error {
	return h.around(func() error { return h.Hands.Perform(ctx, op) })
}

type doomedField struct {
	*meadow
	*doomed
}

func (f doomedField) Bench(ctx context.Context, spec load.Spec) (run *iikanji.Run, void string, err error) {
	err = f.around(func() (err error) { run, void, err = f.meadow.Bench(ctx, spec); return err })
	return run, void, err
}

func (f doomedField) Rehearse(ctx context.Context) (r load.Rehearsal, err error) {
	err = f.around(func() (err error) { r, err = f.meadow.Rehearse(ctx); return err })
	return r, err
}

// doomedMeadow is a site with a change that is kept, two that are proven only
// together, and one that breaks it. It has a file before the search.
func doomedMeadow(t *testing.T, root string) (*meadow, *Tuner) {
	m := &meadow{t: t, dir: filepath.Join(root, "site"), rng: rand.New(rand.NewPCG(5, 1)), sigma: 0.02, now: time.Unix(1e9, 0),
		effects: map[string]float64{"big=1": 0.7, "a=1": 0.006, "b=1": 0.006, "c=1": 0.006}, breaks: map[string]bool{"wrong=1": true}, voids: map[int]string{}}
	m.finds = func(map[string]bool) []iikanji.Finding {
		return []iikanji.Finding{turn("DB101", "big", "1", 8), turn("WEB102", "a", "1", 1), turn("WEB103", "b", "1", 1), turn("WEB104", "c", "1", 1), turn("APP102", "wrong", "1", 1)}
	}
	tu := m.tuner(filepath.Join(root, "history"))
	tu.Say, tu.Options.Pairs = nil, 2
	return m, tu
}

// child runs the search in the folder, and prints the steps of each phase if it
// survives.
func doomedChild(t *testing.T, root string) {
	m, tu := doomedMeadow(t, root)
	phase, n, _ := cutLast(os.Getenv(killedStep))
	d := &doomed{tu: tu, h: m.h, phase: phase, left: n, steps: map[string]int{}}
	tu.Field, tu.Acts.Hands, tu.Acts.Journal = doomedField{m, d}, doomedHands{tu.Acts.Hands, d}, doomedJournal{m.h, d}
	if _, err := tu.Tune(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(d.steps)
	if err := errors.Join(err, os.WriteFile(filepath.Join(root, "steps"), b, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// cutLast parts "last comparison 7" at its last space.
func cutLast(s string) (phase string, n int, err error) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return "", 0, nil
	}
	n, err = strconv.Atoi(s[i+1:])
	return s[:i], n, err
}

// siteBytes returns each file below the site with its mode.
func siteBytes(t *testing.T, root string) map[string]string {
	t.Helper()
	state := map[string]string{}
	entries, err := os.ReadDir(filepath.Join(root, "site"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(root, "site", e.Name()))
		info, e2 := e.Info()
		if err := errors.Join(err, e2); err != nil {
			t.Fatal(err)
		}
		state[e.Name()] = info.Mode().String() + " " + string(b)
	}
	return state
}

// doomedRoot makes a site whose files have modes of their own.
func doomedRoot(t *testing.T) (root string, original map[string]string) {
	t.Helper()
	root = t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "site"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"big": 0o640, "a": 0o600} {
		path := filepath.Join(root, "site", name)
		if err := errors.Join(os.WriteFile(path, []byte("0"), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	return root, siteBytes(t, root)
}

// start starts the search in another process. after kills it then; 0 for never.
func doomedRun(t *testing.T, root, step string, after time.Duration) (killed bool) {
	t.Helper()
	ctx := t.Context()
	if after > 0 {
		limited, cancel := context.WithTimeout(ctx, after) // kills it
		defer cancel()
		ctx = limited
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.run", "^TestSearchKilled$", "-test.timeout", "10m")
	cmd.Env = append(os.Environ(), killedDir+"="+root, killedStep+"="+step, "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if cmd.ProcessState.Success() { // Wait has an error also if the time is up just as the process ends by itself
		return false
	}
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL) {
		t.Fatalf("%s: %v\n%s", step, err, out.String())
	}
	return err != nil
}

// recovered does what iikanji recover does, then compares every byte of the site:
// with what the recorded changes in force leave, and, once they are reverted, with
// the original.
func doomedRecover(t *testing.T, root, what string, original map[string]string) {
	t.Helper()
	m, tu := doomedMeadow(t, root)
	defer m.h.Close()
	if _, err := tu.Acts.Recover(t.Context()); err != nil {
		t.Fatalf("killed at %s: %v", what, err)
	}
	if _, notes, err := PutBack(t.Context(), tu.History, tu.Acts); err != nil || len(notes) > 0 {
		t.Fatalf("killed at %s: %q, %v", what, notes, err)
	}
	changes, err := m.h.Changes()
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(root, "site", ".*.*")) // what iikanji recover sweeps, see field.SweepTemporary
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	want := maps.Clone(original)
	for _, c := range changes {
		switch c.Stage {
		case iikanji.Applied, iikanji.Kept:
			for _, op := range c.Do {
				name, mode := filepath.Base(op.Place), "-rw-r--r--"
				if was, had := original[name]; had {
					mode, _, _ = strings.Cut(was, " ")
				}
				want[name] = mode + " " + op.Body
			}
		case iikanji.Planned, iikanji.Reverted:
		default:
			t.Errorf("killed at %s: change %d is %s", what, c.ID, c.Stage)
		}
	}
	if got := siteBytes(t, root); !maps.Equal(got, want) {
		t.Errorf("killed at %s: the site is %v, the history has %v in force", what, got, want)
	}
	if _, err := tu.Acts.RevertAll(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if got := siteBytes(t, root); !maps.Equal(got, original) {
		t.Errorf("killed at %s: all reverted, the site is %v and was %v", what, got, original)
	}
}

// TestSearchKilled kills the process of a search, with SIGKILL, in trials, in
// bundles, in drop-one checks, in the restart rehearsal and in the last comparison,
// at seeded steps, and at seeded times anywhere. After recover every byte of the
// site is as the history records it, and after reverting all as in the beginning.
func TestSearchKilled(t *testing.T) {
	tier.Slow(t)
	if root := os.Getenv(killedDir); root != "" {
		doomedChild(t, root)
		return
	}
	root, original := doomedRoot(t)
	began := time.Now()
	if doomedRun(t, root, "", 0) {
		t.Fatal("it was killed")
	}
	took := time.Since(began)
	var steps map[string]int
	b, err := os.ReadFile(filepath.Join(root, "steps"))
	if err := errors.Join(err, json.Unmarshal(b, &steps)); err != nil {
		t.Fatal(err)
	}
	doomedRecover(t, root, "its end", original)
	rng := rand.New(rand.NewPCG(12, 12))
	for _, phase := range []string{"trial", "bundle", "rehearsal", "last comparison"} {
		if steps[phase] == 0 {
			t.Fatalf("the search had no step in the phase %q: %v", phase, steps)
		}
		picked := rng.Perm(steps[phase])
		for _, n := range picked[:min(4, len(picked))] {
			step := phase + " " + strconv.Itoa(n+1)
			root, original := doomedRoot(t)
			if !doomedRun(t, root, step, 0) {
				t.Errorf("%s: it was not killed", step)
			}
			doomedRecover(t, root, step, original)
		}
	}
	for range 6 {
		after := time.Duration(rng.Int64N(int64(took)))
		root, original := doomedRoot(t)
		doomedRun(t, root, "", after)
		doomedRecover(t, root, after.String(), original)
	}
	t.Logf("steps by phase: %v; a search takes %v", steps, took.Round(time.Millisecond))
}
