package lines

import (
	"bytes"
	"runtime"
)

const (
	// DefaultBlock is the default size of a block. It fits the second-level
	// cache together with a worker's tables.
	DefaultBlock = 256 << 10
	// DefaultMaxRecord is the default length of the longest record that is
	// delivered whole.
	DefaultMaxRecord = 1 << 20
)

// Options set how inputs are cut into blocks. The zero value fits logs of
// lines.
type Options struct {
	Workers   int      // 0: one per usable core
	BlockSize int      // bytes; 0: DefaultBlock
	MaxRecord int      // bytes; 0: DefaultMaxRecord; of a longer record only the beginning is delivered
	Boundary  Boundary // zero: Lines
	// Whole leaves an unfinished last line (no newline at the end of the input)
	// unread, for logs that are still being written; see Input.End.
	Whole bool
	// Partial accepts a packed stream that is cut off: its readable part is
	// delivered and Input.Failed returns the error. Without Partial, Run fails.
	Partial bool
}

func (o Options) filled() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.BlockSize <= 0 {
		o.BlockSize = DefaultBlock
	}
	if o.MaxRecord <= 0 {
		o.MaxRecord = DefaultMaxRecord
	}
	if o.Boundary.Find == nil {
		o.Boundary = Lines
	}
	// Records inside a block must not exceed MaxRecord; otherwise the block
	// size would decide which records are cut.
	o.BlockSize = min(o.BlockSize, o.MaxRecord)
	return o
}

// A Boundary finds where records start. A start must be a local property of the
// bytes, so that blocks can be cut independently: whether a record starts at p
// may depend on data[p-1] and data[p:p+Ahead] only.
type Boundary struct {
	// Find returns the smallest p ≥ from (from ≥ 1) at which a record starts,
	// or -1. It may return len(data) only if Ahead is 0.
	Find func(data []byte, from int) int
	// Ahead is how many bytes from p on Find examines.
	Ahead int
}

// Lines starts a record after every newline.
var Lines = Boundary{Find: func(data []byte, from int) int {
	i := bytes.IndexByte(data[from-1:], '\n')
	if i < 0 {
		return -1
	}
	return from + i
}}

// first returns the first start at or after from that the bytes in data decide,
// or -1. ended means that nothing follows data.
func (b Boundary) first(data []byte, from int, ended bool) int {
	if from > len(data) {
		return -1
	}
	p := b.Find(data, from)
	if p < 0 || !ended && p+b.Ahead > len(data) {
		return -1
	}
	return p
}

// last returns the largest start in data[1:] that the bytes in data decide, or
// -1. It searches from the end in growing windows, because the last start is
// usually near.
func (b Boundary) last(data []byte, ended bool) int {
	end := len(data)
	if !ended {
		end -= b.Ahead // later starts may need bytes that are not read yet
	}
	for window := 4 << 10; ; window *= 4 {
		from := max(end-window, 1)
		best := -1
		for p := from; p <= end; p++ {
			if p = b.Find(data, p); p < 0 || p > end {
				break
			}
			best = p
		}
		if best >= 0 || from == 1 {
			return best
		}
	}
}

// A Block is a sequence of whole records of one input. The block and its Data
// belong to the reader and are valid until the callback returns.
type Block struct {
	File   int    // index of the input
	Seq    int    // rises within its input, with gaps
	Offset int64  // of Data[0] in the input, decompressed
	Data   []byte // never empty; the last record may lack its newline
	// Dropped is how many bytes were left out of a record longer than
	// MaxRecord; Data is then the beginning of this record. 0 for other blocks.
	Dropped int64
	// Records is the number of lines (or events) in the block. The worker sets
	// it.
	Records int
}
