package iikanji

import (
	"fmt"
	"strconv"
)

// Bytes is a size in bytes.
type Bytes int64

// String formats the size with a binary unit and at most one decimal, as in
// "1.4 MiB"; sizes under 1 KiB are whole bytes, as in "512 B".
func (b Bytes) String() string {
	const units = "KMGTPE"
	n := float64(b)
	if n < 0 {
		return "-" + Bytes(-b).String()
	}
	if n < 1024 {
		return strconv.FormatInt(int64(b), 10) + " B"
	}
	i := -1
	for n >= 1024 && i < len(units)-1 {
		n /= 1024
		i++
	}
	return fmt.Sprintf("%.1f %ciB", n, units[i])
}

// A Range is an interval of a quantity that is not known exactly, such as the
// seconds that a remedy could save. Lo ≤ Hi; both have the unit of the field
// that holds the Range.
type Range struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// An Interval is an estimate with its confidence interval, for example an
// effect on ln(score). Level is the two-sided confidence, as in 0.90.
type Interval struct {
	Mid   float64 `json:"mid"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Level float64 `json:"level"`
}
