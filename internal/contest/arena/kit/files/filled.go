package files

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// Filled adds a comment of words to a script or a style sheet, up to a size, so that it
// compresses as libraries do. The words are drawn from the seed and the size. Filled panics
// if the text is too long.
func Filled(text []byte, size int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, uint64(size)))
	words := make([]string, 1200)
	for i := range words {
		letters := make([]byte, 3+r.IntN(7))
		for k := range letters {
			letters[k] = byte('a' + r.IntN(26))
		}
		words[i] = string(letters)
	}
	var b bytes.Buffer
	b.Write(bytes.TrimRight(text, "\n"))
	b.WriteString("\n/*")
	for b.Len() < size {
		fmt.Fprintf(&b, " %s.%s(%d)", words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(100))
	}
	const end = "*/\n"
	b.Truncate(size - len(end))
	b.WriteString(end)
	if len(text) > size-100 {
		panic(fmt.Sprintf("BUG: %d bytes are too many for a file of %d", len(text), size))
	}
	return b.Bytes()
}
