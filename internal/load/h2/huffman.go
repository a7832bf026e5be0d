package h2

import "sort"

// huffmanBits is how many bits the first step of the decoder looks at. The codes of
// all letters and digits are shorter.
const huffmanBits = 11

// huffmanSizes has the length of the code of each byte (RFC 7541, appendix B): a is 5
// bits, z is 30.
const huffmanSizes = "" +
	"isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhf" +
	"ibccccccccccccccccccccccdcdioijbkabababbbaccbbbabcbaabccccckgjix" +
	"prpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrs" +
	"vvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwv"

// A huffmanCode is the code of one byte: the lowest size bits of bits.
type huffmanCode struct {
	bits uint32
	size uint8
	of   byte
}

// huffmanCodes returns the codes of all bytes, the shortest first. The code is
// canonical: codes of one length follow each other in the order of the bytes, and
// the first of the next length follows them.
func huffmanCodes() []huffmanCode {
	all := make([]huffmanCode, len(huffmanSizes))
	for i := range all {
		all[i] = huffmanCode{size: huffmanSizes[i] - 'a' + 5, of: byte(i)}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].size < all[j].size })
	for i := 1; i < len(all); i++ {
		all[i].bits = (all[i-1].bits + 1) << (all[i].size - all[i-1].size)
	}
	return all
}

// A huffmanTable decodes the Huffman code.
type huffmanTable struct {
	short [1 << huffmanBits]uint16 // by the next bits: size<<8 | byte; 0 for longer codes
	long  []huffmanCode            // codes of more than huffmanBits bits
}

var huffman = newHuffmanTable(huffmanCodes())

func newHuffmanTable(codes []huffmanCode) *huffmanTable {
	t := new(huffmanTable)
	for _, c := range codes {
		if c.size > huffmanBits {
			t.long = append(t.long, c)
			continue
		}
		free := huffmanBits - c.size
		for rest := range 1 << free {
			t.short[int(c.bits)<<free|rest] = uint16(c.size)<<8 | uint16(c.of)
		}
	}
	return t
}

// decode appends the decoded text of src to dst. It returns false for a text that
// is no Huffman code: with the code of the end in it, or with padding that is
// longer than 7 bits or not the beginning of the code of the end (RFC 7541, 5.2).
func (t *huffmanTable) decode(dst, src []byte) ([]byte, bool) {
	var acc uint64 // the next bits, left-aligned
	have := 0
	for {
		for have <= 56 && len(src) > 0 {
			acc |= uint64(src[0]) << (56 - have)
			have += 8
			src = src[1:]
		}
		if e := t.short[acc>>(64-huffmanBits)]; e != 0 && int(e>>8) <= have {
			dst = append(dst, byte(e))
			acc <<= e >> 8
			have -= int(e >> 8)
			continue
		}
		if have < 8 { // padding: no code of 7 bits and less is all ones
			return dst, have == 0 || acc>>(64-have) == 1<<have-1
		}
		c, ok := t.find(uint32(acc >> 32))
		if !ok || int(c.size) > have {
			return dst, false
		}
		dst = append(dst, c.of)
		acc <<= c.size
		have -= int(c.size)
	}
}

// find finds the long code at the beginning of the bits.
func (t *huffmanTable) find(bits uint32) (huffmanCode, bool) {
	for _, c := range t.long {
		if bits>>(32-c.size) == c.bits {
			return c, true
		}
	}
	return huffmanCode{}, false
}
