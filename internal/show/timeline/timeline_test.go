package timeline_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/summary/summarytest"
	"github.com/iikanji/iikanji/internal/show/timeline"
)

// observedRun is an observed run of the toy history.
const observedRun = 9

// raw are requests: the first is alone, the second and the third overlap, the
// fourth failed, and five of one step run at the same time.
var raw = []summarytest.Raw{{Step: 0, Start: 0, End: 100}, {Step: 0, Start: 200, End: 300}, {Step: 1, Start: 250, End: 350}, {Step: 1, Start: 1200, End: 1900, Fault: iikanji.FaultStatus},
	{Step: 0, Start: 2000, End: 2100}, {Step: 0, Start: 2000, End: 2100}, {Step: 0, Start: 2000, End: 2100}, {Step: 0, Start: 2000, End: 2100}, {Step: 0, Start: 2000, End: 2100}}

var statements = []summarytest.RawStatement{
	{From: 20, To: 30, Took: 5, Thread: 1, SQL: "SELECT 1"},
	{From: 210, To: 220, Took: 5, Thread: 2, SQL: "BEGIN"},            // before the third began
	{From: 270, To: 280, Took: 5, Thread: 2, SQL: "UPDATE t SET a=1"}, // in its transaction
	{From: 275, To: 285, Took: 5, Thread: 3, SQL: "SELECT 2"},         // of the second or the third
	{From: 290, To: 295, Took: 5, Thread: 2, SQL: "COMMIT"},
	{From: 500, To: 510, Took: 5, Thread: 1, SQL: "SELECT 3"}, // of no request
	{From: 2050, To: 2060, Took: 5, Thread: 1, SQL: "SELECT 4"},
}

func open(t *testing.T, growth bool) (*history.History, string) {
	t.Helper()
	dir := summarytest.Make(t)
	summarytest.AddRaw(t, dir, observedRun, raw, statements, growth)
	h, err := history.View(dir)
	if err != nil {
		t.Fatal(err)
	}
	return h, dir
}

// learned is the model of the run.
func learned(t *testing.T, h *history.History) *timeline.Model {
	t.Helper()
	m, err := timeline.Learn(t.Context(), h, observedRun, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// texts are the statements of a timeline with their certainty.
func texts(l *timeline.Timeline) (all []string) {
	for _, s := range l.Statements {
		all = append(all, fmt.Sprintf("%s %s", s.Certainty, s.Text))
	}
	return all
}

func TestCertainAndLikely(t *testing.T) {
	h, _ := open(t, true)
	for _, c := range []struct {
		number int
		want   string
	}{
		{1, "[certain SELECT 1]"},
		{2, "[certain BEGIN certain UPDATE t SET a=1 possible SELECT 2 certain COMMIT]"},
		{3, "[possible SELECT 2]"}, // UPDATE and COMMIT are of the second one's transaction
		{4, "[]"},
		{5, "[possible SELECT 4]"}, // one of five
	} {
		l, err := timeline.Of(t.Context(), h, observedRun, c.number, learned(t, h))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(texts(l)); got != c.want {
			t.Errorf("request %d has %s, want %s", c.number, got, c.want)
		}
		for _, s := range l.Statements {
			if s.To.After(l.Request.End) || s.From.Before(l.Request.Start) || s.To.Before(s.From) {
				t.Errorf("request %d: %q from %s to %s", c.number, s.Text, s.From, s.To)
			}
		}
	}
}

// TestRoutes: requests that were alone show which step sends a digest, and that decides
// between requests of two steps.
func TestRoutes(t *testing.T) {
	dir := summarytest.Make(t)
	var requests []summarytest.Raw
	var ran []summarytest.RawStatement
	for i := range 20 { // one step after the other; the second one sends the statement
		requests = append(requests, summarytest.Raw{Step: 0, Start: 100 * i, End: 100*i + 40}, summarytest.Raw{Step: 1, Start: 100*i + 50, End: 100*i + 90})
		ran = append(ran, summarytest.RawStatement{From: 100*i + 60, To: 100*i + 70, Took: 5, Thread: i % 3, SQL: "SELECT a FROM t"})
	}
	requests = append(requests, summarytest.Raw{Step: 0, Start: 3000, End: 3040}, summarytest.Raw{Step: 1, Start: 3000, End: 3040})
	ran = append(ran, summarytest.RawStatement{From: 3010, To: 3020, Took: 5, Thread: 9, SQL: "SELECT a FROM t"})
	summarytest.AddRaw(t, dir, observedRun, requests, ran, true)
	h, err := history.View(dir)
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int]string{2: "[certain SELECT a FROM t]", 41: "[]", 42: "[likely SELECT a FROM t]"} {
		l, err := timeline.Of(t.Context(), h, observedRun, number, learned(t, h))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(texts(l)); got != want {
			t.Errorf("request %d has %s, want %s", number, got, want)
		}
	}
}

// TestConnection: two steps send the same statements at the same time. The first one
// of each request is certain, and its connection shows the second one.
func TestConnection(t *testing.T) {
	dir := summarytest.Make(t)
	var requests []summarytest.Raw
	var ran []summarytest.RawStatement
	for i := range 30 {
		at := 300 * i
		requests = append(requests, summarytest.Raw{Step: 0, Start: at, End: at + 100}, summarytest.Raw{Step: 0, Start: at + 40, End: at + 140})
		ran = append(ran, summarytest.RawStatement{From: at + 10, To: at + 20, Took: 2, Thread: 1, SQL: "SELECT a FROM t"},
			summarytest.RawStatement{From: at + 60, To: at + 70, Took: 2, Thread: 1, SQL: "SELECT b FROM t"},
			summarytest.RawStatement{From: at + 62, To: at + 72, Took: 2, Thread: 2, SQL: "SELECT b FROM t"},
			summarytest.RawStatement{From: at + 120, To: at + 130, Took: 2, Thread: 2, SQL: "SELECT a FROM t"})
	}
	summarytest.AddRaw(t, dir, observedRun, requests, ran, true)
	h, err := history.View(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := timeline.Of(t.Context(), h, observedRun, 21, learned(t, h))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range l.Statements {
		if wrong := s.Thread == 2; wrong && s.Share > 0.4 || !wrong && s.Share < 0.6 {
			t.Errorf("connection %d, %q: %s, %.2f, %s", s.Thread, s.Text, s.Certainty, s.Share, s.Why)
		}
	}
	if len(l.Statements) < 2 {
		t.Errorf("statements %q", texts(l))
	}
}

// TestCoarse: without the times of the log's growth, only its seconds are known.
func TestCoarse(t *testing.T) {
	h, _ := open(t, false)
	l, err := timeline.Of(t.Context(), h, observedRun, 1, learned(t, h))
	if err != nil {
		t.Fatal(err)
	}
	if !l.Coarse || !l.Logged || len(l.Statements)+l.Others != 6 || len(l.Statements) < 3 {
		t.Errorf("%+v", l)
	}
	for _, s := range l.Statements {
		if s.Certainty == timeline.Certain {
			t.Errorf("%q is certain, although three requests were in its second", s.Text)
		}
	}
}

func TestSeconds(t *testing.T) {
	h, dir := open(t, true)
	ticks := &iikanji.Ticks{From: summarytest.RawBegan, Step: 500 * time.Millisecond, Counts: []int64{2000, 0, 1000}}
	profiles := []iikanji.Profile{{Source: iikanji.Slow, Rows: []iikanji.Row{{Count: 3, Mean: 100 * time.Millisecond, Ticks: ticks}}}}
	check := func() {
		t.Helper()
		s, err := timeline.SecondsOf(h, observedRun, profiles)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.Answers, s.Errors, s.Query, s.P50, s.P99); got != "[3 1 5] [0 1 0] [0.2 0.1 0] [100 700 100] [100 700 100]" {
			t.Error(got)
		}
	}
	check()
	// The samples of old runs are packed.
	path := filepath.Join(dir, "runs", fmt.Sprintf("%04d", observedRun), "samples.bin")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path+".zst", z.EncodeAll(b, nil), 0o600), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	check()
	if _, err := timeline.SecondsOf(h, 1, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run without samples: %v", err)
	}
}

