package httpcache

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestConformance runs the conformance suite of kinds with a real nginx and a real
// Varnish.
func TestConformance(t *testing.T) {
	tier.Slow(t)
	t.Parallel()
	s := newTestSite(t)
	s.conform(t, "varnish", inVarnish, "the same answer again: true, varnish runs: true")
}

// TestDirectConformance runs the suite for the act that takes a Varnish out, on a site
// with one.
func TestDirectConformance(t *testing.T) {
	tier.Slow(t)
	t.Parallel()
	s := newTestSite(t)
	if changetest.ChildDir() == "" {
		s.apply(t, inVarnish)
	}
	s.conform(t, "direct", remedy("direct"), "the same answer again: false, varnish runs: false")
}

// inVarnish is a remedy with each part of a VCL.
var inVarnish = remedy("varnish", "path", "/article/:id", "valid", "100s", "cookies", "ignore", "writes", "purge", "esi", "on")

// conform runs the suite for an act.
func (s *testSite) conform(t *testing.T, act string, r iikanji.Remedy, effect string) {
	t.Helper()
	changetest.Run(t, changetest.Case{
		Dir: s.dir, Open: s.open, State: s.state,
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.Freshness, iikanji.TestedOnly, iikanji.Privacy, iikanji.Behaviour}},
		Remedies: map[string]iikanji.Remedy{act: r},
		Effects:  map[string]string{act: effect},
		Serves: func() error {
			resp, _, err := s.get("/")
			if err == nil && resp.StatusCode != 200 {
				err = fmt.Errorf("status %s", resp.Status)
			}
			return err
		},
	})
}

// state is all files of the configuration, whether an answer is sent again, and
// whether Varnish runs.
func (s *testSite) state() (string, error) {
	conf, err := changetest.Tree(filepath.Join(s.dir, "conf"))
	if err != nil {
		return "", err
	}
	_, first, err := s.get("/article/1")
	if err != nil {
		return "", err
	}
	_, second, err := s.get("/article/1")
	runs := servertest.Accepts(s.cacheAddress()) == nil
	return fmt.Sprintf("%sthe same answer again: %v, varnish runs: %v", conf, first == second, runs), err
}
