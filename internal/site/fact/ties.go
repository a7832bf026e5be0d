package fact

// TopicTies is the topic of a Fact about what ties an app to one host: Target the app, Key "",
// Value a Ties. It is collected on sites of several machines.
const TopicTies Topic[Ties] = "ties"

// Ties is what an app has on its host alone.
type Ties struct {
	// Known: its source is in a language that is read.
	Known bool  `json:"known"`
	All   []Tie `json:"all,omitempty"`
}

// A Tie is one place; see package ties for the kinds and the verdicts.
type Tie struct {
	Kind   string   `json:"kind"`
	Place  string   `json:"place"` // as in "main.go:12", relative to the source folder; an absolute path of the host
	Name   string   `json:"name"`
	Routes []string `json:"routes,omitempty"`
	Spread string   `json:"spread"` // the verdict for a second instance
	Move   string   `json:"move"`   // the verdict for the whole app on another host
	Breaks string   `json:"breaks"` // what a second instance breaks
	Cure   string   `json:"cure"`
}