func TestSlowest(t *testing.T) {
	h, _ := open(t, true)
	all, err := timeline.Slowest(h, observedRun, func(string) bool { return true }, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[0].Number != 4 || all[0].Took() != 700*time.Millisecond || all[0].Fault != "status" || all[1].Number != 1 || all[2].Number != 2 {
		t.Errorf("%+v", all)
	}
	some, err := timeline.Slowest(h, observedRun, func(step string) bool { return step == summarytest.RawSteps[1] }, 10)
	if err != nil || len(some) != 2 || some[1].Number != 3 {
		t.Errorf("%+v, %v", some, err)
	}
	if _, err := timeline.Of(t.Context(), h, observedRun, 99, learned(t, h)); !errors.Is(err, timeline.ErrNoRequest) {
		t.Errorf("request 99: %v", err)
	}
}

// TestSenders: a digest that is executed once per request of one step is found, and
// not attributed to a step whose requests come at other times.
func TestSenders(t *testing.T) {
	dir := summarytest.Make(t)
	var requests []summarytest.Raw
	counts := make([]int64, 200)
	for i := range 300 { // irregular times, which differ by step
		at := i*i*37%9800 + i%7
		requests = append(requests, summarytest.Raw{Step: 0, Start: at, End: at + 20})
		counts[at/50] += 1000
		at = (i*i*i*91 + 13*i) % 9800
		requests = append(requests, summarytest.Raw{Step: 1, Start: at, End: at + 20})
	}
	summarytest.AddRaw(t, dir, observedRun, requests, nil, true)
	h, err := history.View(dir)
	if err != nil {
		t.Fatal(err)
	}
	row := iikanji.Row{Count: 300, Total: time.Second, Query: &iikanji.SQLRow{Digest: "d1"}, Ticks: &iikanji.Ticks{From: summarytest.RawBegan, Step: 50 * time.Millisecond, Counts: counts}}
	got, err := timeline.Senders(h, observedRun, []iikanji.Profile{{Source: iikanji.Slow, Rows: []iikanji.Row{row}}})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got["d1"]) != fmt.Sprint([]string{summarytest.RawSteps[0]}) {
		t.Errorf("senders %q", got)
	}
}
