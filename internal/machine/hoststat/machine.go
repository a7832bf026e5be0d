package hoststat

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// Machine describes the machine of a host. What cannot be read is left empty: the description
// is for readers only.
func Machine(h host.Host, program string) *iikanji.Machine {
	m, err := machineTask().On(context.Background(), h, program)
	if err != nil {
		return &iikanji.Machine{Program: program}
	}
	return &m
}

func readMachine(_ context.Context, h host.Host, program string) (iikanji.Machine, error) {
	m := iikanji.Machine{Cores: runtime.NumCPU(), Program: program, System: systemName(h, "/etc/os-release")}
	fs, mount, err := procOf(h)
	if err != nil {
		return m, nil
	}
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
		m.CPU, m.Cores = cpus[0].ModelName, len(cpus)
	}
	if mem, err := fs.Meminfo(); err == nil && mem.MemTotal != nil {
		m.Memory = iikanji.Bytes(*mem.MemTotal) << 10
	}
	if release, err := os.ReadFile(filepath.Join(mount, "sys/kernel/osrelease")); err == nil {
		m.Kernel = "Linux " + strings.TrimSpace(string(release))
	}
	return m, nil
}

// systemName reads the name of the system from a file in the form of os-release(5).
func systemName(h host.Host, path string) string {
	data, err := h.Read(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(name, `"'`)
		}
	}
	return ""
}
