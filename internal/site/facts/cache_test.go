package facts

import (
	"bufio"
	"strings"
	"testing"
)

// FuzzRESP reads any reply without failing otherwise than by an error, and never
// more items than the limit.
func FuzzRESP(f *testing.F) {
	f.Add("*2\r\n$9\r\nmaxmemory\r\n$1\r\n0\r\n")
	f.Add("-NOAUTH Authentication required.\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		out, err := readRESP(bufio.NewReader(strings.NewReader(text)), 0)
		if len(out) > maxRESPItems || err != nil && out != nil {
			t.Errorf("%d items, %v", len(out), err)
		}
	})
}

// FuzzRedisInfo: every counter has a name, and the keys are always counted.
func FuzzRedisInfo(f *testing.F) {
	f.Add("# Stats\r\nevicted_keys:3\r\ncmdstat_keys:calls=2,usec=70,usec_per_call=35.00\r\ndb0:keys=5,expires=2,avg_ttl=0\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := Cache{Counters: map[string]float64{}, Settings: map[string]string{}}
		c.AddRedisInfo(text)
		if c.Settings["keys"] == "" {
			t.Error("the keys are not counted")
		}
		for name := range c.Counters {
			if name == "" {
				t.Error("a counter without a name")
			}
		}
	})
}
