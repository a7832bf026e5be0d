package summary

import (
	"slices"
	"testing"
	"time"
)

// TestOtherMachines puts the samples of another machine beside those of this one: each at the
// nearest second, under its own name.
func TestOtherMachines(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(100_000 + ms)) }
	s := &HostSeries{At: []time.Time{at(0), at(1000), at(2000)}, Services: []ServiceSeries{{Name: "app", Cores: []float64{1, 1, 1}, Memory: []float64{1, 1, 1}}}}
	o := &HostSeries{At: []time.Time{at(300), at(1300), at(9000)}, Services: []ServiceSeries{{Name: "app", Cores: []float64{2, 3, 4}, Memory: []float64{5, 6, 7}}}}
	s.addOf("db", o)
	if len(s.Services) != 2 || s.Services[1].Name != "app on db" || !slices.Equal(s.Services[1].Cores, []float64{2, 3, 0}) || !slices.Equal(s.Services[1].Memory, []float64{5, 6, 0}) {
		t.Errorf("%+v", s.Services)
	}
}
