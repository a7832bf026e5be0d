// Package all has the rules of every room.
package all

import (
	"slices"

	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/app"
	"github.com/iikanji/iikanji/internal/cause/boot"
	"github.com/iikanji/iikanji/internal/cause/cache"
	"github.com/iikanji/iikanji/internal/cause/database"
	"github.com/iikanji/iikanji/internal/cause/machine"
	"github.com/iikanji/iikanji/internal/cause/measurement"
	"github.com/iikanji/iikanji/internal/cause/topology"
	"github.com/iikanji/iikanji/internal/cause/web"
)

// Rules are the rules of every room.
func Rules() []cause.Rule {
	return slices.Concat(measurement.Rules(), app.Rules(), machine.Rules(), web.Rules(), cache.Rules(), database.Rules(), boot.Rules(), topology.Rules())
}
