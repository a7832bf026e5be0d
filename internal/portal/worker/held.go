package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A held is a benchmarker under its guard, as the worker sees it.
type held struct {
	ended chan ending // one value

	mu   sync.Mutex
	in   io.WriteCloser
	tail []byte    // of the report, the last bytes
	last time.Time // when the portal's last answer was asked for
}

// An ending is how a benchmarker ended.
type ending struct {
	exit   int
	signal int
	why    string // why it was ended; "" if it ended by itself
	failed string // it could not be started
	log    string // standard output
	stderr string
	report []byte // what it wrote to its report descriptor, the last bytes
}

// maxReport bounds what is kept of a report: the last bytes.
const maxReport = 4 << 20

// hold starts a benchmarker under a guard. The guard shares
// the lock, which so lasts until the benchmarker has ended. log is how many bytes of its output are kept.
func hold(program string, lock *os.File, s spec, log int) (*held, error) {
	verdictRead, verdictWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	reportRead, reportWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	out, errs := newClip(log), newClip(log)
	cmd := exec.Command(program)
	cmd.Args = []string{guardName}
	cmd.Env = []string{}
	cmd.ExtraFiles = []*os.File{verdictWrite, reportWrite, lock}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = 5 * time.Second // a descendant may keep the output open
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	verdictWrite.Close()
	reportWrite.Close()
	if err != nil {
		verdictRead.Close()
		reportRead.Close()
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	h := &held{ended: make(chan ending, 1), in: in, last: time.Now()}
	text, err := json.Marshal(s)
	if err == nil {
		_, err = in.Write(append(text, '\n'))
	}
	if err != nil {
		in.Close() // the guard ends
	}
	go h.wait(cmd, verdictRead, reportRead, out, errs)
	return h, nil
}

// wait collects what the guard and the benchmarker leave.
func (h *held) wait(cmd *exec.Cmd, verdictRead, reportRead *os.File, out, errs *clip) {
	defer verdictRead.Close()
	defer reportRead.Close()
	reported := make(chan []byte, 1)
	go func() { reported <- lastBytes(io.TeeReader(reportRead, h), maxReport) }()
	text, _ := io.ReadAll(io.LimitReader(verdictRead, 64<<10)) // an error is a guard without a verdict
	waited := cmd.Wait()
	e := ending{exit: -1}
	var v verdict
	if err := json.Unmarshal(text, &v); err != nil {
		e.why = fmt.Sprintf("the guard ended: %v", waited)
	} else {
		e.exit, e.signal, e.why, e.failed = v.Exit, v.Signal, v.Why, v.Error
	}
	select {
	case e.report = <-reported:
	case <-time.After(2 * time.Second): // a process that escaped holds it open
	}
	e.log, e.stderr = out.String(), errs.String()
	h.ended <- e
}

// lastBytes reads to the end and keeps the last n bytes.
func lastBytes(r io.Reader, n int) []byte {
	var kept []byte
	buf := make([]byte, 32<<10)
	for {
		k, err := r.Read(buf)
		kept = append(kept, buf[:k]...)
		if len(kept) > 2*n {
			kept = append([]byte(nil), kept[len(kept)-n:]...)
		}
		if err != nil {
			return kept[max(0, len(kept)-n):]
		}
	}
}

// maxTail is how much of a report is looked at for progress.
const maxTail = 64 << 10

// Write keeps the end of the report.
func (h *held) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tail = append(h.tail, text...)
	h.tail = h.tail[max(0, len(h.tail)-maxTail):]
	return len(text), nil
}

// reported is the end of the report so far.
func (h *held) reported() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.tail)
}

// alive tells the guard that the portal answered. The time counts from the sending of the
// request: the lease was renewed after it.
func (h *held) alive(sent time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sent.After(h.last) {
		h.last = sent
	}
	_, _ = io.WriteString(h.in, "+\n") // a guard that has ended says so itself
}

// stop ends the benchmarker gently; it is killed 2 s later.
func (h *held) stop(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = io.WriteString(h.in, "stop "+why+"\n") // a guard that has ended says so itself
}
