package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/trial"
)

// knob is a kind that sets one file below the site's root to a value.
type knob struct{}

func (knob) Name() string { return "knob" }

func (knob) Plan(_ context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	path := filepath.Join(s.Roots[0], r.Args["name"])
	old, err := s.ReadOld("", path)
	if err != nil {
		return nil, err
	}
	if string(old) == r.Args["value"] {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: "knob", Target: r.Target, Says: "turn " + r.Args["name"] + " to " + r.Args["value"]}
	if r.Args["weakens"] != "" {
		c.Weakens = []iikanji.Promise{iikanji.Durability}
	}
	change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Path: path, Old: old, New: []byte(r.Args["value"])})
	return c, nil
}

func (knob) Help() string       { return "a knob of the meadow" }
func (knob) Acts() []change.Act { return []change.Act{knobAct} }
func (knob) Match(iikanji.Remedy) (change.Act, error) {
	return knobAct, nil
}

var knobAct = change.Act{Help: "turn it", Belief: change.Belief{Chance: 0.5, Gain: 0.05}, Worth: change.WorthLine, Simplifies: true}

func init() {
	change.Register(knob{})
}

// meadow is a field whose score depends on files, with noise. It has its own clock:
// a run takes as long as its load.
type meadow struct {
	t       *testing.T
	dir     string
	h       *history.History
	rng     *rand.Rand
	sigma   float64
	level   float64            // of the machine, on ln(score)
	effects map[string]float64 // on ln(score), of "name=value"
	long    map[string]float64 // more of them in runs of a minute
	breaks  map[string]bool    // "name=value" that fail the checks
	now     time.Time
	runs    int
	voids   map[int]string // by number of the run
	at      func(run int)  // called at the begin of each run
	finds   func(on map[string]bool) []iikanji.Finding
	binding func(on map[string]bool) string
	usage   func(on map[string]bool) []iikanji.Usage
	counts  func(on map[string]bool) map[string]float64
	noise   func(load time.Duration) float64 // instead of sigma
}

func (m *meadow) on() map[string]bool {
	on := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(m.dir, "*"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			m.t.Fatal(err)
		}
		on[filepath.Base(f)+"="+string(b)] = true
	}
	return on
}

func (m *meadow) Bench(ctx context.Context, spec load.Spec) (*iikanji.Run, string, error) {
	m.runs++
	if m.at != nil {
		m.at(m.runs)
	}
	m.now = m.now.Add(spec.Load)
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	id, _, err := m.h.NewRun()
	if err != nil {
		return nil, "", err
	}
	sigma := m.sigma
	if m.noise != nil {
		sigma = m.noise(spec.Load)
	}
	y := math.Log(1000) + m.level + sigma*m.rng.NormFloat64()
	run := &iikanji.Run{ID: id, Began: m.now, Took: spec.Load, State: spec.State, Outcome: iikanji.Passed, Steps: []iikanji.StepStat{{Count: 1000}}}
	for name := range m.on() {
		y += m.effects[name]
		if spec.Load >= time.Minute {
			y += m.long[name]
		}
		if m.breaks[name] {
			run.Outcome = iikanji.Failed
			run.Reasons = []string{name + " breaks it"}
		}
	}
	if run.Score = math.Exp(y); run.Outcome == iikanji.Failed {
		run.Score = 0
	}
	if m.usage != nil {
		run.Usage = m.usage(m.on())
	}
	if m.counts != nil {
		run.Counts = m.counts(m.on())
	}
	void := m.voids[m.runs]
	if spec.Accept {
		void = ""
	}
	return run, void, m.h.SaveRun(run)
}

func (m *meadow) Observe(_ context.Context, spec load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	m.now = m.now.Add(spec.Load)
	d := &diagnose.Diagnosis{Run: &iikanji.Run{}, CPU: 10, Statements: 10, Findings: m.finds(m.on())}
	if m.binding != nil {
		d.Binding = m.binding(m.on())
	}
	return d, nil, nil
}

func (m *meadow) Rehearse(context.Context) (load.Rehearsal, error) {
	return load.Rehearsal{Done: true, OK: true, Says: "all came back"}, nil
}

