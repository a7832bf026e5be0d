package diagnose_test

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// TestRefusable checks the finding about requests that the policy permits to
// refuse, and each reason why there is none.
func TestRefusable(t *testing.T) {
	for _, c := range []struct {
		name   string
		refuse []string
		facts  []iikanji.Fact
		want   bool
	}{
		{"two kinds of crawlers", []string{"(?i)bot", "^spider"}, []iikanji.Fact{refusable("GET /api/x", "600"), refusable("GET /", "10")}, true},
		{"the policy permits none", nil, []iikanji.Fact{refusable("GET /api/x", "600")}, false},
		{"none came", []string{"bot"}, nil, false},
		{"a few came", []string{"bot"}, []iikanji.Fact{refusable("GET /api/x", "1")}, false},
		{"a route of no requests", []string{"bot"}, []iikanji.Fact{refusable("GET /other", "600")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newScene().route("GET /api/x", "/api/x", 8000, 10, iikanji.WebRow{}).route("GET /", "/", 1000, 10, iikanji.WebRow{}).
				nginx(t, `http { server { listen 80; location / { proxy_pass http://127.0.0.1:3000; } } }`)
			in.Target.Policy.Refuse = c.refuse
			in.Facts = append(in.Facts, c.facts...)
			in.Run.Steps = []iikanji.StepStat{{Step: "GET /api/x", Count: 8000, Mean: 10 * time.Millisecond}, {Step: "GET /", Count: 1000, Mean: 10 * time.Millisecond}}
			f, ok := found(t, in.Input, "WEB112")
			if ok != c.want {
				t.Fatalf("found %t, want %t: %+v", ok, c.want, f)
			}
			if !ok {
				return
			}
			// 610 requests of 10 ms each.
			if f.Gain.Hi != 6.1 || f.Gain.Lo != 3.05 {
				t.Errorf("gain %v, want 3.05 to 6.1 s", f.Gain)
			}
			if len(f.Remedies) != 1 || f.Remedies[0].Args["patterns"] != "(?i)bot\n^spider" || f.Remedies[0].Args["act"] != "refuse user agents" {
				t.Errorf("remedies %+v", f.Remedies)
			}
			blind(t, in.Input, nil)
		})
	}
}

func refusable(route, n string) iikanji.Fact {
	return iikanji.Fact{Target: "nginx", Topic: iikanji.TopicRefusable, Key: route, Value: n, Moves: true}
}
