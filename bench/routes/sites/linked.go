package sites

var stalls = list(`quartz lagoon bracket meadow cinder harvest saddle thistle copper lantern pewter velvet walnut zephyr
	marble juniper cobble drifter ember fathom`)

// tools are words of two parts, as names of values often are.
func tools(n int) (names string) {
	for i := range n {
		names += adjectives[i] + "-" + nouns[i] + " "
	}
	return names
}

// reached lists a route for each word, each reached from pages of its own.
func reached(prefix, names string) (routes string) {
	for i, n := range list(names) {
		routes += "\nGET " + prefix + n + " 1 from=/" + people[i] + "|/" + people[i] + "/" + tags[i%len(tags)]
	}
	return routes
}

// Linked are sites on which only the pages with links show which names are values: the
// routes have one distribution of times and sizes.
var Linked = []Site{
	{Name: "stalls, linked from one page", Lines: 3000, Model: Same, Pools: map[string]Pool{"stall": {from(stalls), 20, false}}, Routes: `
		GET /fair/{stall} 10 from=/fair|/fair/map
		GET /fair 2 from=/
		GET /fair/map 2 from=/opening-times
		GET / 3 from=/imprint
		GET /opening-times 1 from=/press
		GET /imprint 1 from=/press
		GET /press 1 from=/imprint`},
	{Name: "tools, each linked from its own pages", Lines: 3000, Model: Same, Routes: reached("/tool/", tools(30)) + "\nGET / 3\n"},
}
