package h2

import "errors"

// A Sink gets the fields of a header block, in their order. The slices are valid
// during the call only.
type Sink interface{ Field(name, value []byte) }

// ErrCompression is what is wrong with a header block that cannot be decoded. The
// connection is lost with it, because both sides' tables differ from then on.
var ErrCompression = errors.New("a header block that is no HPACK")

// A Decoder decodes the header blocks of one connection. It allocates while its
// memory grows only.
type Decoder struct {
	limit int // SETTINGS_HEADER_TABLE_SIZE that was sent to the peer
	table table
	names []byte // a decoded name, if it was Huffman-coded
	text  []byte // a decoded value, if it was Huffman-coded
}

// NewDecoder returns a decoder with a dynamic table of at most limit bytes.
func NewDecoder(limit int) *Decoder {
	return &Decoder{limit: limit, table: table{max: limit}}
}

// Decode decodes a whole header block. The error is nil or ErrCompression.
func (d *Decoder) Decode(block []byte, to Sink) error {
	for first := true; len(block) > 0; {
		c := block[0]
		var ok bool
		switch {
		case c&0x80 != 0:
			block, ok = d.indexed(block, to)
		case c&0xc0 == 0x40:
			block, ok = d.literal(block, 6, true, to)
		case c&0xe0 == 0x20:
			// A change of the table's size stands at the beginning of a block (RFC 7541, 4.2).
			block, ok = d.resize(block)
			if !ok || !first {
				return ErrCompression
			}
			continue
		default: // without indexing, or never indexed
			block, ok = d.literal(block, 4, false, to)
		}
		if !ok {
			return ErrCompression
		}
		first = false
	}
	return nil
}

func (d *Decoder) resize(block []byte) (rest []byte, ok bool) {
	n, rest, ok := number(block, 5)
	if !ok || n > d.limit {
		return nil, false
	}
	d.table.resize(n)
	return rest, true
}

func (d *Decoder) indexed(block []byte, to Sink) (rest []byte, ok bool) {
	i, rest, ok := number(block, 7)
	if !ok {
		return nil, false
	}
	name, value, ok := d.at(i)
	if ok {
		to.Field(name, value)
	}
	return rest, ok
}

// at returns the field with an index.
func (d *Decoder) at(i int) (name, value []byte, ok bool) {
	if i <= staticSize {
		return staticBytes[i].name, staticBytes[i].value, i > 0
	}
	return d.table.at(i - staticSize - 1)
}

func (d *Decoder) literal(block []byte, bits uint, keep bool, to Sink) (rest []byte, ok bool) {
	i, rest, ok := number(block, bits)
	if !ok {
		return nil, false
	}
	var name, value []byte
	if i > 0 {
		name, _, ok = d.at(i)
	} else {
		name, rest, ok = str(rest, &d.names)
	}
	if !ok {
		return nil, false
	}
	if value, rest, ok = str(rest, &d.text); !ok {
		return nil, false
	}
	to.Field(name, value)
	if keep {
		d.table.add(name, value)
	}
	return rest, true
}

// maxNumber bounds the numbers of HPACK: no index or length of a block that is
// accepted is larger.
const maxNumber = 1 << 24

// number reads a number with a prefix of so many bits (RFC 7541, 5.1).
func number(b []byte, bits uint) (n int, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	mask := byte(1)<<bits - 1
	n = int(b[0] & mask)
	b = b[1:]
	if n < int(mask) {
		return n, b, true
	}
	for shift := uint(0); len(b) > 0 && shift <= 28; shift += 7 {
		c := b[0]
		b = b[1:]
		if n += int(c&0x7f) << shift; n > maxNumber {
			return 0, nil, false
		}
		if c < 0x80 {
			return n, b, true
		}
	}
	return 0, nil, false
}

// str reads a string (RFC 7541, 5.2). A Huffman-coded one is decoded into mem.
func str(b []byte, mem *[]byte) (s, rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	coded := b[0]&0x80 != 0
	n, b, ok := number(b, 7)
	if !ok || n > len(b) {
		return nil, nil, false
	}
	s, rest = b[:n], b[n:]
	if coded {
		*mem, ok = huffman.decode((*mem)[:0], s)
		s = *mem
	}
	return s, rest, ok
}
