package sites

import "strings"

// crud lists the routes of collections with members.
func crud(prefix, names string) string {
	var b strings.Builder
	for _, n := range list(names) {
		b.WriteString("GET " + prefix + n + " 4\n" + "POST " + prefix + n + " 1\n" + "GET " + prefix + n + "/{id} 5\n" +
			"PUT " + prefix + n + "/{id} 1\n" + "DELETE " + prefix + n + "/{id} 0.5\n")
	}
	return b.String()
}

// forms lists the routes of collections whose forms have pages of their own.
func forms(prefix, names string) string {
	var b strings.Builder
	for _, n := range list(names) {
		b.WriteString("GET " + prefix + n + " 4\n" + "GET " + prefix + n + "/new 1\n" + "POST " + prefix + n + " 1\n" +
			"GET " + prefix + n + "/{id} 5\n" + "GET " + prefix + n + "/{id}/edit 1\n" + "PATCH " + prefix + n + "/{id} 1\n")
	}
	return b.String()
}

// rpc lists procedures: every verb with every noun.
func rpc(prefix, verbs, nouns string) string {
	var b strings.Builder
	for _, v := range list(verbs) {
		for _, n := range list(nouns) {
			b.WriteString(prefix + v + n + "\n")
		}
	}
	return b.String()
}

// words lists a route for each word.
func words(prefix, names string) string {
	var b strings.Builder
	for _, n := range list(names) {
		b.WriteString(prefix + n + "\n")
	}
	return "\n" + b.String()
}
