package report

import (
	"fmt"
	"strings"
)

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
