package httpcache

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/changetest"
)

// TestConformance runs the conformance suite of kinds with a real nginx and a real
// Varnish.
func TestConformance(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	changetest.Run(t, changetest.Case{
		Dir: s.dir, Open: s.open, State: s.state,
		Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.Freshness, iikanji.TestedOnly, iikanji.Privacy, iikanji.Behaviour}},
		Remedies: map[string]iikanji.Remedy{
			"varnish": remedy("varnish", "path", "/article/:id", "valid", "100s", "cookies", "ignore", "writes", "purge", "esi", "on"),
		},
		Effects: map[string]string{"varnish": "the same answer again: true, varnish runs: true"},
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
	runs := dial(s.cache) == nil
	return fmt.Sprintf("%sthe same answer again: %v, varnish runs: %v", conf, first == second, runs), err
}
