package lines

import (
	"bytes"
	"runtime"
)

const (
	// DefaultBlock fits the second-level cache beside a worker's tables.
	DefaultBlock = 256 << 10
	// DefaultMaxRecord is the longest line that is parsed.
	DefaultMaxRecord = 1 << 20
)

// Options say how to cut and who works. The zero value is good for lines.
type Options struct {
	Workers   int      // 0: one per usable core
	BlockSize int      // bytes; 0: DefaultBlock
	MaxRecord int      // bytes; 0: DefaultMaxRecord; longer records arrive cut
	Boundary  Boundary // zero: Lines
	// Whole leaves an unfinished last line (no newline at the end of the
	// input) unread, for logs that are being written; see Input.End.
	Whole bool
	// Partial takes what a packed stream holds before the place where it is
	// cut off; Input.Failed tells. Without it that is an error of Run.
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
	// Records inside a block must be no longer than the longest one allowed,
	// or it would depend on the blocks which of them are cut.
	o.BlockSize = min(o.BlockSize, o.MaxRecord)
	return o
}

// A Boundary tells where records start. Where one starts must be a local
// property of the bytes, or blocks could not be cut independently of each
// other: whether a record starts at p may depend on data[p-1] and on
// data[p:p+Ahead] only.
type Boundary struct {
	// Find returns the smallest p ≥ from (from ≥ 1) at which a record starts,
	// or -1. It may return len(data) only if Ahead is 0.
	Find func(data []byte, from int) int
	// Ahead is how many bytes from p on Find needs to see.
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

// LinesStarting starts a record at every line that begins with one of the
// prefixes, such as "# Time:" and "# User@Host:" of slow logs. What stands
// before the first such line belongs to the first record.
func LinesStarting(prefixes ...string) Boundary {
	b := Boundary{}
	for _, p := range prefixes {
		b.Ahead = max(b.Ahead, len(p))
	}
	b.Find = func(data []byte, from int) int {
		for {
			i := bytes.IndexByte(data[from-1:], '\n')
			if i < 0 {
				return -1
			}
			from += i
			for _, p := range prefixes {
				if len(data)-from >= len(p) && string(data[from:from+len(p)]) == p {
					return from
				}
			}
			if from++; from > len(data) {
				return -1
			}
		}
	}
	return b
}

// first returns the first start at or after from that Find can be sure of, or
// -1; ended says that nothing follows data.
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

// last returns the largest start in data[1:] that Find can be sure of, or -1.
// It looks from the end in growing windows, so that the usual case is short.
func (b Boundary) last(data []byte, ended bool) int {
	end := len(data)
	if !ended {
		end -= b.Ahead // starts beyond it may not be recognised yet
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

// A Block is a run of whole records of one input. It and its Data belong to
// the reader and are valid until the callback returns.
type Block struct {
	File   int    // index of the input
	Seq    int    // rises within its input; gives the order, not the count
	Offset int64  // of Data[0] in the input, decompressed
	Data   []byte // never empty; the last record may lack its newline
	// Dropped is not 0 where Data is the beginning of one record that is longer
	// than MaxRecord, and that many bytes of it were left out.
	Dropped int64
	// Records is set by the worker: how many lines (or events) it counted.
	Records int
}
