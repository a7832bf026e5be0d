// Package summarytest makes small histories for tests, by a real search on a toy
// site: a folder of files whose contents decide the score.
package summarytest

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// Hostile are texts that a page must escape: markup in routes, statements and
// sentences, escape sequences, characters that turn the direction of writing.
const (
	HostileRoute     = `GET /<script>document.title="pwned"</script>/` + "\u202e\x1b[31m"
	HostileStatement = `select '"><img src=x onerror="document.title='pwned'">' from 日本語 where x = ?`
	HostileSays      = `</style></title><script>document.title="pwned"</script>| [x](javascript:alert(1)) 設定`
)

// lever is a kind of change that writes a word into a file of the toy site.
type lever struct{}

var leverAct = change.Act{Help: "write a word into a file", Belief: change.Belief{Chance: 0.5, Gain: 0.3}, Worth: change.WorthLine}

func (lever) Name() string                             { return "lever" }
func (lever) Help() string                             { return "a lever of the toy site" }
func (lever) Acts() []change.Act                       { return []change.Act{leverAct} }
func (lever) Match(iikanji.Remedy) (change.Act, error) { return leverAct, nil }

func (lever) Plan(_ context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	path := filepath.Join(s.Roots[0], r.Args["name"])
	old, err := s.ReadOld("", path)
	if err != nil {
		return nil, err
	}
	if string(old) == "on\n" {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: "lever", Target: r.Target, Says: r.Says}
	change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Path: path, Old: old, New: []byte("on\n")})
	return c, nil
}

func init() { change.Register(lever{}) }

// levers are the changes of the toy site with their effects on ln(score).
var levers = []struct {
	name, says string
	effect     float64
}{
	{"index", "add an index " + HostileSays, math.Log(3)},
	{"cache", "keep answers " + HostileSays, -0.3},
	{"log", "write no log", -0.2},
}

// A site is the toy site with its load.
type site struct {
	dir string
	h   *history.History
	rng *rand.Rand
	now time.Time
}

