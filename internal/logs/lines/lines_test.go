package lines

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
)

// got is the output of a Run, sorted by input and block.
type got struct {
	blocks []Block
	reader *Reader
}

// readAll runs a reader to its end and keeps copies of its blocks; a worker
// that sees a file's blocks out of order is an error.
func readAll(t testing.TB, inputs []*Input, opt Options, prefix int64) got {
	t.Helper()
	r := NewReader(inputs, opt)
	var mu sync.Mutex
	var all []Block
	newWork := func(worker int) Work {
		next := map[int]int{}
		return func(b *Block) error {
			if b.Seq < next[b.File] {
				return fmt.Errorf("worker %d got block %d of file %d after %d", worker, b.Seq, b.File, next[b.File]-1)
			}
			next[b.File] = b.Seq + 1
			b.Records = bytes.Count(b.Data, []byte{'\n'})
			c := *b
			c.Data = bytes.Clone(b.Data)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, c)
			return nil
		}
	}
	if prefix >= 0 {
		if err := r.RunPrefix(t.Context(), prefix, newWork); err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for _, b := range all {
			n += int64(len(b.Data)) + b.Dropped
		}
		if whole := totalSize(inputs); n < min(prefix, whole) {
			t.Fatalf("the prefix of %d has only %d of %d bytes", prefix, n, whole)
		}
	}
	if err := r.Run(t.Context(), newWork); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b Block) int {
		if a.File != b.File {
			return a.File - b.File
		}
		return a.Seq - b.Seq
	})
	return got{all, r}
}

func totalSize(inputs []*Input) (n int64) {
	for _, in := range inputs {
		if in.at == nil {
			return 0 // not known beforehand
		}
		n += in.size
	}
	return n
}

// check verifies what every reading must keep: all bytes, in order, and each
// block starts at a record.
func (g got) check(t testing.TB, want []string, b Boundary, maxRecord int) {
	t.Helper()
	for file, content := range want {
		at := int64(0)
		for _, blk := range g.blocks {
			if blk.File != file {
				continue
			}
			if blk.Offset != at {
				t.Fatalf("block %d of file %d is at %d, want %d", blk.Seq, file, blk.Offset, at)
			}
			if string(blk.Data) != content[at:at+int64(len(blk.Data))] {
				t.Fatalf("block %d of file %d has other bytes", blk.Seq, file)
			}
			if at > 0 && b.Find([]byte(content), int(at)) != int(at) {
				t.Fatalf("block %d of file %d does not start at a record", blk.Seq, file)
			}
			if blk.Dropped > 0 && len(blk.Data) != maxRecord {
				t.Fatalf("a long record came with %d bytes, want %d", len(blk.Data), maxRecord)
			}
			at += int64(len(blk.Data)) + blk.Dropped
		}
		if at != int64(len(content)) {
			t.Fatalf("file %d: %d of %d bytes were delivered", file, at, len(content))
		}
	}
}

// records lists the records as a parser would; a long record by its beginning.
func (g got) records(b Boundary) (all []string) {
	for _, blk := range g.blocks {
		if blk.Dropped > 0 {
			all = append(all, fmt.Sprintf("%s… +%d", blk.Data, blk.Dropped))
			continue
		}
		for data := blk.Data; len(data) > 0; {
			p := b.first(data, 1, true)
			if p < 0 {
				p = len(data)
			}
			all = append(all, string(data[:p]))
			data = data[p:]
		}
	}
	return all
}

// makeLog returns lines of hostile lengths, with records of slow logs among
// them.
func makeLog(r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		switch r.IntN(12) {
		case 0:
			b.WriteString("# Time: now\n")
		case 1:
			b.WriteString("# User@Host: u\n")
		case 2:
			b.WriteString("\n")
		case 3:
			b.WriteString("# T")
		case 4:
			b.WriteString(strings.Repeat("long ", r.IntN(200)) + "\n")
		default:
			b.WriteString(strings.Repeat("x", r.IntN(40)) + "\n")
		}
	}
	if r.IntN(2) == 0 {
		return b.String() + "no newline"
	}
	return b.String()
}

