package hoststat

import (
	"context"

	"github.com/iikanji/iikanji/internal/machine/host"

	"github.com/iikanji/iikanji"
)

// nothing are the arguments of a task without any. The encoding wants a field.
type nothing struct{ Nothing bool }

// Tasks are what the far end of a host carries out for this package: a host's /proc and
// its kernel's sockets can be read there only.
func Tasks() []host.Served {
	return []host.Served{socketsTask(), ownersTask(), familyTask(), inodesTask(), unixClientsTask(), swapTask(), machineTask(), takeTask(), samplesFeed(), connectionsTask(), linksTask()}
}

func socketsTask() host.Task[tcpState, []Socket] {
	return host.Task[tcpState, []Socket]{Name: "sockets", Do: readSockets}
}

func ownersTask() host.Task[map[string][]int, map[uint64]string] {
	return host.Task[map[string][]int, map[uint64]string]{Name: "owners", Do: readOwners}
}

func familyTask() host.Task[[]int, []int] {
	return host.Task[[]int, []int]{Name: "family", Do: readFamily}
}

func inodesTask() host.Task[int, []uint64] {
	return host.Task[int, []uint64]{Name: "inodes", Do: readInodes}
}

func unixClientsTask() host.Task[string, []uint64] {
	return host.Task[string, []uint64]{Name: "unix-clients", Do: readUnixClients}
}

func swapTask() host.Task[nothing, [2]uint64] {
	return host.Task[nothing, [2]uint64]{Name: "swap", Do: func(_ context.Context, h host.Host, _ nothing) ([2]uint64, error) {
		in, out := readSwap(h.ProcFolder())
		return [2]uint64{in, out}, nil
	}}
}

func machineTask() host.Task[string, iikanji.Machine] {
	return host.Task[string, iikanji.Machine]{Name: "machine", Do: readMachine}
}

func takeTask() host.Task[taking, Reading] {
	return host.Task[taking, Reading]{Name: "usage", Do: take}
}

func samplesFeed() host.Feed[sampling, Sample] {
	return host.Feed[sampling, Sample]{Name: "samples", Run: sampleHere}
}
