package observe

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestObserveDigestsUnderLoad checks that the server's sums by digest replace a slow log that
// does not see the run. They are cut to the load and proven like a log. They are not
// used if the slow log sees the run.
func TestObserveDigestsUnderLoad(t *testing.T) {
	tier.Slow(t)
	srv, err := factstest.Start(t.Context(), "", "--performance-schema=ON", "--performance-schema-consumer-statements-digest=ON", "--performance-schema-instrument=statement/%=ON")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	observed := func(logs bool) (*Observation, Sensor) {
		t.Helper()
		s := newStage(t, srv)
		if !logs {
			s.w.Target.Services[0].Logs = nil
		}
		s.requests(t, 30, "before")
		o, err := Observe(t.Context(), s.w)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		s.app.SetMaxIdleConns(0) // a connection from before is not logged
		if err := s.app.Ping(); err != nil {
			t.Fatal(err)
		}
		o.Phase(scenario.Load, true)
		s.requests(t, 60, "within")
		o.Phase(scenario.Load, false)
		ob, err := o.Finish(t.Context(), &iikanji.Run{Steps: []iikanji.StepStat{{Count: 60}}, Took: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range ob.Sensors {
			if x.Source == iikanji.Slow {
				return ob, x
			}
		}
		t.Fatal("no sensor of statements")
		return nil, Sensor{}
	}
	ob, x := observed(false)
	if !x.Green || !strings.HasPrefix(x.Name, "performance_schema") {
		t.Fatalf("without a slow log: %+v", x)
	}
	seen := int64(0)
	for _, p := range ob.Profiles {
		for _, r := range p.Rows {
			if p.Source == iikanji.Slow && strings.HasPrefix(r.Key, "select ?") {
				seen += r.Count
				if r.Total <= 0 || r.Mean != r.Total/time.Duration(r.Count) || r.Max != 0 {
					t.Errorf("row %+v", r)
				}
			}
		}
	}
	if seen < 59 || seen > 60 { // the server counts the last one after it has answered
		t.Errorf("%d of the load's 60 statements are counted", seen)
	}
	if _, x = observed(true); !x.Green || strings.HasPrefix(x.Name, "performance_schema") {
		t.Errorf("with a slow log: %+v", x)
	}
}
