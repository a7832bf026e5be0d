package gocode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/rewrite"
)

// The source of the test app: a place with a proven rewrite, a knob, and a
// lookalike of each.
const (
	mainGo = `package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
)

// main answers each connection on a socket with what the handler answers.
func main() {
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(c, "greeting %q\n", greeting(&http.Request{Method: "GET"}))
		c.Close()
	}
}
`
	greetGo = `package main

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// greeting names the method of a request.
func greeting(r *http.Request) string {
	time.Sleep(2 * time.Millisecond)
	if !regexp.MustCompile("^[A-Z]+$").MatchString(r.Method) {
		return "none"
	}
	return "hello " + strings.ToLower(r.Method)
}

// once is called by no request.
func once(word string) bool { return regexp.MustCompile("^[a-z]+$").MatchString(word) }

var _ = once("start")
`
	goMod = "module example.org/app\n\ngo 1.24\n"
)

type testApp struct{ *changetest.App }

func newTestApp(t *testing.T) testApp {
	t.Helper()
	return testApp{changetest.NewApp(t, map[string]string{"main.go": mainGo, "greet.go": greetGo, "go.mod": goMod, ".git/HEAD": "ref\n"})}
}

// serves checks that the app answers as it did.
func (a testApp) serves() error {
	got, err := a.Ask()
	if err == nil && got != "greeting \"hello get\"\n" {
		err = fmt.Errorf("the app answered %q", got)
	}
	return err
}

func remedy(kv ...string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "gocode", Target: changetest.Service, Args: changetest.Args(append([]string{"file", "greet.go", "func", "greeting"}, kv...)...)}
}

var once = remedy("levers", "APP206")

// pause is the remedy of the knob, as a finding has it.
func pause(t *testing.T, a testApp, variant string) iikanji.Remedy {
	t.Helper()
	res, err := rewrite.Run(t.Context(), a.Source(""), []string{"./..."}, rewrite.Facts{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(res.Hits, func(h rewrite.Hit) bool { return h.Code == "APP214" })
	if i < 0 {
		t.Fatalf("no knob in %+v", res.Hits)
	}
	return remedy("levers", "APP214", "place", res.Hits[i].What, "variant", variant)
}

// TestConformance checks the promises that every kind makes, with an app that is
// built and restarted.
func TestConformance(t *testing.T) {
	tier.Slow(t)
	a := newTestApp(t)
	remedies := map[string]iikanji.Remedy{}
	if changetest.ChildDir() == "" {
		remedies["knob"] = pause(t, a, "half")
	} else {
		remedies["knob"] = remedy("levers", "APP214", "place", os.Getenv(placeVar), "variant", "half")
	}
	t.Setenv(placeVar, remedies["knob"].Args["place"])
	changetest.Run(t, changetest.Case{
		Dir: a.Dir, Open: a.Open, State: a.State, Serves: a.serves,
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.TestedOnly, iikanji.Behaviour}},
		Remedies: remedies,
		Effects:  map[string]string{"knob": "1 * time.Millisecond"},
	})
}

// placeVar hands the knob's place to the child process, which would otherwise have
// to find it in a source that is edited already.
const placeVar = "IIKANJI_TEST_PLACE"

