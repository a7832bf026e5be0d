package gen

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
)

// Shapes of logs that are generated to exhaust a reader: every path is
// different.
var Shapes = []string{"words", "thicket", "late", "long"}

// WriteHostile writes a combined log of so many lines, nearly all of them with
// a path of its own, and one in ten a GET of /login:
//
//   - words: random words at the root and below, which are not ids by shape;
//   - thicket: five positions with 30 names each, none of which has many;
//   - late: a calm beginning of 100,000 lines, then words;
//   - long: words of 60 letters, ten deep.
func WriteHostile(w io.Writer, shape string, n int, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 0xbad))
	bw := bufio.NewWriterSize(w, 1<<20)
	buf := make([]byte, 0, 2048)
	for i := range n {
		buf = append(buf[:0], `10.0.0.1 - - [19/Nov/2026:04:04:05 +0000] "GET `...)
		switch {
		case i%10 == 0 || shape == "late" && i < 100_000:
			buf = append(buf, "/login"...)
		default:
			buf = hostilePath(buf, shape, r)
		}
		buf = append(buf, ` HTTP/1.1" `...)
		buf = strconv.AppendInt(buf, []int64{200, 200, 404, 301}[r.IntN(4)], 10)
		buf = append(buf, ` 12 "-" "x" 0.0`...)
		buf = strconv.AppendInt(buf, 10+r.Int64N(89), 10)
		buf = append(buf, '\n')
		if _, err := bw.Write(buf); err != nil {
			return fmt.Errorf("writing the log: %w", err)
		}
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("writing the log: %w", err)
	}
	return nil
}

func hostilePath(b []byte, shape string, r *rand.Rand) []byte {
	switch shape {
	case "thicket":
		for range 5 {
			b = append(b, "/name"...)
			b = append(b, byte('a'+r.IntN(26)), byte('q'+r.IntN(2)))
		}
		return append(b, byte('a'+r.IntN(26)))
	case "long":
		for range 10 {
			b = append(b, '/')
			for range 60 {
				b = append(b, byte('a'+r.IntN(26)))
			}
		}
		return b
	}
	for range 1 + r.IntN(3) {
		b = append(b, '/')
		for range 4 + r.IntN(8) {
			b = append(b, byte('a'+r.IntN(26)))
		}
	}
	return b
}
