package h2

import "testing"

// A tally counts fields and their bytes.
type tally struct{ fields, bytes int }

// Field implements Sink.
func (n *tally) Field(name, value []byte) {
	n.fields++
	n.bytes += len(name) + len(value)
}

// FuzzDecode decodes two blocks of one connection. The table keeps its bounds, and
// no field is larger than what a block of its size and the table can hold.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x88\x40\x01a\x01b\xbe"), []byte("\xbe\x20"))
	f.Add([]byte("\x48\x82\x64\x02\x58\x85\xae\xc3\x77\x1a\x4b"), []byte("\x48\x83\x64\x0e\xff\xc1"))
	f.Add([]byte("\x3f\x11\x40\x01a\x01b"), []byte("\xff\x80\x01"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := NewDecoder(DefaultTable)
		for _, block := range [][]byte{first, second} {
			var n tally
			err := d.Decode(block, &n)
			if n.fields > len(block) || n.bytes > len(block)*DefaultTable+2*len(block) {
				t.Fatalf("%d fields of %d bytes from %d bytes", n.fields, n.bytes, len(block))
			}
			size := 0
			for _, s := range d.table.spans {
				size += s.size()
			}
			if size != d.table.size || size > d.table.max || d.table.max > DefaultTable || len(d.table.bytes) > 2*DefaultTable+len(block)*2 {
				t.Fatalf("a table of %d bytes counts %d, at most %d; %d in memory", size, d.table.size, d.table.max, len(d.table.bytes))
			}
			if err != nil {
				return
			}
		}
	})
}