func turn(code, name, value string, gain float64) iikanji.Finding {
	return iikanji.Finding{Code: iikanji.Code(code), Claim: name + " is wrong", Gain: iikanji.Range{Lo: gain, Hi: gain},
		Remedies: []iikanji.Remedy{{Kind: "knob", Target: "site", Says: name, Args: map[string]string{"name": name, "value": value}}}}
}

func newMeadow(t *testing.T, seed uint64) (*meadow, *Tuner) {
	t.Helper()
	root := t.TempDir()
	m := &meadow{t: t, dir: filepath.Join(root, "site"), rng: rand.New(rand.NewPCG(seed, 1)), sigma: 0.03, now: time.Unix(1e9, 0),
		effects: map[string]float64{}, breaks: map[string]bool{}, voids: map[int]string{}}
	if err := os.Mkdir(m.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return m, m.tuner(filepath.Join(root, "history"))
}

func (m *meadow) tuner(hist string) *Tuner {
	h, err := history.Open(hist)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { h.Close() })
	m.h = h
	site := &change.Site{Roots: []string{m.dir}}
	return &Tuner{Field: m, Site: site, Acts: &change.Executor{Hands: site, Journal: h}, History: h, Now: func() time.Time { return m.now },
		Say:     func(line string) { m.t.Log(line) },
		Options: search.Options{Short: 8 * time.Second, Full: 60 * time.Second, Watch: 10 * time.Second, Pairs: 4, Seed: 1}}
}

func (m *meadow) calls(out *Outcome) map[string]string {
	calls := map[string]string{}
	for _, a := range out.Attempts {
		calls[a.Says] = a.Result()
	}
	return calls
}

// TestTune checks that useful changes are kept, that useless and broken ones are
// reverted, and that the end compares the whole.
func TestTune(t *testing.T) {
	m, tu := newMeadow(t, 3)
	m.effects = map[string]float64{"big=1": math.Log(4), "some=1": 0.12, "bad=1": -0.2, "late=1": 0.15}
	m.breaks["wrong=1"] = true
	m.finds = func(on map[string]bool) []iikanji.Finding {
		f := []iikanji.Finding{turn("DB101", "big", "1", 8), turn("WEB102", "some", "1", 2), turn("WEB105", "bad", "1", 1), turn("APP102", "wrong", "1", 1), turn("DB103", "none", "1", 0.5)}
		if on["big=1"] {
			f = append(f, turn("DB115", "late", "1", 2))
		}
		return f
	}
	before := m.on()
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	calls := m.calls(out)
	for says, want := range map[string]string{"turn big to 1": "keep", "turn bad to 1": "revert", "turn wrong to 1": "revert"} {
		if calls[says] != want {
			t.Errorf("%s: %s, want %s", says, calls[says], want)
		}
	}
	on := m.on()
	if !on["big=1"] || !on["some=1"] || !on["late=1"] || on["bad=1"] || on["wrong=1"] || on["none=1"] {
		t.Errorf("in the end the site is %v", on)
	}
	if !out.Attempts[0].Fast || out.Attempts[0].Verdict.Effect.Level == 0 {
		t.Errorf("the first one did not take the fast lane, or has no interval: %+v", out.Attempts[0])
	}
	want := 4 * math.Exp(0.12+0.15)
	if len(out.Final) != 4 || out.Ratio.Lo > want || out.Ratio.Hi < want || out.Ratio.Lo < 3 {
		t.Errorf("ratio %+v of runs %v, want about %.2f", out.Ratio, out.Final, want)
	}
	if !out.Rehearsal.OK {
		t.Errorf("rehearsal %+v", out.Rehearsal)
	}
	ids, err := tu.Acts.RevertAll(t.Context(), "all")
	if err != nil || len(ids) != 3 || fmt.Sprint(m.on()) != fmt.Sprint(before) {
		t.Errorf("reverting all: %v %v, the site is %v", ids, err, m.on())
	}
}

