package field

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// TestWrittenAgain: a changed table counts as one of a job only if it changes once more, and
// the tables are read no longer than that takes.
func TestWrittenAgain(t *testing.T) {
	after := map[string]string{"lost": "1", "job": "2", "rest": "3"}
	readings := []map[string]string{after, {"lost": "1", "job": "4", "rest": "5"}}
	for _, c := range []struct {
		changed, want []string
		readings      int
	}{
		{nil, nil, 0},
		{[]string{"job"}, []string{"job"}, 2},
		{[]string{"job", "lost"}, []string{"job"}, settledReadings},
	} {
		n := 0
		read := func(context.Context) (map[string]string, error) {
			n++
			return readings[min(n, len(readings))-1], nil
		}
		got, err := writtenAgain(t.Context(), c.changed, after, time.Millisecond, read)
		if err != nil || !slices.Equal(got, c.want) || n != c.readings {
			t.Errorf("of %q: %q in %d readings, %v; want %q in %d", c.changed, got, n, err, c.want, c.readings)
		}
	}
	broken := errors.New("broken")
	if _, err := writtenAgain(t.Context(), []string{"job"}, after, time.Millisecond, func(context.Context) (map[string]string, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("an error of a reading: %v", err)
	}
}

// TestDiffering: tables with other contents, and those that are gone, in order.
func TestDiffering(t *testing.T) {
	got := differing(map[string]string{"d": "1", "c": "1", "b": "1", "a": "1"}, map[string]string{"a": "1", "b": "2", "d": "2"}, []string{"d"})
	if want := []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
