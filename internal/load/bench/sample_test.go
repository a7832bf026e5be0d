package bench

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

func TestSampleRoundTrip(t *testing.T) {
	x := exchange{due: 1, start: 2, end: 1 << 40, step: 7, client: 9, status: 200, fault: iikanji.FaultBody, received: 1 << 40, cached: true, quiet: true}
	b := appendSample(nil, &x, numLoad)
	if len(b) != sampleSize {
		t.Fatalf("%d bytes", len(b))
	}
	want := Sample{Due: 1, Start: 2, End: 1 << 40, Bytes: 1<<32 - 1, Client: 9, Step: 7, Status: 200, Fault: iikanji.FaultBody, Cached: true, Quiet: true, Phase: numLoad}
	if got := parseSample(b); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSamplesOfARun: the file holds one sample per exchange that the run counted.
func TestSamplesOfARun(t *testing.T) {
	url := web(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("body")) })
	dir := filepath.Join(t.TempDir(), "new", "folder")
	sc := &script{
		prepare: func(ctx context.Context, s scenario.Session) error {
			res, err := s.NewClient(scenario.ClientOptions{}).Do(ctx, &scenario.Request{Path: "/"})
			res.Release()
			return err
		},
		load: users(4, func(ctx context.Context, s scenario.Session, c scenario.Client) {
			res, err := c.Do(ctx, &scenario.Request{Step: 1, Path: "/"})
			s.Report(err)
			res.Release()
		})}
	run, err := Run(t.Context(), sc, Options{URL: url, SamplesDir: dir})
	if err != nil || run.Outcome == iikanji.Failed {
		t.Fatalf("%v %+v", err, run)
	}
	f, err := os.Open(filepath.Join(dir, SamplesFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewSampleReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Head(); h.Scenario != "test" || strings.Join(h.Steps, " ") != "get post" || !h.Began.Equal(run.Began) {
		t.Errorf("head %+v", h)
	}
	count := make(map[string]int64)
	for r.Scan() {
		s := r.Sample()
		count[r.Head().Phases[s.Phase]+" "+r.Head().Steps[s.Step]+" "+s.Fault.String()]++
		if s.Due > s.Start || s.Start > s.End || s.End > time.Minute || s.Client == 0 {
			t.Fatalf("sample %+v", s)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if count["prepare get unknown"] != 1 || count["load post unknown"] != run.Steps[1].Count || count["load post cut"] != run.Steps[1].Cut || run.Steps[1].Count < 1 {
		t.Errorf("%v; the run has %+v", count, run.Steps)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

// users runs loops of n browsers.
func users(n int, do func(ctx context.Context, s scenario.Session, c scenario.Client)) func(ctx context.Context, s scenario.Session) error {
	return func(_ context.Context, s scenario.Session) error {
		for range n {
			s.Go("user", func(ctx context.Context) {
				c := s.NewClient(scenario.ClientOptions{})
				defer c.Close()
				for ctx.Err() == nil {
					do(ctx, s, c)
				}
			})
		}
		return nil
	}
}

// TestSamplesLost: a folder that cannot be created is an error before the run; a
// full disk during the run is a warning.
func TestSamplesLost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), &script{}, Options{URL: "http://127.0.0.1:1", SamplesDir: filepath.Join(file, "x")}); err == nil {
		t.Error("no error")
	}
	dir := t.TempDir()
	w := &sampleWriter{path: filepath.Join(dir, "a"), part: filepath.Join(dir, "b"), blocks: make(chan []byte, maxBlocks), done: make(chan struct{})}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.file = full
	go w.write()
	shards := newShards(2, 1, w)
	for i := range 5 * samplesPerBlock {
		shards[i%2].record(&exchange{}, numLoad)
	}
	warning := w.close(shards)
	if !strings.Contains(warning, "no space left") {
		t.Errorf("warning %q", warning)
	}
}

func FuzzSampleReader(f *testing.F) {
	head := `{"format":"iikanji-samples","version":1,"record":40,"scenario":"x","steps":["a","b"],"phases":["load"]}` + "\n"
	f.Add([]byte(head + string(appendSample(nil, &exchange{step: 1, end: 5}, 0))))
	f.Add([]byte(head + "short"))
	f.Add([]byte(strings.Replace(head, "40", "-1", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewSampleReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		for n := 0; r.Scan(); n++ {
			if n > len(data)/sampleSize {
				t.Fatal("more samples than there are bytes")
			}
			_ = r.Head().Steps[r.Sample().Step]
		}
	})
}
