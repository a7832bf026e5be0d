package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// An Input is one opened log. It is not safe for concurrent use but by a Reader.
type Input struct {
	Name string // as it was given; standard input is "standard input"

	codec codec // nil for plain bytes
	close func() error
	start int64 // where reading starts, from SeekTo

	// One of the two: a plain file or bytes in memory, read by ranges, or a
	// packed stream.
	at     io.ReaderAt
	size   int64 // of at, when it was opened
	packed io.Reader

	mu   sync.Mutex // of everything below
	src  io.Reader  // streams: unpacked; nil until needed
	stop func()     // frees the unpacker
	// carry are bytes that were read from src and not delivered yet; err is
	// what src answered behind them, io.EOF included.
	carry  []byte
	err    error
	next   int64 // offset of what is delivered next
	midway bool  // next is in the middle of a record, which is skipped
	done   bool  // everything was delivered
	failed error // why it ended early, with Options.Partial
	seq    int   // of the next block
	end    int64 // behind the last record delivered
	cut    error // how the head breaks
	before int64 // lines before start, plus one; 0 until counted
}

// Open opens a log by name; "-" means stdin. A folder, a missing or an
// unreadable file is an error here and not later.
func Open(name string, stdin io.Reader) (*Input, error) {
	if name == "-" {
		return Stream("standard input", stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, reason(err))
	}
	in, err := fromFile(name, f)
	if err != nil {
		f.Close()
	}
	return in, err
}

// reason drops the path, which the caller names anyway.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func fromFile(name string, f *os.File) (*Input, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, reason(err))
	}
	if st.IsDir() {
		return nil, fmt.Errorf("opening %s: it is a directory", name)
	}
	if !st.Mode().IsRegular() || st.Size() == 0 { // files of /proc say 0
		in, err := Stream(name, f)
		if in != nil {
			in.close = f.Close
		}
		return in, err
	}
	magic := make([]byte, 8)
	n, err := f.ReadAt(magic, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", name, reason(err))
	}
	in := &Input{Name: name, close: f.Close, codec: codecOf(magic[:n])}
	if in.codec == nil {
		in.at, in.size = f, st.Size()
	} else {
		in.packed = io.NewSectionReader(f, 0, 1<<62)
	}
	return in, nil
}

// Stream reads a log that cannot be read twice; gzip and zstd are unpacked.
func Stream(name string, r io.Reader) (*Input, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	magic, err := br.Peek(8)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", name, reason(err))
	}
	return &Input{Name: name, packed: br, codec: codecOf(magic)}, nil
}

// Bytes is a plain log in memory.
func Bytes(name string, data []byte) *Input {
	return &Input{Name: name, at: bytes.NewReader(data), size: int64(len(data))}
}

// Compression names how the input is packed: "gzip", "zstd" or "".
func (in *Input) Compression() string {
	if in.codec == nil {
		return ""
	}
	return in.codec.name()
}

// Size is the size of a plain file when it was opened, -1 for streams.
func (in *Input) Size() int64 {
	if in.at == nil {
		return -1
	}
	return in.size
}

// SeekTo starts reading at a byte of the (unpacked) input instead of 0. A
// start in the middle of a line begins with the next record. Call it before
// Head and NewReader. A start beyond the end is an error: the log was
// replaced, and an empty result would be a lie.
func (in *Input) SeekTo(offset int64) error {
	in.start, in.next = offset, offset
	if in.at == nil {
		return in.open()
	}
	if offset > in.size {
		return fmt.Errorf("skipping to byte %d of %s: it has only %d", offset, in.Name, in.size)
	}
	return nil
}

// Head returns up to n of the first bytes that will be delivered, without
// taking them; less where the input is shorter or breaks there (Reader.Run
// will say how). The bytes are the caller's.
func (in *Input) Head(n int) ([]byte, error) {
	if in.at != nil {
		buf := make([]byte, min(int64(n), in.size-in.start))
		k, err := in.at.ReadAt(buf, in.start)
		if k == 0 && err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading %s: %w", in.Name, reason(err))
		}
		return buf[:k], nil
	}
	if err := in.open(); err != nil {
		return nil, err
	}
	if more := n - len(in.carry); more > 0 && in.err == nil {
		in.carry = append(in.carry, make([]byte, more)...)
		k, err := readFull(in.src, in.carry[n-more:])
		in.carry, in.err = in.carry[:n-more+k], err
	}
	if in.err != nil && in.err != io.EOF {
		in.cut = in.broken(in.err)
		if len(in.carry) == 0 {
			return nil, in.cut
		}
	}
	return bytes.Clone(in.carry[:min(n, len(in.carry))]), in.rewind()
}

// Cut says how the input breaks within what Head returned, nil where it does not.
func (in *Input) Cut() error { return in.cut }

// rewind frees the unpacker of a file until it is read in earnest, so that a
// thousand packed logs do not hold a thousand windows.
func (in *Input) rewind() error {
	file, ok := in.packed.(*io.SectionReader)
	if !ok {
		return nil
	}
	if in.stop != nil {
		in.stop()
	}
	in.src, in.stop, in.carry, in.err = nil, nil, nil, nil
	_, err := file.Seek(0, io.SeekStart)
	return err
}

// readFull fills buf unless the source ends or breaks, and returns the
// source's own error: io.ReadFull makes io.ErrUnexpectedEOF of a plain end,
// which is what a cut-off gzip says.
func readFull(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = r.Read(buf[n:])
		n += k
	}
	return n, err
}

// open starts unpacking, at the place where SeekTo went.
func (in *Input) open() error {
	if in.src != nil {
		return nil
	}
	if in.codec == nil {
		in.src = in.packed
	} else {
		src, stop, err := in.codec.reader(in.packed)
		if err != nil {
			return in.broken(err)
		}
		in.src, in.stop = src, stop
	}
	return in.skip()
}

// skip drops what stands before the start.
func (in *Input) skip() error {
	if in.start == 0 {
		return nil
	}
	var last [1]byte
	n, err := io.CopyN(io.Discard, in.src, in.start-1)
	if err == nil {
		var k int
		k, err = readFull(in.src, last[:])
		if n += int64(k); k > 0 {
			err = nil
		}
	}
	if err == io.EOF {
		return fmt.Errorf("skipping to byte %d of %s: it has only %d", in.start, in.Name, n)
	} else if err != nil {
		return in.broken(err)
	}
	in.midway = last[0] != '\n'
	return nil
}

// broken explains a read error; a packed stream that ends early is the usual one.
func (in *Input) broken(err error) error {
	if in.codec != nil && errors.Is(err, io.ErrUnexpectedEOF) {
		return &TruncatedError{Name: in.Name, Codec: in.codec.name()}
	}
	return fmt.Errorf("reading %s: %w", in.Name, reason(err))
}

// A TruncatedError says that a packed log ends in the middle of its stream:
// it was cut off, or is still being written.
type TruncatedError struct{ Name, Codec string }

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("reading %s: the %s stream is cut off", e.Name, e.Codec)
}

// End is the offset behind the last record delivered, from where a growing
// log is read on the next time. It is right once Reader.Run has returned.
func (in *Input) End() int64 { return max(in.end, in.start) }

// Failed says why an input read with Options.Partial ended early, nil when it
// did not.
func (in *Input) Failed() error { return in.failed }

// Close frees the file and the unpacker.
func (in *Input) Close() error {
	if in.stop != nil {
		in.stop()
		in.stop = nil
	}
	if in.close != nil {
		return in.close()
	}
	return nil
}

// Start is where SeekTo went.
func (in *Input) Start() int64 { return in.start }
