package bench

import (
	"context"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// TestRecord: requests of a scenario's own client count in their steps, in the
// samples, in the sample of requests and in the generator's connections.
func TestRecord(t *testing.T) {
	url := web(t, func(http.ResponseWriter, *http.Request) {})
	dir := t.TempDir()
	sample := NewRequestSample(1, 5)
	now := time.Now()
	head := []byte("GET /a HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n")
	sc := &script{load: func(_ context.Context, s scenario.Session) error {
		s.Record(&scenario.Exchange{Step: 1, Client: 3, Method: "GET", Head: head, Start: now, End: now.Add(time.Second), Status: 200, Sent: 40, Received: 700})
		s.Record(&scenario.Exchange{Step: 1, Method: "GET", Head: head, Start: now, End: now, Status: 500, Fault: iikanji.FaultStatus})
		s.Record(&scenario.Exchange{Step: 0, Method: "GET", Head: head, Start: now, End: now, Fault: iikanji.FaultDial, Cause: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)})
		s.Record(&scenario.Exchange{Step: 0, Method: "GET", Head: head, Start: now, End: now, Fault: iikanji.FaultCut})
		return nil
	}}
	run, err := Run(t.Context(), sc, Options{URL: url, SamplesDir: dir, KeepHeads: true, Requests: sample})
	if err != nil {
		t.Fatal(err)
	}
	if s := run.Steps[1]; s.Count != 2 || s.Errors != 1 || s.Sent != 40 || s.Received != 700 || s.Max < 900*time.Millisecond {
		t.Errorf("step 1: %+v", s)
	}
	if s := run.Steps[0]; s.Count != 1 || s.Errors != 1 || s.Cut != 1 {
		t.Errorf("step 0: %+v", s)
	}
	if g := run.Load; g.Requests != 3 || g.Dials != 4 || g.DialFaults != 1 || !g.Void {
		t.Errorf("generator: %+v, want it void because no port was free", g)
	}
	if len(run.Faults) > 0 {
		t.Errorf("%+v were reported", run.Faults)
	}
	if kept := sample.Requests(); len(kept) != 4 || kept[0].Path != "/a" || kept[0].Header[0][1] != "h" || kept[0].Header[1][1] != "gzip" {
		t.Errorf("the sample has %+v", kept)
	}
	f, err := os.Open(dir + "/" + SamplesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewSampleReader(f)
	if err != nil {
		t.Fatal(err)
	}
	clients := map[uint32]int{}
	for r.Scan() {
		clients[r.Sample().Client]++
	}
	if clients[ownClients] != 3 || clients[ownClients+3] != 1 || len(clients) != 2 || r.Err() != nil {
		t.Errorf("samples by client %v (%v)", clients, r.Err())
	}
	if _, err := os.Stat(dir + "/" + HeadsFile); err != nil {
		t.Error(err)
	}
}
