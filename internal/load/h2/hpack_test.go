package h2

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// A list collects fields.
type list [][2]string

// Field implements Sink.
func (l *list) Field(name, value []byte) { *l = append(*l, [2]string{string(name), string(value)}) }

// TestStaticTable compares a few entries with RFC 7541, appendix A.
func TestStaticTable(t *testing.T) {
	for i, want := range map[int]entry{1: {":authority", ""}, 2: {":method", "GET"}, IndexPost: {":method", "POST"}, IndexRoot: {":path", "/"},
		IndexHTTPS: {":scheme", "https"}, 8: {":status", "200"}, 16: {"accept-encoding", "gzip, deflate"}, IndexContentLength: {"content-length", ""},
		IndexIfModifiedSince: {"if-modified-since", ""}, IndexIfNoneMatch: {"if-none-match", ""}, 61: {"www-authenticate", ""}} {
		if static[i] != want {
			t.Errorf("entry %d is %v, want %v", i, static[i], want)
		}
	}
}

// TestDecodeRFC decodes the examples of RFC 7541, C.6: answers with Huffman codes
// and a table of 256 bytes that drops entries.
func TestDecodeRFC(t *testing.T) {
	d := NewDecoder(256)
	for i, c := range []struct {
		block string
		want  list
	}{
		{"\x48\x82\x64\x02\x58\x85\xae\xc3\x77\x1a\x4b\x61\x96\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff\x6e\x91\x9d\x29\xad\x17\x18\x63\xc7\x8f\x0b\x97\xc8\xe9\xae\x82\xae\x43\xd3",
			list{{":status", "302"}, {"cache-control", "private"}, {"date", "Mon, 21 Oct 2013 20:13:21 GMT"}, {"location", "https://www.example.com"}}},
		{"\x48\x83\x64\x0e\xff\xc1\xc0\xbf",
			list{{":status", "307"}, {"cache-control", "private"}, {"date", "Mon, 21 Oct 2013 20:13:21 GMT"}, {"location", "https://www.example.com"}}},
	} {
		var got list
		if err := d.Decode([]byte(c.block), &got); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("block %d: %v %v, want %v", i+1, err, got, c.want)
		}
	}
	if len(d.table.spans) != 4 || d.table.size != 222 {
		t.Errorf("the table has %d entries of %d bytes, want 4 of 222", len(d.table.spans), d.table.size)
	}
}

// A plainEncoder is an encoder without any cleverness, for the tests of Decoder: its
// table is a list, youngest first.
type plainEncoder struct {
	table list
	max   int
	rng   *rand.Rand
}

func sizeOf(l list) (n int) {
	for _, f := range l {
		n += len(f[0]) + len(f[1]) + 32
	}
	return n
}

func (e *plainEncoder) resize(n int) []byte {
	e.max = n
	e.trim()
	return appendNumber(nil, 0x20, 5, n)
}

func (e *plainEncoder) trim() {
	for sizeOf(e.table) > e.max {
		e.table = e.table[:len(e.table)-1]
	}
}

// text writes a string, coded or not.
func (e *plainEncoder) text(b []byte, s string) []byte {
	if e.rng.IntN(2) == 0 {
		return appendText(b, s)
	}
	coded := huffmanEncode(s)
	return append(appendNumber(b, 0x80, 7, len(coded)), coded...)
}

var huffmanByByte = func() (t [256]string) {
	for _, c := range huffmanCodes() {
		t[c.of] = fmt.Sprintf("%0*b", c.size, c.bits)
	}
	return t
}()

// huffmanEncode writes the codes bit by bit.
func huffmanEncode(s string) (out []byte) {
	var bits strings.Builder
	for i := range len(s) {
		bits.WriteString(huffmanByByte[s[i]])
	}
	for bits.Len()%8 != 0 {
		bits.WriteByte('1')
	}
	for all := bits.String(); all != ""; all = all[8:] {
		n, _ := strconv.ParseUint(all[:8], 2, 8)
		out = append(out, byte(n))
	}
	return out
}

// field writes a field in one of the forms that fit.
func (e *plainEncoder) field(b []byte, f [2]string) []byte {
	all := list{}
	for _, s := range static[1:] {
		all = append(all, [2]string{s.name, s.value})
	}
	all = append(all, e.table...)
	at := 0
	for i := range all {
		if all[i] == f && e.rng.IntN(4) > 0 {
			return appendNumber(b, 0x80, 7, i+1)
		}
		if all[i][0] == f[0] && e.rng.IntN(2) == 0 {
			at = i + 1
		}
	}
	kind, bits := byte(0), uint(4)
	switch e.rng.IntN(4) {
	case 0:
		kind = 0x10
	case 1, 2:
		kind, bits = 0x40, 6
	}
	b = appendNumber(b, kind, bits, at)
	if at == 0 {
		b = e.text(b, f[0])
	}
	b = e.text(b, f[1])
	if kind == 0x40 {
		e.table = append(list{f}, e.table...)
		e.trim()
	}
	return b
}

// randomFields returns fields of which many come again, some of them long.
func randomFields(r *rand.Rand) (fields list) {
	names := []string{":status", "date", "etag", "server", "x-a", "x-b", "content-type", "set-cookie"}
	for range r.IntN(12) {
		value := fmt.Sprint("value ", r.IntN(30))
		switch r.IntN(8) {
		case 0:
			value = strings.Repeat(string(rune(r.IntN(0x250))), r.IntN(30))
		case 1:
			value = strings.Repeat("long ", r.IntN(1000))
		case 2:
			value = ""
		}
		fields = append(fields, [2]string{names[r.IntN(len(names))], value})
	}
	return fields
}

