package node_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestPeers: three portals of one database, a worker at each. One of them is killed in the middle of
// runs, and comes back; then another one. Each job has one result, and no site saw two loads.
func TestPeers(t *testing.T) {
	tier.Slow(t)
	s := newSystem(t, 6, 0)
	s.kill("portal", syscall.SIGKILL)
	first := servertest.FreePorts(t, 6)
	address := func(n int) string { return fmt.Sprintf("127.0.0.1:%d", first+n) }
	portal := func(n int) {
		s.start(fmt.Sprint("p", n), portalRole, s.dir, address(n), address(3+n), address(3+(n+1)%3), address(3+(n+2)%3))
	}
	for n := range 3 {
		portal(n)
		s.startWorkerAt(fmt.Sprint("w", n), address(n))
	}
	s.play(30, func(tenth int) {
		switch tenth {
		case 2:
			s.kill("p0", syscall.SIGKILL)
		case 4:
			portal(0)
		case 7:
			s.kill("p1", syscall.SIGKILL)
		}
	})
	s.check(30)
}