// TestBlocksChangeNothing: every block size, number of workers, kind of input
// and prefix gives the same records.
func TestBlocksChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for round := range 60 {
		boundary := Lines
		if round%2 == 1 {
			boundary = linesStarting("# Time:", "# User@Host:")
		}
		contents := []string{makeLog(r, r.IntN(5000)), makeLog(r, r.IntN(300)), makeLog(r, r.IntN(9000))}
		maxRecord := []int{64, 300, 100_000}[r.IntN(3)]
		var first []string
		for try := range 6 {
			opt := Options{Workers: 1 + r.IntN(4), BlockSize: 1 + r.IntN(2000), MaxRecord: maxRecord, Boundary: boundary}
			inputs := make([]*Input, len(contents))
			for i, c := range contents {
				inputs[i] = asInput(t, r.IntN(4), c)
			}
			prefix := int64(-1)
			if r.IntN(2) == 0 {
				prefix = int64(r.IntN(9000))
			}
			g := readAll(t, inputs, opt, prefix)
			g.check(t, contents, boundary, maxRecord)
			recs := g.records(boundary)
			if try == 0 {
				first = recs
			} else if !slices.Equal(first, recs) {
				t.Fatalf("round %d: %d records with %+v, %d before", round, len(recs), opt, len(first))
			}
		}
	}
}

