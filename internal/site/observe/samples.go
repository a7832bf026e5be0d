package observe

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
)

const (
	// pairWithin is the longest time between two answers that are compared. Nearly
	// all pages that are the same for all users stay the same for that long.
	pairWithin = 200 * time.Millisecond
	// lastPart is the share of the load, at its end, whose smallest and largest
	// sizes are kept.
	lastPart = 0.3
)

// addClients adds to the series of routes how the answers to different clients
// differed, from the load generator's samples in dir. Steps and routes are
// matched by their names. A run without samples adds nothing.
func addClients(series map[string]*fact.Series, dir string) error {
	if dir == "" {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, bench.SamplesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the samples: %w", err)
	}
	defer f.Close()
	r, err := bench.NewSampleReader(f)
	if err != nil {
		return err
	}
	byStep := map[string][]bench.Sample{}
	for r.Scan() {
		s := r.Sample()
		step := r.Head().Steps[s.Step]
		if series[step] != nil && r.Head().Phases[s.Phase] == "load" && s.Status == 200 && !s.Cached && !s.NotMod {
			byStep[step] = append(byStep[step], s)
		}
	}
	for step, samples := range byStep {
		compare(series[step], samples)
	}
	return r.Err()
}

// compare compares each answer with the one before it.
func compare(s *fact.Series, samples []bench.Sample) {
	slices.SortFunc(samples, func(a, b bench.Sample) int { return cmp.Compare(a.End, b.End) })
	clients := map[uint32]bool{}
	first, last := samples[0].End, samples[len(samples)-1].End
	from := last - time.Duration(lastPart*float64(last-first))
	for i, x := range samples {
		clients[x.Client] = true
		if x.End >= from {
			if n := iikanji.Bytes(x.Bytes); s.Most == 0 {
				s.Least, s.Most = n, n
			} else {
				s.Least, s.Most = min(s.Least, n), max(s.Most, n)
			}
		}
		if i > 0 && i+1 < len(samples) && x.Bytes != samples[i-1].Bytes && x.Bytes == samples[i+1].Bytes {
			s.Changes++
		}
		if i == 0 || x.Client == samples[i-1].Client || x.End-samples[i-1].End > pairWithin {
			continue
		}
		s.Pairs++
		if x.Bytes == samples[i-1].Bytes {
			s.Alike++
		}
	}
	s.Clients = int64(len(clients))
}

// takeClients reads the headers that the load generator kept in dir, and removes
// the file: it holds credentials of clients, which must not stay in the history.
func takeClients(dir string) (facts.Clients, error) {
	var c facts.Clients
	if dir == "" {
		return c, nil
	}
	path := filepath.Join(dir, bench.HeadsFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	var heads bench.Heads
	err = errors.Join(err, os.Remove(path))
	if err == nil {
		err = json.Unmarshal(text, &heads)
	}
	if err != nil {
		return c, fmt.Errorf("reading the headers of the run's clients: %w", err)
	}
	return facts.Clients{Users: heads.Clients, Varied: heads.Varied}, nil
}
