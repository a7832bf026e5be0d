package observe

import (
	"reflect"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// TestServicesOf: a diagnosis sees which services a change could start and how old
// answers may be, which files are fixed and which robots the policy names, and nothing of how the target is loaded.
func TestServicesOf(t *testing.T) {
	in := iikanji.Target{Name: "shop", Services: []iikanji.Service{{Name: "edge"}}, OnDemand: []iikanji.Service{{Name: "pages", Engine: iikanji.EngineVarnish}},
		Bench: iikanji.BenchRef{Command: []string{"bench", "--token", "s3cret"}, Parameters: []iikanji.Parameter{{Name: "WORKERS"}}}, Policy: iikanji.Policy{MaxAge: time.Second, Fixed: []string{"/packs/"}, Robots: []string{"^ExampleFeed"}, Allow: []iikanji.Promise{iikanji.Freshness}}}
	want := iikanji.Target{Name: "shop", Services: in.Services, OnDemand: in.OnDemand, Bench: iikanji.BenchRef{Parameters: in.Bench.Parameters}, Policy: iikanji.Policy{MaxAge: time.Second, Fixed: in.Policy.Fixed, Robots: in.Policy.Robots}}
	if got := servicesOf(in); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
