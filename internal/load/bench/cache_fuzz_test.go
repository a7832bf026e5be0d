package bench

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// FuzzLifetime: for any caching fields, no answer is fresh for more than a year,
// and no-store is never stored.
func FuzzLifetime(f *testing.F) {
	f.Add("max-age=60, must-revalidate", "Sat, 21 Nov 2026 05:00:00 GMT", "Sat, 21 Nov 2026 04:00:00 GMT", "5")
	f.Add("no-cache=\"x, y\"", "0", "", "-1")
	f.Add("max-age=\"99999999999999999999\"", "Sat, 21 Nov 9999 05:00:00 GMT", "x", "99999999999")
	f.Add("0", "Sat, 01 Nov 0000 0:00:00 GMT", "", "1")
	f.Fuzz(func(t *testing.T, control, expires, date, age string) {
		field := func(name, value string) scenario.HeaderField {
			return scenario.HeaderField{Name: []byte(name), Value: []byte(value)}
		}
		fields := []scenario.HeaderField{field("date", date), field("expires", expires), field("age", age), field("cache-control", control)}
		if life, _ := lifetime(fields); life > 366*24*time.Hour {
			t.Fatalf("fresh for %v", life)
		}
		if _, store := lifetime(append(fields, field("cache-control", "private, no-store"))); store {
			t.Fatal("stored")
		}
	})
}
