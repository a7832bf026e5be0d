package targettest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

func TestStartAndStop(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pids := []int{s.PID("nginx"), s.PID("counter"), s.PID("tidy"), s.PID("db")}
	if !running(pids) {
		t.Errorf("not all of %v run", pids)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if running(pids) {
		t.Errorf("some of %v still run", pids)
	}
	if _, err := os.Stat(s.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there", s.Dir)
	}
}
