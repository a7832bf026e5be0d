package shard

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A Job is what a generator has to do.
type Job struct {
	Version   string        `json:"version"` // of the program: parts of two versions are not merged
	Part      scenario.Part `json:"part"`
	Target    string        `json:"target"` // whose benchmarker it is
	URL       string        `json:"url"`
	Seed      uint64        `json:"seed"`
	Load      time.Duration `json:"load_ns"` // 0 for the benchmarker's own
	Clock     float64       `json:"clock,omitempty"`
	Set       []string      `json:"set,omitempty"`
	Addresses []string      `json:"addresses,omitempty"`
	Insecure  bool          `json:"insecure,omitempty"`
}

// An up is a message of a generator; one of its fields is set.
type up struct {
	Ping     bool            `json:"ping,omitempty"`
	Ready    bool            `json:"ready,omitempty"`
	Counts   *bench.Counts   `json:"counts,omitempty"`
	Loaded   bool            `json:"loaded,omitempty"`
	Measured *bench.Measured `json:"measured,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// A down is a message to a generator; one of its fields is set.
type down struct {
	Job      *Job          `json:"job,omitempty"`
	Now      time.Time     `json:"now,omitzero"` // the answer to a ping
	Prepared bool          `json:"prepared,omitempty"`
	Start    time.Time     `json:"start,omitzero"`
	Others   *bench.Counts `json:"others,omitempty"`
	Stop     string        `json:"stop,omitempty"`
}

// maxMessage is the longest message, in bytes: a measurement has a sketch for each step.
const maxMessage = 16 << 20

var errLong = errors.New("a message is too long")

// A stream sends and receives messages, a line of JSON each.
type stream struct {
	in *bufio.Reader

	mu  sync.Mutex
	out io.Writer
}

func newStream(in io.Reader, out io.Writer) *stream {
	return &stream{in: bufio.NewReaderSize(in, 64<<10), out: out}
}

// send sends one message; it may be called from several goroutines.
func (s *stream) send(m any) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	return nil
}

// receive reads one message.
func (s *stream) receive(into any) error {
	line, err := readLine(s.in)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("reading a message: %w", err)
	}
	return nil
}

// readLine reads a line of at most maxMessage bytes.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxMessage:
			return nil, errLong
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
