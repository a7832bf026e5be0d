package nginx

import (
	"regexp"
	"strconv"
	"strings"
)

var sizeParts = regexp.MustCompile(`^([0-9]{1,12})([kKmM]?)$`)

// Size reads a size as nginx does: bytes, or with k or m.
func Size(v string) (int64, bool) {
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