// Make makes a history in a folder: eight runs of the untouched site, observed runs,
// a kept and two reverted changes, and a last comparison. It returns the folder. The
// tuneSite runs once in a process: later folders have the same files.
func Make(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "history")
	made.Lock()
	defer made.Unlock()
	if made.files == nil {
		made.files = filesBelow(t, tuneSite(t))
	}
	for _, f := range made.files { // a folder comes before what is in it
		path, err := filepath.Join(dir, f.name), error(nil)
		if f.mode.IsDir() {
			err = os.Mkdir(path, f.mode.Perm())
		} else {
			err = os.WriteFile(path, f.text, f.mode.Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// made are the files of the history that the search of this process made.
var made struct {
	sync.Mutex
	files []madeFile
}

// A madeFile is a file or a folder; its name is relative to the history.
type madeFile struct {
	name string
	mode fs.FileMode
	text []byte
}

func filesBelow(t testing.TB, dir string) (all []madeFile) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := madeFile{name: name, mode: info.Mode()}
		if !d.IsDir() {
			f.text, err = os.ReadFile(path)
		}
		all = append(all, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tuneSite searches on the toy site and returns the folder of the history.
func tuneSite(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "history")
	h, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	s := &site{dir: filepath.Join(root, "site"), h: h, rng: rand.New(rand.NewPCG(1, 1)), now: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	hands := &change.Site{Roots: []string{s.dir}}
	tu := &tune.Tuner{Field: s, Site: hands, Acts: &change.Executor{Hands: hands, Journal: h}, History: h, Now: func() time.Time { return s.now },
		Options: search.Options{Short: 10 * time.Second, Full: 60 * time.Second, Watch: 10 * time.Second, Pairs: 4, Seed: 1, Command: "iikanji tune toy --seed 1"}}
	if _, err := tu.Tune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.Append(history.Event{What: history.Noted, Run: 3, Text: "メモ " + HostileSays}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// on lists the levers that are on.
func (s *site) on() map[string]bool {
	on := map[string]bool{}
	for _, l := range levers {
		b, err := os.ReadFile(filepath.Join(s.dir, l.name))
		on[l.name] = err == nil && string(b) == "on\n"
	}
	return on
}

// run makes a run of the present state.
func (s *site) run(spec load.Spec) (*iikanji.Run, error) {
	s.now = s.now.Add(spec.Load + 2*time.Second)
	id, _, err := s.h.NewRun()
	if err != nil {
		return nil, err
	}
	y := math.Log(1000*spec.Load.Seconds()) + 0.02*s.rng.NormFloat64()
	for _, l := range levers {
		if s.on()[l.name] {
			y += l.effect
		}
	}
	n := int64(math.Exp(y) / 10)
	mean := time.Duration(float64(spec.Load) * 20 / float64(n))
	step := func(name string, count int64, mean time.Duration) iikanji.StepStat {
		return iikanji.StepStat{Step: name, Count: count, Total: time.Duration(count) * mean, Mean: mean, P95: 3 * mean}
	}
	return &iikanji.Run{ID: id, Scenario: "toy", Seed: 1, State: spec.State, Began: s.now, Took: spec.Load, Outcome: iikanji.Passed, Score: math.Round(math.Exp(y)),
		Steps:   []iikanji.StepStat{step(HostileRoute, n/2, mean), step("GET /商品/:id", n/2, mean/2)},
		Usage:   []iikanji.Usage{{Who: "database", User: spec.Load / 2}, {Who: "app", User: spec.Load / 4}},
		Counts:  map[string]float64{"rows examined": float64(n) * 1e4 / math.Exp(y/2)},
		Place:   iikanji.Placement{Cores: 2, Generator: "0", Stack: "1"},
		Machine: &iikanji.Machine{System: "Toy System", Kernel: "Linux 1", CPU: "Toy CPU", Cores: 2, Memory: 1 << 30, Program: "devel"}}, nil
}

// Bench implements tune.Field.
func (s *site) Bench(_ context.Context, spec load.Spec) (*iikanji.Run, string, error) {
	r, err := s.run(spec)
	if err != nil {
		return nil, "", err
	}
	return r, "", s.h.SaveRun(r)
}

// Rehearse implements tune.Field.
func (s *site) Rehearse(context.Context) (load.Rehearsal, error) {
	return load.Rehearsal{Done: true, OK: true, Says: "all services came back"}, nil
}

// Observe implements tune.Field: three sensors are red, and the findings that say so
// have levers as remedies.
func (s *site) Observe(_ context.Context, spec load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	r, err := s.run(spec)
	if err != nil {
		return nil, nil, err
	}
	took := 40 * time.Millisecond
	if s.on()["index"] {
		took = time.Millisecond
	}
	row := iikanji.Row{Key: HostileStatement, Count: 100, Total: 100 * took, Share: 1, Mean: took, P95: 2 * took,
		Query: &iikanji.SQLRow{Digest: "0123456789abcdef", Fingerprint: HostileStatement, Examined: 1000}}
	ob := &observe.Observation{Run: r, Target: iikanji.Target{Name: "toy", Services: []iikanji.Service{{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}}},
		Sensors: []observe.Sensor{{Source: iikanji.Slow, Name: "slow log", Green: true, Proofs: []observe.Proof{{Says: "100 of 100 entries", Within: "99 % or more", Holds: true}}},
			{Source: iikanji.Access, Name: "access log", Error: HostileSays}, {Source: iikanji.Errors, Name: "error logs", Error: "no log"}, {Source: iikanji.Host, Name: "host", Error: "no samples"}},
		Profiles: []iikanji.Profile{{Version: iikanji.ProfileVersion, Source: iikanji.Slow, Target: "database", Rows: []iikanji.Row{row}}},
		Host:     []hoststat.Sample{{At: r.Began, Over: time.Second, Cores: 2, User: 0.5}, {At: r.Began.Add(time.Second), Over: time.Second, Cores: 2, User: 1}}}
	known := []iikanji.Fact{{Target: "database", Topic: string(fact.TopicVariable), Key: "version", Value: "10.11.0-Toy"}}
	if err := observe.Keep(s.h, ob, known); err != nil {
		return nil, nil, err
	}
	d, err := diagnose.New(ob, known)
	if err != nil {
		return nil, nil, err
	}
	if len(d.Findings) < len(levers) {
		return nil, nil, fmt.Errorf("%d findings for %d levers", len(d.Findings), len(levers))
	}
	for i, l := range levers {
		d.Findings[i].Remedies = []iikanji.Remedy{{Kind: "lever", Target: "toy", Says: l.says, Args: map[string]string{"name": l.name}}}
		d.Findings[i].Gain = iikanji.Range{Lo: 5, Hi: 6}
	}
	return d, known, nil
}
