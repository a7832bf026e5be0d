package observe

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// FindingsOf makes findings of an observation. The external tests set it.
var FindingsOf func(ob *Observation, known []iikanji.Fact) ([]iikanji.Finding, error)

// What the external tests need.
var (
	HostProfile = hostProfile
	HostFile    = hostFile
	Codes       = codes
)

// SetSlowLog makes a file of this machine the slow log of an observation.
func SetSlowLog(ob *Observation, service, path string) {
	ob.slowLogs = []slowLog{{service: service, path: path, host: host.Local{}}}
}

func codes(fs []iikanji.Finding) []iikanji.Code {
	var out []iikanji.Code
	for _, f := range fs {
		out = append(out, f.Code)
	}
	return out
}
