package isuxi

import "github.com/iikanji/iikanji/internal/contest/arena/arenatest"

var ease []arenatest.Edit
var faults []arenatest.Fault