// TestTuneInterrupted checks that after Ctrl-C at any run the candidate is undone,
// the kept changes are in force, and the next search continues from there.
func TestTuneInterrupted(t *testing.T) {
	tier.Slow(t)
	for stop := 1; stop < 60; stop += 4 {
		m, tu := newMeadow(t, 2)
		m.effects = map[string]float64{"big=1": math.Log(3), "some=1": 0.15}
		m.finds = func(map[string]bool) []iikanji.Finding {
			return []iikanji.Finding{turn("DB101", "big", "1", 8), turn("WEB102", "some", "1", 2), turn("DB103", "none", "1", 0.5)}
		}
		ctx, cancel := context.WithCancel(t.Context())
		m.at = func(run int) {
			if run == stop {
				cancel()
			}
		}
		_, err := tu.Tune(ctx)
		cancel()
		if err == nil {
			return // the search takes fewer runs
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at run %d: %v", stop, err)
		}
		inForce := len(tu.book.ledger().InForce)
		if got := len(m.on()); got != inForce {
			t.Fatalf("stopped at run %d: %d changes are in force, the site is %v", stop, inForce, m.on())
		}
		hist := m.h.Dir()
		m.h.Close()
		m.at = nil
		tu = m.tuner(hist)
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatalf("going on after run %d: %v", stop, err)
		}
		if on := m.on(); !on["big=1"] || !on["some=1"] || len(out.Final) != 4 || out.Ratio.Lo < 2 {
			t.Fatalf("after going on the site is %v, ratio %+v", on, out.Ratio)
		}
		if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(m.on()) != 0 {
			t.Fatalf("reverting all: %v, the site is %v", err, m.on())
		}
	}
	t.Error("no interruption came")
}

// TestTuneBudgets checks the limits of the time, including the last comparison, and
// of the number of runs, and that --until ends the search.
func TestTuneBudgets(t *testing.T) {
	tier.Slow(t)
	finds := func(map[string]bool) []iikanji.Finding {
		var f []iikanji.Finding
		for i := range 15 {
			f = append(f, turn("WEB102", fmt.Sprint("k", i), "1", 1))
		}
		return append(f, turn("DB101", "big", "1", 9))
	}
	for name, set := range map[string]func(o *search.Options){
		"time":  func(o *search.Options) { o.Time = 15 * time.Minute },
		"runs":  func(o *search.Options) { o.Runs = 20 },
		"until": func(o *search.Options) { o.Until = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			m, tu := newMeadow(t, 3)
			m.effects["big=1"] = math.Log(4)
			m.finds = finds
			set(&tu.Options)
			began := m.now
			out, err := tu.Tune(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if took := m.now.Sub(began); name == "time" && (took > 15*time.Minute || took < 11*time.Minute) {
				t.Errorf("it took %v", took)
			}
			if name == "runs" && out.Runs > 20+2*8+2*4+2 { // one trial may end, drop-one, the comparison
				t.Errorf("%d runs", out.Runs)
			}
			if len(out.Final) != 4 || out.Ratio.Lo < 3 || len(out.Attempts) > 35 {
				t.Errorf("%d attempts, ratio %+v", len(out.Attempts), out.Ratio)
			}
		})
	}
}

// TestTuneVoids checks that disturbed runs are reported, repeated and ignored. On a
// machine where every run is disturbed they count: the search goes on, finds what
// its noise lets it find, and ends without an error.
func TestTuneVoids(t *testing.T) {
	m, tu := newMeadow(t, 4)
	m.effects["some=1"] = 0.3
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("WEB102", "some", "1", 2)} }
	for i := 3; i < 40; i += 3 {
		m.voids[i] = "apt-get is at work"
	}
	var said []string
	tu.Say = func(line string) { said = append(said, line) }
	out, err := tu.Tune(t.Context())
	if err != nil || !m.on()["some=1"] || out.Voided < 4 {
		t.Errorf("%v, the site is %v, %d voided", err, m.on(), out.Voided)
	}
	if !strings.Contains(strings.Join(said, "\n"), "apt-get is at work") {
		t.Errorf("it was not reported: %q", said)
	}
	m, tu = newMeadow(t, 4)
	m.sigma, m.effects["big=1"] = 0.15, math.Log(1.8)
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("DB101", "big", "1", 4)} }
	for i := range 400 {
		m.voids[i] = "steal"
	}
	out, err = tu.Tune(t.Context())
	if err != nil || !m.on()["big=1"] || len(out.Final) != 4 || out.Voided != mostVoids() {
		t.Errorf("%v, the site is %v, %d pairs in the last comparison, %d voided", err, m.on(), len(out.Final), out.Voided)
	}
	if !strings.Contains(strings.Join(out.Notes, "\n"), "disturbed runs count from now on") {
		t.Errorf("not noted: %q", out.Notes)
	}
}

