package bench

import (
	"time"

	"github.com/iikanji/iikanji/internal/scenario"
)

// Options say where to run a scenario and how long.
type Options struct {
	// URL is the target's base URL, http or https, without a path.
	URL string
	// Seed makes the work: two runs of one seed offer the same.
	Seed uint64
	// Load is the length of the load phase; 0 means the scenario's own.
	Load time.Duration
	// NoLoad ends the run after Prepare: the checks only.
	NoLoad bool
	// PrepareTimeout ends a Prepare that hangs, ValidateTimeout a Validate;
	// 0 means DefaultPhaseTimeout.
	PrepareTimeout  time.Duration
	ValidateTimeout time.Duration
	// CPUs are the cores the generator may use, as the kernel numbers them:
	// all threads of the process are pinned to them and GOMAXPROCS is set to
	// their number; both are put back when Run returns. None means as it is.
	CPUs []int
	// SamplesDir is where raw samples are kept, one file; empty means nowhere.
	SamplesDir string
	// InsecureTLS accepts any certificate of an https target.
	InsecureTLS bool
	// OnPhase is called right before a phase begins and right after it has
	// ended, from the goroutine of Run, so that the caller can read counters of
	// the host for exactly that phase; nil means never.
	OnPhase func(phase scenario.Phase, begins bool)
	// Progress is called a few times a second, from one goroutine; nil means never.
	Progress func(Progress)
}

// DefaultPhaseTimeout is how long Prepare and Validate may take when nobody
// says otherwise: several times what any known contest allows.
const DefaultPhaseTimeout = 2 * time.Minute

// Progress is how a run stands.
type Progress struct {
	Phase   string        // initialize, prepare, load, validate
	Elapsed time.Duration // of the phase
	Left    time.Duration // of the load phase, 0 in others
	Score   float64       // so far
	// Counts since the phase began, but Errors and Timeouts since the run began.
	Requests, Errors, Timeouts int64
	// Note is the scenario's latest line, "" when there was none since the last call.
	Note string
}
