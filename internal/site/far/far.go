// Package far lists what the far end of a machine carries out where the data are. The near
// end calls the same functions of these packages; see host.Task.
package far

import (
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/machine/clock"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/machine/mirror"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/machine/yardstick"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// Tasks are all of them. now is the machine's clock.
func Tasks(now func() time.Time) []host.Served {
	return slices.Concat(hostproc.Tasks(), hoststat.Tasks(), process.Tasks(), mirror.Tasks(), observe.Tasks(), discover.Tasks(), yardstick.Tasks(), []host.Served{clock.Task(now)})
}
