package iikanji

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestUnknownIsAbsent: JSON leaves out what is unknown, and has 0 for what is 0; reading gives
// the row again.
func TestUnknownIsAbsent(t *testing.T) {
	for _, c := range []struct {
		row       Row
		has, none string
	}{
		{Row{Key: "a", Count: 2, Untimed: true}, `"count":2`, `_ns`},
		{Row{Key: "a", Count: 2, Untimed: true}, `"untimed":true`, `"share"`},
		{Row{Key: "a", Count: 2}, `"total_ns":0`, `untimed`},
		{Row{Query: &SQLRow{NoSent: true, Examined: 3}}, `"rows_examined":3`, `"rows_sent":`},
		{Row{Query: &SQLRow{NoExamined: true, Sent: 3}}, `"rows_sent":3`, `"rows_examined":`},
	} {
		b, err := json.Marshal(c.row)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), c.has) || strings.Contains(string(b), c.none) {
			t.Errorf("%s: it should have %s and no %s", b, c.has, c.none)
		}
		var again Row
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatalf("reading %s: %v", b, err)
		}
		if again.Untimed != c.row.Untimed || again.Count != c.row.Count || c.row.Query != nil && (again.Query.NoSent != c.row.Query.NoSent || again.Query.Examined != c.row.Query.Examined) {
			t.Errorf("%s is read as %+v", b, again)
		}
	}
}
