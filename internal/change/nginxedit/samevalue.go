package nginxedit

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// Duration matches a time with at most one unit.
var Duration = regexp.MustCompile(`^[0-9]{1,6}(ms|s|m|h|d)?$`)

// TimeOf reads a time with one unit; a number without a unit is in seconds.
func TimeOf(v string) (time.Duration, bool) {
	if !Duration.MatchString(v) {
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

// SameValue reports whether two arguments mean the same: equal words, sizes or
// times.
func SameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, aSize := nginx.Size(a)
	y, bSize := nginx.Size(b)
	p, aTime := TimeOf(a)
	q, bTime := TimeOf(b)
	sizes, times := aSize && bSize, aTime && bTime
	// "1m" and "60" may be sizes or times: both readings have to agree.
	return (sizes || times) && (!sizes || x == y) && (!times || p == q)
}
