package bench

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/iikanji/iikanji"
)

// SamplesFile is the name of the file of raw samples in Options.SamplesDir.
//
// Its first line is JSON, a [SampleHead]. Records of SampleHead.Record bytes
// follow, little-endian, not sorted by time:
//
//	 0  int64   due     ns since SampleHead.Began: when the request was due
//	 8  int64   start   ns: when sending began
//	16  int64   end     ns: when the answer was complete, or the fault occurred
//	24  uint32  bytes   of the answer on the wire, at most 4 GiB − 1
//	28  uint32  client  number of the browser, from 1
//	32  uint16  step    index into SampleHead.Steps
//	34  uint16  status  as received; 0 without an answer
//	36  uint8   fault   iikanji.FaultKind; 0 for none
//	37  uint8   flags   1 cached, 2 not modified, 4 quiet
//	38  uint8   phase   index into SampleHead.Phases
//	39  uint8   0
const SamplesFile = "samples.bin"

const (
	sampleSize   = 40
	sampleFormat = "iikanji-samples"
)

const (
	flagCached = 1 << iota
	flagNotMod
	flagQuiet
)

// A SampleHead is the first line of a file of samples.
type SampleHead struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Record   int       `json:"record"`
	Scenario string    `json:"scenario"`
	Began    time.Time `json:"began"`
	Steps    []string  `json:"steps"`
	Phases   []string  `json:"phases"`
}

// samplePhases are the phases by the number in a sample.
var samplePhases = []string{"prepare", "load", "validate"}

// A Sample is one measured exchange. Times count from SampleHead.Began.
type Sample struct {
	Due, Start, End       time.Duration
	Bytes                 uint32
	Client                uint32
	Step, Status          uint16
	Fault                 iikanji.FaultKind
	Cached, NotMod, Quiet bool
	Phase                 uint8
}

// appendSample writes one record.
func appendSample(b []byte, x *exchange, phase uint8) []byte {
	var flags byte
	if x.cached {
		flags |= flagCached
	}
	if x.notMod {
		flags |= flagNotMod
	}
	if x.quiet {
		flags |= flagQuiet
	}
	le := binary.LittleEndian
	b = le.AppendUint64(b, uint64(x.due))
	b = le.AppendUint64(b, uint64(x.start))
	b = le.AppendUint64(b, uint64(x.end))
	b = le.AppendUint32(b, uint32(min(x.received, 1<<32-1)))
	b = le.AppendUint32(b, x.client)
	b = le.AppendUint16(b, uint16(x.step))
	b = le.AppendUint16(b, uint16(x.status))
	return append(b, byte(x.fault), flags, phase, 0)
}

func parseSample(b []byte) Sample {
	le := binary.LittleEndian
	return Sample{
		Due: time.Duration(le.Uint64(b)), Start: time.Duration(le.Uint64(b[8:])), End: time.Duration(le.Uint64(b[16:])),
		Bytes: le.Uint32(b[24:]), Client: le.Uint32(b[28:]), Step: le.Uint16(b[32:]), Status: le.Uint16(b[34:]),
		Fault: iikanji.FaultKind(b[36]), Phase: b[38],
		Cached: b[37]&flagCached != 0, NotMod: b[37]&flagNotMod != 0, Quiet: b[37]&flagQuiet != 0,
	}
}

// A SampleReader reads a file of samples.
//
//	for r.Scan() { use(r.Sample()) }
//	if r.Err() != nil { … }
type SampleReader struct {
	head SampleHead
	r    *bufio.Reader
	rec  []byte
	n    int64
	cur  Sample
	err  error
}

// maxSampleHead limits the first line, in case the file has another format.
const maxSampleHead = 1 << 20

// NewSampleReader reads the head. It returns an error for another format or a
// newer version.
func NewSampleReader(r io.Reader) (*SampleReader, error) {
	s := &SampleReader{r: bufio.NewReaderSize(r, maxSampleHead)}
	line, err := s.r.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("reading the head of the samples: %w", err)
	}
	if err := json.Unmarshal(line, &s.head); err != nil {
		return nil, fmt.Errorf("reading the head of the samples: %w", err)
	}
	if s.head.Format != sampleFormat || s.head.Version != 1 || s.head.Record < sampleSize || s.head.Record > 4096 {
		return nil, fmt.Errorf("reading the head of the samples: format %q version %d with records of %d bytes is not supported", s.head.Format, s.head.Version, s.head.Record)
	}
	s.rec = make([]byte, s.head.Record)
	return s, nil
}

// Head is the file's first line.
func (s *SampleReader) Head() SampleHead { return s.head }

// Scan reads the next sample. It returns false at the end and at an error.
func (s *SampleReader) Scan() bool {
	if s.err != nil {
		return false
	}
	if _, err := io.ReadFull(s.r, s.rec); err != nil {
		if err != io.EOF {
			s.err = fmt.Errorf("reading sample %d: %w", s.n+1, err)
		}
		return false
	}
	s.n++
	s.cur = parseSample(s.rec)
	if int(s.cur.Step) >= len(s.head.Steps) || int(s.cur.Phase) >= len(s.head.Phases) {
		s.err = fmt.Errorf("reading sample %d: step %d or phase %d is not in the head", s.n, s.cur.Step, s.cur.Phase)
		return false
	}
	return true
}

// Sample returns the sample that Scan read. It stays valid.
func (s *SampleReader) Sample() Sample { return s.cur }

// Err returns the error that ended Scan, nil at the end of the file.
func (s *SampleReader) Err() error { return s.err }
