package loader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/site/target"
)

func command(t *testing.T, text string) *Command {
	t.Helper()
	return &Command{Site: "shop", URL: "http://127.0.0.1:1", Now: time.Now, Bench: target.Bench{Command: text, Dir: t.TempDir()}}
}

func load(t *testing.T, l field.Loader, spec field.Load) *iikanji.Run {
	t.Helper()
	run, err := l.Load(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestCommand(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		change  func(*target.Bench)
		outcome iikanji.Outcome
		score   float64
		reason  string
	}{
		"score":                   {text: "echo score: 12", outcome: iikanji.Passed, score: 12},
		"no score":                {text: "echo hello", outcome: iikanji.Failed, reason: "the output has no score; its last lines: hello"},
		"nothing":                 {text: "true", outcome: iikanji.Failed, reason: "the output has no score, and printed nothing"},
		"exit status":             {text: "echo score: 12; echo broken >&2; exit 3", outcome: iikanji.Failed, reason: "ended with status 3; its last lines: broken | score: 12"},
		"allowed status":          {text: "echo score: 12; exit 3", change: func(b *target.Bench) { b.Exit = []int{3} }, outcome: iikanji.Passed, score: 12},
		"killed":                  {text: "echo score: 12; kill -9 $$", outcome: iikanji.Failed, reason: "ended with status -1"},
		"time limit":              {text: "echo score: 12; sleep 60", change: func(b *target.Bench) { b.Timeout = target.Duration(200 * time.Millisecond) }, outcome: iikanji.Failed, reason: "time limit"},
		"no such command":         {text: "/no/such/command", outcome: iikanji.Failed, reason: "ended with status 127"},
		"did not pass":            {text: `echo '{"score": 5, "pass": false, "messages": ["a", "a", "b"]}'`, outcome: iikanji.Failed, reason: "pass is false"},
		"environment":             {text: `echo "score: $IIKANJI_SECONDS$N $IIKANJI_URL"`, change: func(b *target.Bench) { b.Env = map[string]string{"N": "5"} }, outcome: iikanji.Passed, score: 605},
		"terminal escapes":        {text: `printf '\033]0;x\007nothing\n'`, outcome: iikanji.Failed, reason: "its last lines: ]0;x nothing"},
		"score on standard error": {text: "echo score: 7 >&2", outcome: iikanji.Passed, score: 7},
	} {
		t.Run(name, func(t *testing.T) {
			l := command(t, c.text)
			if c.change != nil {
				c.change(&l.Bench)
			}
			run := load(t, l, field.Load{})
			if run.Outcome != c.outcome || run.Score != c.score {
				t.Errorf("%s, score %v: %q", run.Outcome, run.Score, run.Reasons)
			}
			if text := strings.Join(run.Reasons, "; "); !strings.Contains(text, c.reason) || strings.ContainsAny(text, "\x1b\x07") {
				t.Errorf("reasons %q, want %q", text, c.reason)
			}
			if name == "did not pass" && (len(run.Faults) != 2 || run.Faults[0].Count != 2) {
				t.Errorf("faults: %+v", run.Faults)
			}
		})
	}
}

// TestPhases expects the load to begin with the first request that is not
// initialize, and to end with the command.
func TestPhases(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(log, []byte("GET /old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The command goes on when the begin or the end of the load was seen.
	wait := func(name string) string { return "; until [ -e " + log + "." + name + " ]; do sleep 0.02; done; " }
	saw := func(begins bool) {
		name := map[bool]string{true: ".began", false: ".ended"}[begins]
		if err := os.WriteFile(log+name, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	l := command(t, `sleep 0.1; echo 'POST /initialize' >>`+log+`; sleep 0.2; echo 'GET /a' >>`+log+wait("began")+`sleep 0.3; echo 'GET /b' >>`+log+`; echo score: 3`)
	l.AccessLog = func() string { return log }
	var seen []bool
	began := time.Now()
	var at time.Duration
	run := load(t, l, field.Load{OnPhase: func(p scenario.Phase, begins bool) {
		if p == scenario.Load {
			if seen = append(seen, begins); begins {
				at = time.Since(began)
			}
			saw(begins)
		}
	}, Samples: t.TempDir()})
	if !slices.Equal(seen, []bool{true, false}) || at < 250*time.Millisecond {
		t.Errorf("phases %v, the load began after %v", seen, at)
	}
	if run.Outcome != iikanji.Passed || run.Took < 200*time.Millisecond || len(run.Warnings) > 0 {
		t.Errorf("%s, %v of load, %q", run.Outcome, run.Took, run.Warnings)
	}

	l.Bench.Command = "echo score: 3"
	seen = nil
	if run = load(t, l, field.Load{OnPhase: func(_ scenario.Phase, begins bool) { seen = append(seen, begins) }}); len(seen) != 0 || len(run.Warnings) != 1 {
		t.Errorf("without a request: phases %v, warnings %q", seen, run.Warnings)
	}

	for _, name := range []string{".began", ".ended"} {
		if err := os.RemoveAll(log + name); err != nil {
			t.Fatal(err)
		}
	}
	l.Bench.Command = "echo begin" + wait("began") + "sleep 0.2; echo end" + wait("ended") + "sleep 0.3; echo score: 3"
	l.Bench.LoadBegins, l.Bench.LoadEnds = "^begin$", "^end$"
	began = time.Now()
	run = load(t, l, field.Load{OnPhase: func(p scenario.Phase, begins bool) {
		if p == scenario.Load {
			saw(begins)
		}
	}})
	if rest := time.Since(began) - run.Took; run.Took < 150*time.Millisecond || rest < 300*time.Millisecond {
		t.Errorf("marked: %v of load, %v before and after it", run.Took, rest)
	}
}

func TestOutputIsKept(t *testing.T) {
	dir := t.TempDir()
	load(t, command(t, "echo one >&2; echo score: 2"), field.Load{Samples: dir})
	info, err := os.Stat(filepath.Join(dir, outputFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, outputFile)); err != nil || string(b) != "one\n\nscore: 2\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(150*time.Millisecond, cancel)
	began := time.Now()
	run, err := command(t, "sleep 300 & sleep 300").Load(ctx, field.Load{})
	if err != nil || run.Outcome != iikanji.Interrupted || !run.Partial || time.Since(began) > 3*time.Minute {
		t.Errorf("%+v, %v after %v", run, err, time.Since(began))
	}
}

func TestPrepareAndCheck(t *testing.T) {
	prepared := 0
	l := command(t, "echo score: 1")
	l.Prepare = func(context.Context) error { prepared++; return nil }
	if run := load(t, l, field.Load{}); prepared != 1 || run.Phases[0].Phase != "reset" {
		t.Errorf("prepared %d times, phases %+v", prepared, run.Phases)
	}
	if run := load(t, l, field.Load{CheckOnly: true}); prepared != 2 || run.Outcome != iikanji.Passed || run.Score != 0 {
		t.Errorf("check only: %s, %d", run.Outcome, prepared)
	}
	l.Bench.Initialize = "echo no >&2; exit 1"
	if run := load(t, l, field.Load{CheckOnly: true}); run.Outcome != iikanji.Failed || !strings.Contains(run.Reasons[0], "initialize: ") {
		t.Errorf("a failed initialize: %s, %q", run.Outcome, run.Reasons)
	}
	l.Prepare = func(context.Context) error { return io.ErrUnexpectedEOF }
	if _, err := l.Load(t.Context(), field.Load{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a reset that fails: %v", err)
	}
}

func TestMaxRuns(t *testing.T) {
	l := command(t, "echo score: 10")
	l.Bench.MaxRuns = 3
	runs := 2
	l.Past = func() ([]float64, int, error) { return []float64{10, 10, 10, 10}, runs, nil }
	if run := load(t, l, field.Load{}); len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "cap") {
		t.Errorf("five equal scores: %q", run.Warnings)
	}
	runs = 3
	var spent *SpentError
	if _, err := l.Load(t.Context(), field.Load{}); !errors.As(err, &spent) || len(spent.Hints()) == 0 {
		t.Errorf("a fourth run: %v", err)
	}
	if run := load(t, l, field.Load{CheckOnly: true}); run.Outcome != iikanji.Passed {
		t.Error("a check without load counts as a run")
	}
}

func TestManual(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in, typed := io.Pipe()
	var asked bytes.Buffer
	l := &Manual{Command: Command{Site: "shop", Now: time.Now, AccessLog: func() string { return log }}, In: in, Ask: &asked, Quiet: 100 * time.Millisecond}
	began, ended := make(chan struct{}), make(chan struct{})
	go func() {
		for n, seen := 1, false; !seen; n++ { // a slow machine begins late to look at the log
			_ = os.WriteFile(log, []byte(strings.Repeat("GET /a\n", n)), 0o600)
			select {
			case <-began:
				seen = true
			case <-time.After(20 * time.Millisecond):
			}
		}
		<-ended // the log is quiet
		time.Sleep(400 * time.Millisecond)
		_, _ = io.WriteString(typed, "what?\n12,500\n")
	}()
	from := time.Now()
	run := load(t, l, field.Load{OnPhase: func(_ scenario.Phase, begins bool) {
		if begins {
			close(began)
		} else {
			close(ended)
		}
	}})
	if rest := time.Since(from) - run.Took; run.Outcome != iikanji.Passed || run.Score != 12500 || rest < 400*time.Millisecond || len(run.Warnings) > 0 {
		t.Errorf("%s, score %v, %v of load, %v before and after it, %q", run.Outcome, run.Score, run.Took, rest, run.Warnings)
	}
	if !strings.Contains(asked.String(), "want a number") {
		t.Errorf("asked: %q", asked.String())
	}
	l.In = strings.NewReader("fail checks failed\n")
	if run := load(t, l, field.Load{}); run.Outcome != iikanji.Failed || !strings.Contains(run.Reasons[0], "checks failed") {
		t.Errorf("%s, %q", run.Outcome, run.Reasons)
	}
	l.In = strings.NewReader("")
	if _, err := l.Load(t.Context(), field.Load{}); err == nil {
		t.Error("nothing was typed, and there is a score")
	}
}
