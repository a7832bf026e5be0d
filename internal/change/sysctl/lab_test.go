package sysctl

import (
	"sync"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/contest/lab/labtest"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestMachine: a variable of another machine is set now and for its next boot, and the undo
// restores both, also after a kill at each step.
func TestMachine(t *testing.T) {
	tier.Slow(t)
	dir := changetest.ChildDir()
	if dir == "" {
		dir = t.TempDir()
		labtest.File(t, dir, labtest.Boot(t, labtest.Spec{Name: "db"})...)
	}
	db := sync.OnceValues(func() (*labtest.Far, error) {
		hosts, _, err := labtest.Dial(dir, host.KernelFile, "/proc/sys")
		return hosts["db"], err
	})
	far, err := db()
	if err != nil {
		t.Fatal(err)
	}
	changetest.Run(t, changetest.Case{
		Dir: dir, Open: func(string) *change.Site {
			return &change.Site{Hosts: map[string]host.Host{"db": far}, Roots: []string{"db:" + host.KernelFile, "db:/proc/sys"}, Services: map[string]change.Service{}}
		},
		Remedies: map[string]iikanji.Remedy{"somaxconn": {Kind: "sysctl", Target: "host:db", Args: changetest.Args("act", "sysctl", "net.core.somaxconn", "6789", "net.ipv4.tcp_fin_timeout", "21")}},
		Effects:  map[string]string{"somaxconn": "90-iikanji.conf"},
		State: func() (string, error) {
			return far.Run(t.Context(), "sh", "-c", "cat /proc/sys/net/core/somaxconn /proc/sys/net/ipv4/tcp_fin_timeout; cd /etc/sysctl.d; ls; cat 90-iikanji.conf 2>/dev/null; :")
		},
		Serves: func() error { _, err := far.Read("/proc/sys/net/core/somaxconn"); return err },
		Disturb: func(op iikanji.Op) (func() error, error) {
			if op.Place != host.KernelFile {
				return nil, nil // the kernel takes no comments
			}
			was, err := far.Read(op.Place)
			if err != nil {
				return func() error { return far.Remove(op.Place) }, far.Write(op.Place, []byte("# by hand\n"), 0o644)
			}
			return func() error { return far.Write(op.Place, was, 0o644) }, far.Write(op.Place, append(was, "# by hand\n"...), 0o644)
		},
	})
}
