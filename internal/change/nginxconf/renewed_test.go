package nginxconf

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestKeptUntil: answers that are renewed in the background outlive the second for which
// they are valid, and none from before is sent after the time that the kind names.
func TestKeptUntil(t *testing.T) {
	tier.Slow(t)
	s := startClock(t, &clockApp{})
	open := func() *change.Site {
		site := s.open(s.dir)
		for name, svc := range site.Services {
			svc.Engine = iikanji.EngineNginx
			site.Services[name] = svc
		}
		return site
	}
	if until := change.KeptUntil(open(), time.Now()); !until.IsZero() {
		t.Errorf("an nginx without a cache keeps answers until %v", until)
	}
	apply(t, s, remedy("cache", "path", "/x", "valid", "2s", "stale", "updating"))
	first := s.text(t, "/x", nil)
	sent := time.Now()
	until := change.KeptUntil(open(), sent)
	if left := until.Sub(sent); left <= 0 || left > 5*time.Second {
		t.Fatalf("it keeps answers for %v, want up to 5 s", left)
	}
	time.Sleep(time.Until(until) + 10*time.Millisecond)
	if again := s.text(t, "/x", nil); again == first {
		t.Errorf("%q was sent %v after it was made", again, time.Since(sent))
	}
}
