package hosts

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// A Finding is one line of the check of a machine. Remedy is "" where nothing is wrong.
type Finding struct {
	What   string `json:"what"`
	Says   string `json:"says"`
	Remedy string `json:"remedy,omitempty"`
}

const (
	leastFree   = 1 << 30 // bytes: logs of a contest day fill a small disk
	leastMemory = 512 << 20
	clockFlag   = time.Second
)

// Look compares the facts of a machine with what a contest needs. portal is the portal's time
// when the facts were read; zero if it is not known.
func Look(f api.HostFacts, keys []string, portal time.Time) []Finding {
	out := []Finding{{What: "machine", Says: fmt.Sprintf("%s, %s, kernel %s, %d cores", f.Name, f.System, f.Kernel, f.CPU)}}
	memory := Finding{What: "memory", Says: fmt.Sprintf("%d MiB, %d MiB of swap", f.Memory>>20, f.Swap>>20)}
	if f.Memory < leastMemory {
		memory.Remedy = "use a machine with more memory"
	}
	free := Finding{What: "disk", Says: fmt.Sprintf("%d MiB free", f.Free>>20)}
	if f.Free < leastFree {
		free.Remedy = "remove logs and packages of builds: a full disk fails a run"
	}
	ssh := Finding{What: "ssh", Says: fmt.Sprintf("%d host keys", len(keys))}
	if len(keys) == 0 {
		ssh.Remedy = "run this as a user who can read /etc/ssh/ssh_host_*_key.pub: without a key the final judging cannot reboot the machine"
	}
	out = append(out, memory, free, ssh)
	if portal.IsZero() {
		return out
	}
	offset := f.Now.Sub(portal)
	clock := Finding{What: "clock", Says: fmt.Sprintf("%s from the portal's", offset.Round(10*time.Millisecond))}
	if offset.Abs() > clockFlag {
		clock.Remedy = "synchronise the clock: timedatectl set-ntp true"
	}
	return append(out, clock)
}
