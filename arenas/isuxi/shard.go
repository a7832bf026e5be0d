package isuxi

import (
	"context"
	"fmt"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Shard implements scenario.Shardable: the threads and their users are divided, the checker is one
// of the first generator. Each generator checks after the load what it wrote itself.
func (ct *contest) Shard(p scenario.Part) error {
	if p.Of > threads {
		return fmt.Errorf("the load is of %d threads: %d generators are too many", threads, p.Of)
	}
	ct.part = p
	return nil
}

// Join implements scenario.Shardable.
func (ct *contest) Join(_ context.Context, s scenario.Session) error {
	ct.begin(s)
	return nil
}
