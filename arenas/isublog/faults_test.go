package isublog_test

import "github.com/iikanji/iikanji/internal/arena/arenatest"

// ease
var ease = []arenatest.Edit{}
var faults = []arenatest.Fault{}
