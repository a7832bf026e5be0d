package scenario

import (
	"testing"
	"time"
)

// TestPart: each user and each due time belongs to one shard, and the rates add up.
func TestPart(t *testing.T) {
	whole := Arrivals{First: 100 * time.Millisecond, Period: 30 * time.Millisecond, Queue: true}
	if got := (Part{}).Thin(whole); got != whole || !(Part{}).Owns(7) || !(Part{}).First() || (Part{}).Rate(3) != 3 {
		t.Errorf("one process: %+v", got)
	}
	for of := 1; of <= 5; of++ {
		owners, due, rate := map[int]int{}, map[time.Duration]int{}, 0.0
		for n := range of {
			p := Part{n, of}
			rate += p.Rate(10)
			thin := p.Thin(whole)
			if !thin.Queue {
				t.Error("a queued schedule became a dropping one")
			}
			for i := range 20 * of {
				if p.Owns(i) {
					owners[i]++
				}
			}
			for i := range 20 {
				due[thin.First+time.Duration(i)*thin.Period]++
			}
		}
		for i := range 20 * of {
			if at := whole.First + time.Duration(i)*whole.Period; owners[i] != 1 || due[at] != 1 {
				t.Errorf("%d shards: user %d has %d owners, due time %v has %d", of, i, owners[i], at, due[at])
			}
		}
		if rate < 9.99 || rate > 10.01 {
			t.Errorf("%d shards: the rates are %g together", of, rate)
		}
	}
}
