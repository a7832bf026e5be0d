package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// Short prints a rate or size in at most 5 columns with a decimal unit, as in
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

// ServiceCPU prints services with the CPU that they used, in percent of one
// core, as in "mariadbd 61 nginx 8"; those under half a percent are left out.
func ServiceCPU(names []string, cores []float64) string {
	var parts []string
	for i, name := range names {
		if pct := 100 * cores[i]; pct >= 0.5 {
			parts = append(parts, fmt.Sprintf("%s %.0f", Clean(name), pct))
		}
	}
	return strings.Join(parts, " ")
}

// Size prints bytes as Short does, from the words' unit.
func Size(b iikanji.Bytes) string { return Short(float64(b)) }