func asInput(t testing.TB, kind int, content string) *Input {
	t.Helper()
	var in *Input
	var err error
	switch kind {
	case 0:
		return Bytes("mem", []byte(content))
	case 1:
		in, err = Stream("stream", iotest.HalfReader(strings.NewReader(content)))
	case 2:
		in, err = Stream("gz", strings.NewReader(gzipped(t, content)))
	default:
		in, err = Stream("zst", strings.NewReader(zstded(t, content)))
		t.Cleanup(func() { in.Close() })
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Head(100); err != nil {
		t.Fatal(err)
	}
	return in
}

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstded(t testing.TB, s string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(z.EncodeAll([]byte(s), nil))
}

// TestPrefixIsOfBytes: the records of a prefix depend on the bytes only.
func TestPrefixIsOfBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	for range 40 {
		contents := []string{makeLog(r, r.IntN(2000)), makeLog(r, r.IntN(2000))}
		limit := int64(r.IntN(4500))
		var first []string
		for try := range 4 {
			inputs := []*Input{asInput(t, r.IntN(4), contents[0]), asInput(t, r.IntN(4), contents[1])}
			var mu sync.Mutex
			g := got{reader: NewReader(inputs, Options{Workers: 1 + r.IntN(3), BlockSize: 1 + r.IntN(900), MaxRecord: 1 << 16})}
			err := g.reader.RunPrefix(t.Context(), limit, func(int) Work {
				return func(b *Block) error {
					mu.Lock()
					defer mu.Unlock()
					c := *b
					c.Data = bytes.Clone(b.Data)
					g.blocks = append(g.blocks, c)
					return nil
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			recs := g.records(Lines)
			slices.Sort(recs)
			if try == 0 {
				first = recs
			} else if !slices.Equal(first, recs) {
				t.Fatalf("prefix %d: %d records, then %d", limit, len(first), len(recs))
			}
		}
	}
}

// TestLine: line numbers are right for any block.
func TestLine(t *testing.T) {
	content := strings.Repeat("a line\n", 1000)
	in := Bytes("mem", []byte(content))
	g := readAll(t, []*Input{in}, Options{Workers: 3, BlockSize: 100}, -1)
	for _, b := range g.blocks {
		if got, want := g.reader.Line(0, b.Seq, 0), b.Offset/7+1; got != want {
			t.Fatalf("the first record of block %d is on line %d, want %d", b.Seq, got, want)
		}
	}
}

// TestRewind: the second reading is like the first.
func TestRewind(t *testing.T) {
	content := makeLog(rand.New(rand.NewPCG(3, 3)), 100_000)
	path := filepath.Join(t.TempDir(), "log.gz")
	if err := os.WriteFile(path, []byte(gzipped(t, content)), 0o600); err != nil {
		t.Fatal(err)
	}
	packed, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	g := readAll(t, []*Input{packed, Bytes("b", []byte(content))}, Options{BlockSize: 5000}, -1)
	if !g.reader.Rewind() {
		t.Fatal("files cannot be read again")
	}
	var n atomic.Int64
	err = g.reader.Run(t.Context(), func(int) Work {
		return func(b *Block) error { n.Add(int64(len(b.Data))); return nil }
	})
	if err != nil || n.Load() != int64(2*len(content)) {
		t.Errorf("%d bytes the second time, want %d: %v", n.Load(), 2*len(content), err)
	}
	if NewReader([]*Input{mustStream(t, content)}, Options{}).Rewind() {
		t.Error("a stream was rewound")
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, nil, 0); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		dir:                       "it is a directory",
		filepath.Join(dir, "no"):  "no such file or directory",
		filepath.Join(secret, ""): "permission denied",
	} {
		_, err := Open(name, nil)
		if name == secret && os.Geteuid() == 0 {
			continue // root may read anything
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("opening %s: %v, want %q", name, err, want)
		}
	}
}

// TestCutOff: a packed log that ends early is an error, or, with Partial, its
// whole lines.
func TestCutOff(t *testing.T) {
	content := makeLog(rand.New(rand.NewPCG(1, 1)), 2_000_000)
	for _, packed := range []string{gzipped(t, content), zstded(t, content)} {
		cut := packed[:len(packed)/2]
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(cut), 0o600); err != nil {
			t.Fatal(err)
		}
		open := func() *Input {
			in, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { in.Close() })
			if _, err := in.Head(1000); err != nil {
				t.Fatal(err)
			}
			return in
		}
		err := NewReader([]*Input{open()}, Options{}).Run(t.Context(), func(int) Work { return func(*Block) error { return nil } })
		var te *TruncatedError
		if !errors.As(err, &te) {
			t.Errorf("a cut-off log read without error: %v", err)
		}
		in := open()
		g := readAll(t, []*Input{in}, Options{BlockSize: 4000, Partial: true}, -1)
		last := g.blocks[len(g.blocks)-1]
		if in.Failed() == nil || last.Data[len(last.Data)-1] != '\n' || in.End() != last.Offset+int64(len(last.Data)) {
			t.Errorf("partial reading: failed %v, end %d", in.Failed(), in.End())
		}
		if !strings.HasPrefix(content, string(g.blocks[0].Data)) {
			t.Error("partial reading has other bytes")
		}
	}
}

// TestSeekAndWhole: a growing log read in two parts gives every line once.
func TestSeekAndWhole(t *testing.T) {
	content := "one\ntwo\nthree\nunfini"
	grown := content + "shed\nlast\n"
	for kind := range 4 {
		in := asInput(t, kind, content)
		g := readAll(t, []*Input{in}, Options{Whole: true, BlockSize: 5}, -1)
		if in.End() != 14 {
			t.Fatalf("kind %d: end is %d, want 14", kind, in.End())
		}
		again := mustStream(t, grown)
		if kind == 0 {
			again = Bytes("mem", []byte(grown))
		}
		if err := again.SeekTo(in.End()); err != nil {
			t.Fatal(err)
		}
		h := readAll(t, []*Input{again}, Options{Whole: true, BlockSize: 5}, -1)
		all := append(g.records(Lines), h.records(Lines)...)
		if got := strings.Join(all, ""); got != grown || len(all) != 5 {
			t.Errorf("kind %d: %q", kind, all)
		}
	}
	for _, in := range []*Input{Bytes("b", []byte(grown)), mustStream(t, grown)} {
		if err := in.SeekTo(5); err != nil { // in the middle of "two"
			t.Fatal(err)
		}
		if got := readAll(t, []*Input{in}, Options{}, -1).records(Lines); got[0] != "three\n" {
			t.Errorf("a start in the middle of a line began with %q", got[0])
		}
	}
	for _, in := range []*Input{Bytes("b", []byte(grown)), mustStream(t, grown)} {
		if err := in.SeekTo(1000); err == nil || !strings.Contains(err.Error(), "it has only 30") {
			t.Errorf("a start beyond the end: %v", err)
		}
	}
}

