package bench

import (
	"crypto/x509"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Options are the target, the length and the surroundings of a run.
type Options struct {
	// URL is the target's base URL, http or https, without a path.
	URL string
	// Seed determines the work: two runs with the same seed offer the same work.
	Seed uint64
	// Load is the length of the load phase; 0 means the scenario's own.
	Load time.Duration
	// NoLoad ends the run after Prepare, so only its checks run.
	NoLoad bool
	// PrepareTimeout and ValidateTimeout limit Prepare and Validate; 0 means
	// DefaultPhaseTimeout.
	PrepareTimeout  time.Duration
	ValidateTimeout time.Duration
	// CPUs are the cores that the generator may use, by the kernel's numbers. All
	// threads of the process are pinned to them and GOMAXPROCS is set to their
	// number; Run restores both. Empty means no change.
	CPUs []int
	// SamplesDir is the folder of the file of raw samples; empty keeps none.
	SamplesDir string
	// Seconds are filled in with the answers by second of the load; nil counts none.
	Seconds *Seconds
	// KeepHeads also keeps headers of some clients there: see HeadsFile.
	KeepHeads bool
	// Requests keeps a sample of the requests of the load phase; nil keeps none.
	Requests *RequestSample
	// InsecureTLS accepts any certificate of an https target.
	InsecureTLS bool
	// CA are the authorities whose certificates are accepted; nil means the machine's.
	CA *x509.CertPool
	// OnPhase is called right before a phase begins and right after it ends, in
	// the goroutine of Run, so the caller can read counters of the host for
	// exactly that phase. It may be nil.
	OnPhase func(phase scenario.Phase, begins bool)
	// Progress is called a few times a second, from one goroutine. It may be nil.
	Progress func(Progress)
}

// DefaultPhaseTimeout limits Prepare and Validate by default: several times what
// any known contest allows.
const DefaultPhaseTimeout = 2 * time.Minute

// Progress is the state of a run.
type Progress struct {
	Phase   string        // initialize, prepare, load, validate
	Elapsed time.Duration // of the phase
	Left    time.Duration // of the load phase, 0 in others
	Score   float64       // so far
	// Counts since the phase began, but Errors and Timeouts since the run began.
	Requests, Errors, Timeouts int64
	// Unseen: another program makes the load. Neither score nor counts are known.
	Unseen bool
	// Note is the scenario's latest line since the last call, "" for none.
	Note string
}
