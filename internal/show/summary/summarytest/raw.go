package summarytest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
)

// RawBegan is when the load of AddRaw began.
var RawBegan = time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)

// A Raw is one request of AddRaw, in milliseconds of the load.
type Raw struct {
	Step, Start, End int
	Fault            iikanji.FaultKind
}

// A RawStatement is one entry of the slow log: it was written between From and To,
// in milliseconds of the load.
type RawStatement struct {
	From, To, Took int
	Thread         int
	SQL            string
}

// RawSteps are the names of the steps of Raw.
var RawSteps = []string{HostileRoute, "GET /商品/:id"}

// AddRaw writes the raw files of an observed run: samples, the slow log and, with
// growth, the times at which its entries were written.
func AddRaw(t testing.TB, dir string, run int, requests []Raw, statements []RawStatement, growth bool) {
	t.Helper()
	at := filepath.Join(dir, "runs", fmt.Sprintf("%04d", run))
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(at, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	head, err := json.Marshal(bench.SampleHead{Format: "iikanji-samples", Version: 1, Record: 40, Scenario: "toy", Began: RawBegan, Steps: RawSteps, Phases: []string{"prepare", "load"}})
	if err != nil {
		t.Fatal(err)
	}
	samples := append(head, '\n')
	ms := func(n int) uint64 { return uint64(n) * uint64(time.Millisecond) }
	for i, r := range requests {
		samples = binary.LittleEndian.AppendUint64(samples, ms(r.Start))
		samples = binary.LittleEndian.AppendUint64(samples, ms(r.Start))
		samples = binary.LittleEndian.AppendUint64(samples, ms(r.End))
		samples = binary.LittleEndian.AppendUint32(samples, 512)
		samples = binary.LittleEndian.AppendUint32(samples, uint32(i+1))
		samples = binary.LittleEndian.AppendUint16(samples, uint16(r.Step))
		samples = binary.LittleEndian.AppendUint16(samples, 200)
		samples = append(samples, byte(r.Fault), 0, 1, 0)
	}
	write(bench.SamplesFile, samples)
	var log bytes.Buffer
	log.WriteString("/usr/sbin/mariadbd, Version: 10.11.0-MariaDB. started with:\nTcp port: 1  Unix socket: /x\nTime\t\t    Id Command\tArgument\n")
	var points [][3]int64
	stamp := func(n int) int64 { return RawBegan.Add(time.Duration(n) * time.Millisecond).UnixNano() }
	for _, s := range statements {
		points = append(points, [3]int64{int64(log.Len()), stamp(s.From), stamp(s.From)})
		began := RawBegan.Add(time.Duration(s.To-s.Took) * time.Millisecond).Unix()
		fmt.Fprintf(&log, "# User@Host: u[u] @ localhost []\n# Thread_id: %d  Schema: s  QC_hit: No\n# Query_time: %.6f  Lock_time: 0.000001  Rows_sent: 1  Rows_examined: 2\nSET timestamp=%d;\n%s;\n", s.Thread, float64(s.Took)/1e3, began, s.SQL)
		points = append(points, [3]int64{int64(log.Len()), stamp(s.To), stamp(s.To)})
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(log.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write("slow.log.gz", packed.Bytes())
	if growth {
		b, err := json.Marshal(points)
		if err != nil {
			t.Fatal(err)
		}
		write("slow-growth.json", b)
	}
}