// TestPlan: the description of a planned change, and what it weakens.
func TestPlan(t *testing.T) {
	tier.Slow(t)
	a := newTestApp(t)
	c, err := change.Plan(t.Context(), a.Open(a.Dir), once)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Weakens) > 0 || c.Risk != iikanji.RiskRestart || len(c.Do) != 2 || c.Do[1].Verb != iikanji.Restart {
		t.Errorf("weakens %v, risk %s, do %+v", c.Weakens, c.Risk, c.Do)
	}
	if !strings.HasSuffix(c.Says, "in greeting (APP206; greet.go)") {
		t.Errorf("says %q", c.Says)
	}
	if body := c.Do[0].Body; strings.Count(body, "MustCompile") != 2 || !regexp.MustCompile(`(?m)^var \w+ = regexp\.MustCompile`).MatchString(body) ||
		!strings.Contains(body, `func once(word string) bool { return regexp.MustCompile("^[a-z]+$")`) {
		t.Errorf("the rewrite is\n%s", body)
	}
	knob, err := change.Plan(t.Context(), a.Open(a.Dir), pause(t, a, "half"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []iikanji.Promise{iikanji.TestedOnly, iikanji.Behaviour}; !slices.Equal(knob.Weakens, want) {
		t.Errorf("weakens %v, want %v", knob.Weakens, want)
	}
	both, err := change.Plan(t.Context(), a.Open(a.Dir), remedy("levers", "APP206,APP214", "variant", "half"))
	if err == nil || !strings.Contains(err.Error(), "variant") {
		t.Errorf("a variant of a place with one fix: %+v, %v", both, err)
	}
}

// TestRefused: remedies that are refused, with their errors.
func TestRefused(t *testing.T) {
	tier.Slow(t)
	a := newTestApp(t)
	for name, c := range map[string]struct {
		r    iikanji.Remedy
		want string
		is   error
	}{
		"no lever":         {remedy("levers", "APP299"), "is not the code of a lever", nil},
		"outside":          {remedy("levers", "APP206", "file", "../x.go"), "want a path below", nil},
		"hidden":           {remedy("levers", "APP206", "file", ".git/x.go"), "want a path below", nil},
		"no file":          {remedy("levers", "APP206", "file", "gone.go"), "no such function", errNoPlace},
		"no function":      {remedy("levers", "APP206", "func", "gone"), "no such function", errNoPlace},
		"no place":         {remedy("levers", "APP206", "func", "once"), "", change.ErrNothing},
		"variant unknown":  {pause(t, a, "triple"), `want one of "half"`, nil},
		"variant missing":  {pause(t, a, ""), `want one of "half"`, nil},
		"unknown argument": {remedy("levers", "APP206", "weakens", "durability"), "unknown argument", nil},
	} {
		_, err := change.Plan(t.Context(), a.Open(a.Dir), c.r)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if left, _ := filepath.Glob(a.Path(".iikanji*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestDefect: a rewrite that does not build is reported as a defect of iikanji, and
// so is one that go vet complains about; what the source has already is not.
func TestDefect(t *testing.T) {
	tier.Slow(t)
	a := newTestApp(t)
	site := a.Open(a.Dir)
	svc := site.Services[changetest.Service]
	svc.Running = changetest.Running{OnBuild: func(context.Context, string) error { return errors.New("undefined: x") }}
	site.Services[changetest.Service] = svc
	var defect *DefectError
	if _, err := change.Plan(t.Context(), site, once); !errors.As(err, &defect) || !strings.Contains(err.Error(), "a defect of iikanji") || len(defect.Hints()) == 0 {
		t.Errorf("%v", err)
	}
	wrong := filepath.Join(t.TempDir(), "wrong")
	write := func(dir, body string) {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "go.mod"), []byte(goMod), 0o644),
			os.WriteFile(filepath.Join(dir, "main.go"), []byte(body), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	const bad = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Printf(\"%d\\n\", \"x\") }\n"
	write(wrong, bad)
	good := filepath.Join(t.TempDir(), "good")
	write(good, strings.Replace(bad, `"x"`, "1", 1))
	builds := change.Service{Running: changetest.Running{OnBuild: func(context.Context, string) error { return nil }}}
	for source, want := range map[string]bool{good: true, wrong: false} {
		err := (&task{args: &fixArgs{}, copy: change.SourceCopy{Source: source}}).prove(t.Context(), host.Local{}, builds, wrong)
		if got := errors.As(err, &defect); got != want || want && !strings.Contains(err.Error(), "Printf") {
			t.Errorf("vet of %s: %v", filepath.Base(source), err)
		}
	}
}
