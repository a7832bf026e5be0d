package nginxconf

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	sizeParts = regexp.MustCompile(`^([0-9]{1,12})([kKmM]?)$`)
	duration  = regexp.MustCompile(`^[0-9]{1,6}(ms|s|m|h|d)?$`)
)

// bytesOf reads a size as nginx does: bytes, or with k or m.
func bytesOf(v string) (int64, bool) {
	m := sizeParts.FindStringSubmatch(v)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	switch strings.ToLower(m[2]) {
	case "k":
		n <<= 10
	case "m":
		n <<= 20
	}
	return n, err == nil
}

// sizeOf writes a size, rounded up to whole pages of memory.
func sizeOf(bytes int64) string { return strconv.FormatInt((bytes+4095)/4096*4, 10) + "k" }

// timeOf reads a time of one unit; plain numbers are seconds.
func timeOf(v string) (time.Duration, bool) {
	if !duration.MatchString(v) {
		return 0, false
	}
	if rest, ok := strings.CutSuffix(v, "d"); ok {
		n, err := strconv.Atoi(rest)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	if v[len(v)-1] <= '9' {
		v += "s"
	}
	d, err := time.ParseDuration(v)
	return d, err == nil
}

// sameValue says whether two arguments mean the same: equal words, sizes or times.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, aSize := bytesOf(a)
	y, bSize := bytesOf(b)
	p, aTime := timeOf(a)
	q, bTime := timeOf(b)
	sizes, times := aSize && bSize, aTime && bTime
	// "1m" and "60" may be either: they are the same where both readings agree.
	return (sizes || times) && (!sizes || x == y) && (!times || p == q)
}

// size is an argument that must be a size up to a bound.
func (t *task) size(name string, most int64) (int64, error) {
	n, ok := bytesOf(t.args[name])
	if !ok || n < 1 || n > most {
		return 0, fmt.Errorf("%s %q: want a size up to %s", name, t.args[name], sizeOf(most))
	}
	return n, nil
}
