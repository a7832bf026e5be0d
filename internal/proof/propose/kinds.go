package propose

import (
	"github.com/iikanji/iikanji/internal/change"
)

// KindWords describes one kind of change to a proposer.
type KindWords struct {
	Name string     `json:"name"`
	Does string     `json:"does"`
	Acts []ActWords `json:"acts"`
}

// ActWords describes one act of a kind, and its arguments by name. Act is the value
// of the argument "act"; it is empty for kinds with one act.
type ActWords struct {
	Act  string            `json:"act,omitempty"`
	Does string            `json:"does"`
	Args map[string]string `json:"args"`
}

// wordsOf returns the descriptions of kinds, in the order of names, from what the
// kinds declare. A kind that is not known has its name only.
func wordsOf(names []string) []KindWords {
	out := make([]KindWords, 0, len(names))
	for _, n := range names {
		w := KindWords{Name: n, Acts: []ActWords{}}
		if k, ok := change.Lookup(n); ok {
			w.Does = k.Help()
			for _, a := range k.Acts() {
				w.Acts = append(w.Acts, ActWords{Act: a.Name, Does: a.Help, Args: argWords(a.Args)})
			}
		}
		out = append(out, w)
	}
	return out
}

// argWords describes arguments. One that may be left out is "optional".
func argWords(args []change.Arg) map[string]string {
	words := make(map[string]string, len(args))
	for _, a := range args {
		text := a.Help
		if !a.Required && !a.Many {
			text = "optional: " + text
		}
		if a.Default != "" {
			text += "; " + a.Default + " by default"
		}
		words[a.Name] = text
	}
	return words
}
