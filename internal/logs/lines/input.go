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

// An Input is one opened log. Only a Reader may use it concurrently.
type Input struct {
	Name string // as given; standard input is "standard input"

	codec codec     // nil for plain bytes
	wrap  *wrapping // nil if nothing is unwrapped
	close func() error
	start int64 // offset set by SeekTo

	// Either at and size (a plain file or bytes in memory, read by ranges) or
	// packed (a stream) is set.
	at     io.ReaderAt
	size   int64 // size of at when it was opened
	packed io.Reader

	mu   sync.Mutex // of everything below
	src  io.Reader  // streams: unpacked; nil until needed
	stop func()     // frees the decompressor
	// carry holds bytes that were read from src and not delivered yet; err is
	// the error that src returned after them, io.EOF included.
	carry  []byte
	err    error
	next   int64 // offset of the next delivered byte
	midway bool  // next is inside a record, which is skipped
	done   bool  // everything was delivered
	failed error // why the input ended early, with Options.Partial
	seq    int   // number of the next block
	end    int64 // offset behind the last delivered record
	cut    error // read error within the head
	before int64 // lines before start, plus one; 0: not counted yet
}

// Open opens a log by name; "-" means stdin. It fails on a directory and on a
// missing or unreadable file.
func Open(name string, stdin io.Reader) (*Input, error) {
	if name == "-" {
		return Stream("standard input", stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, reason(err))
	}
	return File(name, f)
}

// An OpenFile is a log that was opened by its owner.
type OpenFile interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// File returns an input that reads an open file and closes it.
func File(name string, f OpenFile) (*Input, error) {
	in, err := fromFile(name, f)
	if err != nil {
		f.Close()
	}
	return in, err
}

// reason removes the path from an error; callers add the name.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func fromFile(name string, f OpenFile) (*Input, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, reason(err))
	}
	if st.IsDir() {
		return nil, fmt.Errorf("opening %s: it is a directory", name)
	}
	if !st.Mode().IsRegular() || st.Size() == 0 { // files of /proc have size 0
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

// Stream returns an input that can be read once; gzip and zstd are
// decompressed.
func Stream(name string, r io.Reader) (*Input, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	magic, err := br.Peek(8)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", name, reason(err))
	}
	return &Input{Name: name, packed: br, codec: codecOf(magic)}, nil
}

// Bytes returns a plain log in memory.
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
	if in.wrap != nil && in.wrap.raw != nil {
		return in.wrap.size
	}
	if in.at == nil {
		return -1
	}
	return in.size
}

// SeekTo sets the byte of the (unpacked) input where reading starts. If the
// byte is inside a line, reading starts with the next record. Call SeekTo
// before Head and NewReader. A start beyond the end is an error, because the
// log was replaced.
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

// Head returns up to n of the first bytes without consuming them; fewer if the
// input is shorter or a read fails (Reader.Run then returns the error). The
// caller owns the bytes.
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

// Tail returns up to n of the last bytes of a plain file, from the start of a
// line on; ok is false for streams and if the bytes cannot be read.
func (in *Input) Tail(n int) (tail []byte, ok bool) {
	at := in.at
	if in.wrap != nil {
		at = in.wrap.raw
	}
	if at == nil {
		return nil, false
	}
	from := max(in.size-int64(n), in.start)
	buf := make([]byte, in.size-from)
	k, err := at.ReadAt(buf, from)
	if err != nil && err != io.EOF {
		return nil, false
	}
	if buf = buf[:k]; from > in.start {
		buf = buf[bytes.IndexByte(buf, '\n')+1:]
	}
	if in.wrap != nil {
		buf = in.wrap.chain.Apply(buf)
	}
	return buf, true
}

// Cut returns the read error within the bytes of Head, or nil.
func (in *Input) Cut() error { return in.cut }

// rewind frees the decompressor of a file until Run, so that a thousand packed
// logs do not hold a thousand windows.
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

// readFull fills buf unless the source ends or fails, and returns the source's
// own error. io.ReadFull would turn a plain end into io.ErrUnexpectedEOF, which
// is the error of a cut-off gzip.
func readFull(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = r.Read(buf[n:])
		n += k
	}
	return n, err
}

// open starts decompression and skips to the start.
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

// skip discards the bytes before the start.
func (in *Input) skip() error {
	if in.start == 0 || in.wrap != nil && in.wrap.raw != nil {
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

// broken adds context to a read error. The most common error is a packed stream
// that ends early.
func (in *Input) broken(err error) error {
	if in.codec != nil && errors.Is(err, io.ErrUnexpectedEOF) {
		return &TruncatedError{Name: in.Name, Codec: in.codec.name()}
	}
	return fmt.Errorf("reading %s: %w", in.Name, reason(err))
}

// A TruncatedError reports a packed log that ends inside its stream: the file
// was cut off or is still being written.
type TruncatedError struct{ Name, Codec string }

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("reading %s: the %s stream is cut off", e.Name, e.Codec)
}

// End is the offset behind the last delivered record: the start for the next
// reading of a growing log. It is valid after Reader.Run has returned.
func (in *Input) End() int64 {
	if in.wrap != nil && in.wrap.raw != nil {
		return max(in.wrap.end(), in.start)
	}
	return max(in.end, in.start)
}

// Failed returns why an input that was read with Options.Partial ended early,
// or nil.
func (in *Input) Failed() error { return in.failed }

// Close closes the file and frees the decompressor.
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

// Start is the offset set by SeekTo.
func (in *Input) Start() int64 { return in.start }
