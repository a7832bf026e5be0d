package timeline

import (
	"fmt"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/bench"
)

// maxSamples bounds what is read of one file: an hour at over a thousand requests
// per second.
const maxSamples = 5_000_000

// loadPhase is the phase whose samples are shown.
const loadPhase = "load"

// A Request is one request of the load. Times are those of the load generator.
type Request struct {
	Number     int       `json:"number"` // of its sample in the file, from 1
	Step       string    `json:"step"`
	Start, End time.Time `json:"-"`
	Status     int       `json:"status"` // 0 without an answer
	Bytes      int64     `json:"bytes"`
	Client     int       `json:"client"`
	Fault      string    `json:"fault,omitempty"` // "" for none
}

// Took is the time from the start of sending to the end of the answer.
func (r *Request) Took() time.Duration { return r.End.Sub(r.Start) }

// Has reports whether the samples of a run are in the history.
func Has(h *history.History, id iikanji.RunID) bool {
	f, err := openRaw(h, id, bench.SamplesFile)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// packed is a compressed file.
type packed struct {
	*zstd.Decoder
	f *os.File
}

func (p packed) Close() error {
	p.Decoder.Close()
	return p.f.Close()
}

// eachSample calls use for each answer of the load that came over the network.
func eachSample(h *history.History, id iikanji.RunID, use func(n int, head *bench.SampleHead, s bench.Sample)) error {
	f, err := openRaw(h, id, bench.SamplesFile)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := bench.NewSampleReader(f)
	if err != nil {
		return err
	}
	head := r.Head()
	for n := 1; r.Scan(); n++ {
		if n > maxSamples {
			return fmt.Errorf("reading the samples of run %d: more than %d", id, maxSamples)
		}
		s := r.Sample()
		if head.Phases[s.Phase] == loadPhase && !s.Cached && s.End >= s.Start {
			use(n, &head, s)
		}
	}
	return r.Err()
}

func requestOf(n int, head *bench.SampleHead, s bench.Sample) Request {
	r := Request{Number: n, Step: head.Steps[s.Step], Start: head.Began.Add(s.Start), End: head.Began.Add(s.End), Status: int(s.Status), Bytes: int64(s.Bytes), Client: int(s.Client)}
	if s.Fault != iikanji.FaultUnknown {
		r.Fault = s.Fault.String()
	}
	return r
}
