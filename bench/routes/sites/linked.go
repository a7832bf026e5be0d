package sites

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
	{Name: "tools, each linked from its own pages", Lines: 3000, Model: Same, Routes: reached("/tool/", tools(30)) + "\nGET / 3\n"},
}
