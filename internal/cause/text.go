package cause

import (
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/show/plain"
)

// Cut shortens a text to n characters, with one blank between its words.
func Cut(s string, n int) string {
	return plain.Cut(strings.Join(strings.Fields(s), " "), n)
}

// Plural formats a count with its noun.
func Plural(n float64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}

// Number formats a count for a sentence: 12, 3,400, 1.2 M.
func Number(n float64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f G", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", n/1e6)
	case n >= 1000:
		return fmt.Sprintf("%d,%03d", int64(n+0.5)/1000, int64(n+0.5)%1000)
	default:
		return fmt.Sprintf("%.0f", n)
	}
}

// Brief rounds a time to three digits.
func Brief(d time.Duration) time.Duration {
	for unit := time.Second; unit >= time.Microsecond; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}
