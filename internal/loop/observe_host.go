package loop

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/hoststat"
)

// sampleEvery is the length of an interval of the host's sensor.
const sampleEvery = time.Second

// A hostWatch samples the host while the load lasts.
type hostWatch struct {
	now      func() time.Time
	services func() []hoststat.Service

	quit    chan struct{}
	done    sync.WaitGroup
	samples []hoststat.Sample // valid after stop
	err     error             // the first, valid after stop
}

// start begins the first interval.
func (h *hostWatch) start() error {
	s, err := hoststat.NewSampler(h.now())
	if err != nil {
		return err
	}
	h.quit = make(chan struct{})
	h.done.Go(func() { h.run(s) })
	return nil
}

func (h *hostWatch) run(s *hoststat.Sampler) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-h.quit:
			return
		case <-tick.C:
		}
		sample, err := s.Sample(h.now(), h.services())
		if err != nil {
			h.err = err
			return
		}
		h.samples = append(h.samples, *sample)
	}
}

// stop ends the sampling; it may be called twice, and without a start.
func (h *hostWatch) stop() {
	if h.quit == nil {
		return
	}
	close(h.quit)
	h.done.Wait()
	h.quit = nil
}

const hostHead = "time\tservice\tuser_cores\tsystem_cores\tiowait_cores\tsteal_cores\tpressure_cpu\tpressure_io\trunnable\trss_bytes\t" +
	"disk_read_bytes_s\tdisk_write_bytes_s\tdisk_flushes_s\tcontext_switches_s\tlisten_drops_s\tretransmits_s\tdescriptors\tdescriptor_limit\tsockets\tthreads\n"

// hostTSV has one row per interval for the service "host" and one for each
// other; what a row cannot know is empty.
func hostTSV(samples []hoststat.Sample) []byte {
	var b bytes.Buffer
	b.WriteString(hostHead)
	for i := range samples {
		s := &samples[i]
		at := s.At.UTC().Format(time.RFC3339Nano)
		fmt.Fprintf(&b, "%s\thost\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%d\t%d\t%.0f\t%.0f\t%.1f\t%.0f\t%.1f\t%.1f\t\t\t\t\n", at, s.User, s.System, s.IOWait, s.Steal,
			s.PressureCPU, s.PressureIO, s.Runnable, int64(s.MemTotal-s.MemAvailable), s.DiskIn, s.DiskOut, s.DiskFlushes, s.Switches, s.ListenDrops, s.Retransmits)
		for _, v := range s.Services {
			fmt.Fprintf(&b, "%s\t%s\t%.3f\t%.3f\t\t\t\t\t\t%d\t%.0f\t%.0f\t\t%.0f\t\t\t%d\t%d\t%d\t%d\n", at, v.Name, v.User, v.System,
				int64(v.RSS), v.Read, v.Written, v.Switches, v.FDs, v.FDLimit, v.Sockets, v.Threads)
		}
	}
	return b.Bytes()
}