func mustStream(t testing.TB, s string) *Input {
	t.Helper()
	in, err := Stream("s", strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestLongLineBounded: a line of 100 MB does not need 100 MB of memory.
func TestLongLineBounded(t *testing.T) {
	long := io.MultiReader(strings.NewReader("short\n"), io.LimitReader(zeros{}, 100<<20), strings.NewReader("\nafter\n"))
	in, err := Stream("s", long)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	err = NewReader([]*Input{in}, Options{Workers: 1}).Run(t.Context(), func(int) Work {
		return func(b *Block) error {
			if cap(b.Data) > 4<<20 {
				t.Errorf("the buffer grew to %d", cap(b.Data))
			}
			seen = append(seen, fmt.Sprintf("%d+%d", len(b.Data), b.Dropped))
			return nil
		}
	})
	if want := []string{"6+0", "1048576+103809025", "6+0"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("%v %v, want %v", seen, err, want)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestCancel: a cancelled context ends a Run, even one that waits for a
// terminal.
func TestCancel(t *testing.T) {
	pr, pw := io.Pipe()
	defer pw.Close()
	go pw.Write([]byte("a line and more\n"))
	in, err := Stream("s", pr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if err := NewReader([]*Input{in}, Options{}).Run(ctx, func(int) Work { return func(*Block) error { return nil } }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestWorkError: the first error of a worker ends the Run.
func TestWorkError(t *testing.T) {
	boom := errors.New("boom")
	in := Bytes("b", []byte(strings.Repeat("x\n", 100_000)))
	err := NewReader([]*Input{in}, Options{BlockSize: 10}).Run(t.Context(), func(int) Work {
		return func(b *Block) error { return boom }
	})
	if !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add("a\nb\n", uint8(3), uint8(2), false)
	f.Add("# Time: x\nselect\n# User@Host: y\n;\n# Tim", uint8(5), uint8(40), true)
	f.Fuzz(func(t *testing.T, content string, block, maxRecord uint8, custom bool) {
		b := Lines
		if custom {
			b = linesStarting("# Time:", "# User@Host:")
		}
		opt := Options{Workers: 2, BlockSize: 1 + int(block), MaxRecord: 1 + int(maxRecord), Boundary: b}
		whole := readAll(t, []*Input{Bytes("m", []byte(content))}, opt, int64(block))
		whole.check(t, []string{content}, b, opt.MaxRecord)
		stream := &Input{Name: "s", packed: strings.NewReader(content)}
		streamed := readAll(t, []*Input{stream}, opt, int64(maxRecord))
		streamed.check(t, []string{content}, b, opt.MaxRecord)
		if !slices.Equal(whole.records(b), streamed.records(b)) {
			t.Error("file and stream differ")
		}
	})
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log")
	if err := os.WriteFile(path, bytes.Repeat([]byte(strings.Repeat("x", 219)+"\n"), 1<<20), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(220 << 20)
	for b.Loop() {
		in, err := Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		r := NewReader([]*Input{in}, Options{Workers: 1})
		n := 0
		if err := r.Run(b.Context(), func(int) Work {
			return func(blk *Block) error { n += bytes.Count(blk.Data, []byte{'\n'}); return nil }
		}); err != nil || n != 1<<20 {
			b.Fatal(n, err)
		}
		in.Close()
	}
}

// linesStarting starts a record at every line that begins with one of the
// prefixes, as slow logs do. Lines before the first such line belong to the
// first record.
func linesStarting(prefixes ...string) Boundary {
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
