package iikanji

// An Environment is what else a machine did during the load phase of a [Run].
// The shares are of the CPU time of all cores, 0..1. A nil Environment was not
// measured.
type Environment struct {
	Used  float64 `json:"used"`  // by the run: its generator and the services
	Other float64 `json:"other"` // by programs that are not part of the run
	Steal float64 `json:"steal"` // by the hypervisor, for other guests
	// Throttled is the time during which a CPU quota stopped the processes of the
	// run, summed over the cores.
	Throttled float64  `json:"throttled,omitempty"`
	Quota     float64  `json:"quota_cores,omitempty"` // of the control group; 0 for none
	MHz       float64  `json:"mhz,omitempty"`         // mean frequency at the end of the load; 0 if unknown
	DiskBusy  float64  `json:"disk_busy"`             // share of the time, summed over the disks
	Swapped   int64    `json:"swapped_pages,omitempty"`
	Timers    []string `json:"package_timers,omitempty"` // programs such as apt-get that ran at the end of the load

	// The spreads are robust standard deviations over the search's runs before this
	// one: how far the numbers of two runs usually are apart on this machine.
	OtherSpread     float64 `json:"other_spread,omitempty"`
	StealSpread     float64 `json:"steal_spread,omitempty"`
	ThrottledSpread float64 `json:"throttled_spread,omitempty"`

	// Disturbance is why the run does not count.
	Disturbance Disturbance `json:"disturbance,omitempty"`
	// Accepted: the disturbance was ignored, because the user chose so or because
	// every run on this machine is disturbed.
	Accepted bool `json:"accepted,omitempty"`
}

// A Disturbance is the kind of event that makes a [Run] differ grossly from other
// runs on the same machine.
type Disturbance uint8

const (
	Undisturbed   Disturbance = iota
	OtherPrograms             // other programs used the CPU
	Stolen                    // the hypervisor took CPU time
	Throttled                 // a CPU quota stopped the run although it used no more than others
	SlowClock                 // the CPU ran at a lower frequency
	BusyDisk                  // the disk was busier
	Swapping                  // the machine swapped
	DiskFull                  // the disk of the data is nearly full
)

var disturbanceWords = []string{"none", "other-programs", "steal", "throttled", "slow-clock", "busy-disk", "swapping", "disk-full"}

func (d Disturbance) String() string               { return wordOf(disturbanceWords, d) }
func (d Disturbance) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts the words that String prints.
func (d *Disturbance) UnmarshalText(b []byte) error {
	return parseWord(disturbanceWords, b, d, "disturbance")
}
