package discover

import "github.com/iikanji/iikanji/internal/machine/host"

// What is asked of a machine is carried out there: a search reads hundreds of small files.
func askTask() host.Task[Question, Part] {
	return host.Task[Question, Part]{Name: "discover.ask", Do: ask}
}

func inventoryTask() host.Task[nothing, Inventory] {
	return host.Task[nothing, Inventory]{Name: "discover.inventory", Do: inventory}
}

func unitsTask() host.Task[[]UnitQuestion, []UnitAnswer] {
	return host.Task[[]UnitQuestion, []UnitAnswer]{Name: "discover.units", Do: units}
}

func reachTask() host.Task[[]string, []Reach] {
	return host.Task[[]string, []Reach]{Name: "discover.reach", Do: reach}
}

// Tasks are what the far end of a machine carries out for this package.
func Tasks() []host.Served {
	return []host.Served{askTask(), inventoryTask(), unitsTask(), reachTask()}
}
