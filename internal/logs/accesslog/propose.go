package accesslog

import (
	"fmt"
	"strings"
)

// maxProposed is how many lines of a sample a format is proposed after.
const maxProposed = 20

// A proposal is a format string that reads some lines of a log of no known format.
type proposal struct {
	text       string
	reads, all int // lines of the sample
}

// propose returns the format string, made of one of the first lines, that reads the most
// lines of the sample; nil if no line shows a path or a request and something else. It is
// only proposed, because what the columns mean is not sure.
func propose(sample [][]byte) *proposal {
	best := proposal{all: len(sample)}
	tried := map[string]bool{}
	for _, line := range sample[:min(len(sample), maxProposed)] {
		l := inferColumnsOf(inference{title: "text", loose: true}, [][]byte{line})
		if l == nil {
			continue
		}
		text := apacheText(l)
		if tried[text] || strings.Contains(text, "'") {
			continue
		}
		tried[text] = true
		f, err := requestedFormat(text, sample, nil)
		if err != nil {
			continue
		}
		if n := readable(f, sample); n > best.reads {
			best.text, best.reads = text, n
		}
	}
	if best.reads == 0 {
		return nil
	}
	return &best
}

// hint is the flag to type.
func (p *proposal) hint() string {
	return fmt.Sprintf("--log-format '%s' reads %d of the first %d lines: check what its columns mean", p.text, p.reads, p.all)
}