// TestTuneVoidComparison: disturbances of the last comparison cost repetitions, but
// not the headline.
func TestTuneVoidComparison(t *testing.T) {
	m, tu := newMeadow(t, 4)
	m.effects["big=1"] = math.Log(3)
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("DB101", "big", "1", 8)} }
	tu.Show = func(v View) {
		if v.Phase == "last comparison" {
			m.voids[m.runs+1] = "a build"
		}
	}
	out, err := tu.Tune(t.Context())
	if err != nil || len(out.Final) != 4 || out.Ratio.Lo < 2 || out.Voided != int(search.MostBadPairs.Value()) {
		t.Errorf("%v, %d pairs, %d voided, ratio %+v", err, len(out.Final), out.Voided, out.Ratio)
	}
}

// TestTuneBundle checks that two changes that help only together are found, and that
// parked changes are tried again when the limit has moved.
func TestTuneBundle(t *testing.T) {
	for seed := range uint64(12) { // trials of so small effects end in many ways
		m, tu := newMeadow(t, seed)
		m.sigma = 0.02
		m.effects = map[string]float64{"a=1": 0.012, "b=1": 0.012}
		m.finds = func(map[string]bool) []iikanji.Finding {
			return []iikanji.Finding{turn("WEB102", "a", "1", 1), turn("WEB103", "b", "1", 1)}
		}
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want := len(tu.book.ledger().InForce); len(m.on()) != want {
			t.Errorf("%d changes in force, the site is %v", want, m.on())
		}
		if slices.ContainsFunc(out.Attempts, func(a search.Attempt) bool { return a.Candidate.Remedy.Kind == "bundle" }) {
			return
		}
	}
	t.Error("no bundle was tried")
}

// TestCandidates checks the order by expected gain per run, that no remedy is tried
// twice, and that changes that blind sensors come last.
func TestCandidates(t *testing.T) {
	index := map[string]string{"act": "add index", "schema": "s", "table": "t", "columns": "c"}
	ofStatements := iikanji.Nature{Of: iikanji.OfStatements}
	d := &diagnose.Diagnosis{Run: &iikanji.Run{Usage: []iikanji.Usage{{Who: "shelves", User: 6 * time.Second}, {Who: "app", User: 2 * time.Second}, {Who: "generator", User: 9 * time.Second}}},
		Executors: []string{"shelves"}, Statements: 10, CPU: 10, Findings: []iikanji.Finding{
			{Code: "WEB110", Gain: iikanji.Range{Lo: 9, Hi: 9}, Remedies: []iikanji.Remedy{{Kind: "nginxconf", Args: map[string]string{"act": "set", "directive": "access_log", "value": "off"}}}},
			{Code: "WEB105", Gain: iikanji.Range{Lo: 0, Hi: 0.1}, Remedies: []iikanji.Remedy{{Kind: "nginxconf", Args: map[string]string{"act": "gzip"}}}},
			{Code: "DB101", Nature: ofStatements, Gain: iikanji.Range{Lo: 8, Hi: 8}, Remedies: []iikanji.Remedy{{Kind: "ddl", Args: index}, iikanji.ByPerson("", ""), {Kind: "patch"}}},
			{Code: "DB102", Nature: ofStatements, Gain: iikanji.Range{Lo: 8, Hi: 8}, Remedies: []iikanji.Remedy{{Kind: "ddl", Args: index}, {Kind: "ddl", Args: map[string]string{"act": "make it fast"}}}},
		}}
	found, refused := Candidates(d)
	got := search.Ranked(found, 0.04)
	var codes []iikanji.Code
	for _, c := range got {
		codes = append(codes, c.Code)
	}
	if !slices.Equal(codes, []iikanji.Code{"DB101", "WEB105", "WEB110"}) {
		t.Errorf("order %v", codes)
	}
	if want := -math.Log(1 - 0.8*0.75); math.Abs(got[0].Gain-want) > 1e-9 { // the database used 6 of 8 seconds
		t.Errorf("gain %v, want %v", got[0].Gain, want)
	}
	if got[0].Chance != 0.6 || got[1].Chance != 0.15 {
		t.Errorf("chances %v and %v, want those of the acts", got[0].Chance, got[1].Chance)
	}
	want := []string{change.ErrByHand.Error(), change.ErrNoDiff.Error(), `no act "make it fast"`}
	if len(refused) != len(want) || !errors.Is(refused[1].Err, change.ErrNoDiff) {
		t.Fatalf("refused %v", refused)
	}
	for i, r := range refused {
		if !strings.Contains(r.Err.Error(), want[i]) {
			t.Errorf("refused: %v, want %s", r.Err, want[i])
		}
	}
}

