package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// Duration formats a duration in at most 7 columns with three significant
// digits, as in "12.3ms", "4.56s", "823µs", "1h02m".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d == 0:
		return "0"
	case d < time.Microsecond:
		return strconv.FormatInt(int64(d), 10) + "ns"
	case d < time.Millisecond:
		return three(float64(d)/1e3) + "µs"
	case d < time.Second:
		return three(float64(d)/1e6) + "ms"
	case d < 1000*time.Second:
		return three(d.Seconds()) + "s"
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%.0fh", d.Hours())
}

// three formats a number below 1,000 with three significant digits.
func three(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Percent formats a share of 0..1 as in "12.3%".
func Percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" }

// Count formats a whole number with separated thousands, as in "1,234,567".
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Number formats a count with its noun: "1 run", "1,200 runs", "3 remedies".
func Number[N int | int64](n N, thing string) string {
	if stem, ok := strings.CutSuffix(thing, "y"); ok && n != 1 {
		thing = stem + "ie"
	}
	if n != 1 {
		thing += "s"
	}
	return Count(int64(n)) + " " + thing
}

// Factor formats a ratio with about three digits, as in "0.0045", "1.25", "37.9", "1,940".
func Factor(v float64) string {
	switch {
	case v >= 99.95:
		return Count(int64(math.Round(v)))
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.0995 || v <= 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.0001:
		return strconv.FormatFloat(v, 'f', 1-int(math.Floor(math.Log10(v))), 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// mostPercent is the ratio from which Difference writes a factor: +37,785 % is hard to read.
const mostPercent = 10

// Difference formats a ratio as the change that it is, in percent, or as a factor where
// it is large, as in "-99.7 %", "-12 %", "+50 %", "× 379".
func Difference(ratio float64) string {
	switch {
	case ratio >= mostPercent:
		return "× " + Factor(ratio)
	case ratio < 0.05 && ratio > 0: // -100 % would be nothing left
		return fmt.Sprintf("%+.1f %%", max(-99.9, 100*(ratio-1)))
	}
	return fmt.Sprintf("%+.0f %%", 100*(ratio-1))
}

// Short formats a rate or size in at most 5 columns with a decimal unit, as in
// "12k", "3.4M", "999".
func Short(v float64) string {
	units := []string{"", "k", "M", "G", "T"}
	i := 0
	for v >= 999.5 && i < len(units)-1 {
		v /= 1000
		i++
	}
	if i > 0 && v < 9.95 {
		return strconv.FormatFloat(v, 'f', 1, 64) + units[i]
	}
	return strconv.FormatFloat(v, 'f', 0, 64) + units[i]
}

// Size formats bytes as [Short] does.
func Size(b iikanji.Bytes) string { return Short(float64(b)) }

// ServiceCPU formats the CPU use of services in percent of one core, as in
// "mariadbd 61 nginx 8". Services below half a percent are left out.
func ServiceCPU(names []string, cores []float64) string {
	var parts []string
	for i, name := range names {
		if pct := 100 * cores[i]; pct >= 0.5 {
			parts = append(parts, fmt.Sprintf("%s %.0f", Clean(name), pct))
		}
	}
	return strings.Join(parts, " ")
}