// TestDecodeConnection decodes five hundred blocks of one connection, while the size
// of the table changes.
func TestDecodeConnection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d, e := NewDecoder(DefaultTable), &plainEncoder{max: DefaultTable, rng: r}
	for i := range 500 {
		var b []byte
		for range r.IntN(20) / 18 * 2 {
			b = append(b, e.resize(r.IntN(DefaultTable+1))...)
		}
		want := randomFields(r)
		for _, f := range want {
			b = e.field(b, f)
		}
		var got list
		if err := d.Decode(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("block %d: %v\n%.200q\nwant\n%.200q", i, err, got, want)
		}
		if len(d.table.bytes) > 4*DefaultTable || d.table.size != sizeOf(e.table) {
			t.Fatalf("block %d: the table has %d bytes of %d, want %d", i, len(d.table.bytes), d.table.size, sizeOf(e.table))
		}
	}
}

// TestEncodeConnection decodes what Encoder writes, while the peer changes the size
// of the table. TestH2Echo lets Go's server do so.
func TestEncodeConnection(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	e, d := NewEncoder(), NewDecoder(DefaultTable)
	var b []byte
	kept := 0
	for i := range 1000 {
		if r.IntN(20) == 0 {
			for range 1 + r.IntN(2) {
				e.SetMax(r.IntN(2 * DefaultTable))
			}
		}
		var want, got list
		b = e.Begin(b[:0])
		for _, f := range randomFields(r) {
			switch r.IntN(6) {
			case 0:
				want = append(want, [2]string{":path", f[1]})
				b = e.Once(b, IndexPath, f[1])
			case 1:
				want = append(want, [2]string{"cookie", "name=" + f[1]})
				b = e.Pair(b, "cookie", "name", f[1])
			case 2:
				want = append(want, [2]string{":method", "GET"})
				b = e.Index(b, IndexGet)
			default:
				want = append(want, f)
				name := f[0]
				if name[0] != ':' {
					name = strings.ToUpper(name[:1]) + name[1:]
				}
				b = e.Field(b, name, f[1])
			}
		}
		if err := d.Decode(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("block %d: %v\n%.200q\nwant\n%.200q", i, err, got, want)
		}
		if d.table.size != e.size || len(d.table.spans) != len(e.fields) {
			t.Fatalf("block %d: the tables differ: %d and %d bytes", i, d.table.size, e.size)
		}
		kept = max(kept, len(e.fields))
	}
	if kept < 10 {
		t.Errorf("the table never had more than %d fields", kept)
	}
}

// TestEncodeAgain: a field that comes again takes one byte and no memory.
func TestEncodeAgain(t *testing.T) {
	e := NewEncoder()
	b := make([]byte, 0, 256)
	write := func() {
		b = e.Begin(b[:0])
		b = e.Field(b, ":authority", "example.com")
		b = e.Field(b, "User-Agent", "browser")
		b = e.Pair(b, "cookie", "session", "0123456789")
	}
	write()
	if n := testing.AllocsPerRun(100, write); n != 0 || len(b) != 3 {
		t.Errorf("%v allocations, %d bytes, want 0 and 3", n, len(b))
	}
}

// TestDecodeAllocs: fields that are added to the table and dropped again cost no
// allocation.
func TestDecodeAllocs(t *testing.T) {
	var blocks [][]byte
	e := NewEncoder()
	for i := range 500 {
		b := e.Field(nil, "server", "test")
		blocks = append(blocks, e.Field(b, "etag", fmt.Sprint(i)))
	}
	d := NewDecoder(DefaultTable)
	at := 0
	next := func() {
		if err := d.Decode(blocks[at], nothing{}); err != nil {
			t.Fatal(err)
		}
		at++
	}
	for range 300 {
		next()
	}
	if n := testing.AllocsPerRun(150, next); n != 0 {
		t.Errorf("%v allocations per block, want 0", n)
	}
}

type nothing struct{}

// Field implements Sink.
func (nothing) Field(name, value []byte) {}

// TestDecodeRefuses: blocks that are no HPACK.
func TestDecodeRefuses(t *testing.T) {
	for name, block := range map[string]string{
		"index 0":                           "\x80",
		"an index behind the table":         "\xbe",
		"a name behind the table":           "\x7f\x00\x01a",
		"a number without end":              "\xff\xff\xff\xff\xff\xff\xff\xff",
		"a number cut short":                "\xff",
		"a string that is longer":           "\x40\x05ab",
		"no value":                          "\x40\x01a",
		"a value without a length":          "\x41",
		"a larger table than allowed":       "\x3f\xff\xff\x03",
		"a change of the table in between":  "\x82\x20",
		"padding of a whole byte":           "\x41\x82\xff\xff",
		"padding with zeros":                "\x41\x81\x18",
		"the end of the Huffman code":       "\x41\x84\xff\xff\xff\xff",
		"a Huffman code that is cut in two": "\x41\x81\xfe",
	} {
		if err := NewDecoder(DefaultTable).Decode([]byte(block), nothing{}); err != ErrCompression {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHuffman decodes each byte alone, and all of them together.
func TestHuffman(t *testing.T) {
	var all []byte
	for i := range 256 {
		s := string([]byte{byte(i)})
		got, ok := huffman.decode(nil, huffmanEncode(s))
		if !ok || string(got) != s {
			t.Errorf("%q came back as %q %v", s, got, ok)
		}
		all = append(all, byte(i), byte(255-i))
	}
	got, ok := huffman.decode(nil, huffmanEncode(string(all)))
	if !ok || !bytes.Equal(got, all) {
		t.Errorf("all bytes came back as %q %v", got, ok)
	}
}