// TestRefused: a remedy that cannot be tried is reported with the reason, once.
func TestRefused(t *testing.T) {
	var said []string
	tuner := &Tuner{Now: time.Now, Say: func(line string) { said = append(said, line) }}
	tuner.begin()
	_, refused := Candidates(&diagnose.Diagnosis{Run: &iikanji.Run{}, Findings: []iikanji.Finding{
		{Code: "HOST1", Remedies: []iikanji.Remedy{{Kind: iikanji.KindPerson, Says: "move it"}}},
		{Code: "DB1", Remedies: []iikanji.Remedy{{Kind: "patch"}, {Kind: "patch", Args: map[string]string{"table": "t"}}}},
		{Code: "DB2", Remedies: []iikanji.Remedy{{Kind: "patch", Args: map[string]string{"table": "u"}}}},
	}})
	tuner.refuse(refused)
	if len(said) != 2 || !strings.Contains(said[0], "move it: planning a change: "+change.ErrByHand.Error()) || !strings.Contains(said[1], "DB1, DB2: "+change.ErrNoDiff.Error()) {
		t.Fatalf("said %q", said)
	}
	if a := tuner.book.ledger().Attempts; len(a) != 1 || a[0].Candidate.Code != "HOST1" || !strings.Contains(a[0].Skipped, change.ErrByHand.Error()) {
		t.Errorf("%+v", a)
	}
	tuner.refuse(refused)
	if len(said) != 3 || len(tuner.book.ledger().Attempts) != 1 {
		t.Errorf("reported twice: %q", said)
	}
}

// TestFingerprintOfHosts checks that files of the same path on two hosts are two
// places in a state's fingerprint.
func TestFingerprintOfHosts(t *testing.T) {
	hosts := map[string]host.Host{}
	s := &hands{book: newBook(nil, search.Options{}, nil), site: &change.Site{Hosts: hosts, Roots: []string{"db1:/", "db2:/"}}}
	var changes []*iikanji.Change
	for _, name := range []string{"db1", "db2"} {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		hosts[name] = &host.Fake{Root: root, Host: name}
		if err := hosts[name].Write("/my.cnf", []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		c := &iikanji.Change{Target: "database"}
		change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Host: name, Path: "/my.cnf", New: []byte("y")})
		changes = append(changes, c)
	}
	of := func() iikanji.Fingerprint {
		print, err := s.fingerprint(t.Context(), changes...)
		if err != nil {
			t.Fatal(err)
		}
		return print
	}
	before := of()
	for _, name := range []string{"db1", "db2"} {
		if err := hosts[name].Write("/my.cnf", []byte("y"), 0o644); err != nil {
			t.Fatal(err)
		}
		if now := of(); now == before {
			t.Errorf("the file of %s is not in the fingerprint", name)
		} else {
			before = now
		}
	}
	if trial.Touch(changes[0], changes[1]) {
		t.Error("changes of two hosts touch the same place")
	}
}
