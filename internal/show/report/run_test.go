package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with testdata/name and writes a different result to name.got.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		if err := os.WriteFile(path+".got", got, 0o666); err != nil {
			t.Error(err)
		}
		t.Errorf("%s differs; see %s.got, or run with -update", name, path)
	}
}

func sampleRun() *iikanji.Run {
	return &iikanji.Run{
		Version: 1, ID: 7, Scenario: "isucondition", Seed: 1, Outcome: iikanji.Failed, Raw: 1430, Deducted: 12, Score: 0,
		Reasons: []string{"more than 100 errors: 101 (the rules allow 100), the run stopped after 12.3 s of 60 s of load"},
		Points:  []iikanji.PointStat{{Event: "info conditions read", Count: 1234, Points: 480}, {Event: "graph of a whole day, good", Count: 3, Points: 450}},
		Gauges:  []iikanji.Gauge{{Name: "users", Value: 9}, {Name: "virtual days", Value: 20.8}},
		Steps: []iikanji.StepStat{
			{Step: "GET /api/isu", Count: 12345, Errors: 12, P50: 12 * time.Millisecond, P90: 40 * time.Millisecond, P99: 900 * time.Millisecond, Max: time.Second},
			{Step: "never asked"},
		},
		Faults: []iikanji.Fault{{Kind: iikanji.FaultCheck, Step: "GET /api/trend", Check: "trend-backwards", Message: "ISU 3 went back from 1628434000 to 1628433000", Count: 101, Fatal: true,
			Example: &iikanji.Example{Request: "GET /api/trend", Status: 200, Body: "[{\"character\":\"いじっぱり\x1b[2J\"" + strings.Repeat("x", 200)}}},
		Phases: []iikanji.PhaseStat{{Phase: "initialize", Took: 612 * time.Millisecond}, {Phase: "prepare", Took: 5 * time.Second}, {Phase: "load", Took: 12300 * time.Millisecond}},
		Usage: []iikanji.Usage{{Who: "database", User: 9 * time.Second, System: 2 * time.Second, Share: 0.44, PeakRS: 180 << 20},
			{Who: "generator", User: 2 * time.Second, System: time.Second, Share: 0.12}},
		Place:    iikanji.Placement{Cores: 2, Generator: "0", Stack: "1"},
		Load:     iikanji.Generator{CPUShare: 0.24, Cores: 1, LagP99: 400 * time.Microsecond, Requests: 45678, Dials: 40, PeakConns: 38, PeakPorts: 0.001, Void: true, Why: "the generator used 96 % of its CPU: what it measured is itself"},
		Warnings: []string{"steal 3 % during the load: another machine used this one's processors, so compare only runs that were interleaved"},
	}
}

func TestRunText(t *testing.T) {
	var b bytes.Buffer
	if err := RunText(&b, sampleRun(), 80); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if Width(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("over 80 columns: %s", line)
		}
	}
	golden(t, "run.txt", b.Bytes())
}

func TestProgressPlainAndDrawn(t *testing.T) {
	now := time.Unix(0, 0)
	clock, forty := func() time.Time { return now }, func() int { return 40 }
	var plain, drawn bytes.Buffer
	p, d := NewProgress(&plain, false, forty, clock), NewProgress(&drawn, true, forty, clock)
	for i := range 31 {
		now = time.Unix(int64(i+100), 0)
		p.Status("%d of 30", i)
		d.Status("%d of 30", i)
	}
	p.Done()
	d.Say("ready")
	d.Done()
	if got := plain.String(); got != "0 of 30\n10 of 30\n20 of 30\n30 of 30\n" {
		t.Errorf("plain: %q", got)
	}
	if got := screenOf(drawn.String()); got != "ready\n" {
		t.Errorf("drawn: %q shows %q", drawn.String(), got)
	}
}

// screenOf is what a terminal shows of drawings that only write lines, move up over
// them and erase.
func screenOf(drawn string) string {
	shown, at := []string{}, 0
	for drawn != "" {
		var up int
		if _, err := fmt.Sscanf(drawn, "\x1b[%dA\r\x1b[J", &up); err == nil {
			at = max(at-up, 0)
			shown = shown[:at]
			drawn = drawn[strings.Index(drawn, "J")+1:]
			continue
		}
		line, rest, _ := strings.Cut(drawn, "\n")
		shown, at, drawn = append(shown[:at], line), at+1, rest
	}
	return strings.Join(shown, "\n") + "\n"
}
