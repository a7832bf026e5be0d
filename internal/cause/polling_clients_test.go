package cause_test

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestPollingClients: a route with many requests whose answer tells clients to come again soon
// is a finding; one with few requests, one whose clients come again late and one that says
// nothing are none.
func TestPollingClients(t *testing.T) {
	s := newScene()
	for key, n := range map[string]int64{"GET /notice": 700, "GET /late": 400, "GET /seldom": 100, "GET /": 300} {
		s.route(key, strings.TrimPrefix(key, "GET "), n, 100, iikanji.WebRow{})
	}
	for key, again := range map[string]time.Duration{"GET /notice": 30 * time.Millisecond, "GET /late": 10 * time.Second, "GET /seldom": 30 * time.Millisecond, "GET /": 0} {
		s.with("nginx", string(fact.TopicAnswer), key, fact.Answer{URL: strings.TrimPrefix(key, "GET "), Status: 200, Again: again})
	}
	s.Run.Usage = []iikanji.Usage{{Who: "app", User: 20 * time.Second}}
	found := 0
	all, err := findAll(s.Input)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.Code != "WEB119" {
			continue
		}
		found++
		if f.Where != "GET /notice" || !strings.Contains(f.Claim, "47 % of the requests are GET /notice, whose answer tells its clients to ask again after 30ms") || f.Gain.Lo != 0 || f.Gain.Hi < 4 || f.Gain.Hi > 5 {
			t.Errorf("%+v", f)
		}
	}
	if found != 1 {
		t.Errorf("%d findings, want 1", found)
	}
}
