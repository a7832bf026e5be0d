package field

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A Loader loads a site once per call, with every answer checked.
type Loader interface {
	Load(ctx context.Context, l Load) (*iikanji.Run, error)
}

// A Load describes one run of a Loader.
type Load struct {
	Run  iikanji.RunID // number of the run in the history; 0 for none
	Time time.Duration // of the load phase; 0 means the loader's own
	// CheckOnly ends the run after initialize and the checks, before any load.
	CheckOnly bool
	Seed      uint64 // 0 means the loader's own
	// Samples is a folder for the samples of every request; "" keeps none.
	Samples string
	// Seconds are filled in with the answers by second; nil counts none. Loaders other
	// than Scenario count none.
	Seconds *bench.Seconds
	// Requests keeps a sample of the requests; nil keeps none. Loaders other than
	// Scenario keep none.
	Requests *bench.RequestSample
	Heads    bool // keep headers of clients beside the samples, for an observed run
	Progress func(bench.Progress)
	// OnPhase is called at the begin and end of each phase of the run.
	OnPhase func(p scenario.Phase, begins bool)
}

// A Scenario loads a site by the scenario of an arena, with iikanji's own engine.
type Scenario struct {
	// New makes the scenario of one run: a scenario has the state of its run.
	New func(checkOnly bool) (scenario.Scenario, error)
	// URL is the URL of the site.
	URL  string
	Seed uint64
	CPUs []int // of the engine; nil means all
	// AnyCertificate accepts any certificate of an https site.
	AnyCertificate bool
	// CA returns the authorities of an https site; nil means the machine's. It is asked
	// before each run, because a site that starts again may have a new certificate.
	CA    func() (*x509.CertPool, error)
	Place iikanji.Placement
}

var _ Loader = (*Scenario)(nil)

// Load implements Loader.
func (s *Scenario) Load(ctx context.Context, l Load) (*iikanji.Run, error) {
	sc, err := s.New(l.CheckOnly)
	if err != nil {
		return nil, fmt.Errorf("making the benchmarker: %w", err)
	}
	seed := s.Seed
	if l.Seed != 0 {
		seed = l.Seed
	}
	var ca *x509.CertPool
	if s.CA != nil {
		if ca, err = s.CA(); err != nil {
			return nil, err
		}
	}
	run, err := bench.Run(ctx, sc, bench.Options{URL: s.URL, CA: ca, Seed: seed, Load: l.Time, NoLoad: l.CheckOnly, CPUs: s.CPUs,
		SamplesDir: l.Samples, Seconds: l.Seconds, KeepHeads: l.Heads, Requests: l.Requests, InsecureTLS: s.AnyCertificate, Progress: l.Progress, OnPhase: l.OnPhase})
	if err != nil {
		return nil, err
	}
	run.Place = s.Place
	return run, nil
}
