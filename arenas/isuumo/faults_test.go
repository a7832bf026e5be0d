package isuumo

import "github.com/iikanji/iikanji/internal/arena/arenatest"

var faults []arenatest.Fault
