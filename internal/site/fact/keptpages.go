package fact

// KeptPages is what an app noted of the pages that a web server keeps until a write, since
// the app started.
type KeptPages struct {
	Kept []string `json:"kept"` // routes, as in /article/:id
	// Rows are the writes with a list of the pages that they drop; other writes drop all.
	Rows  int          `json:"rows,omitempty"`
	Pairs []PageChange `json:"pairs,omitempty"`
	// Unstable counts, by route, pages that changed without any write.
	Unstable map[string]int `json:"unstable,omitempty"`
	// Stale are pages that changed and were not dropped: clients got old answers.
	Stale []StalePage `json:"stale,omitempty"`
}

// A PageChange is how often pages of a route differed after one write, and nothing else,
// than before it. In Page, :1 is the first id in the write's path, and :id any other.
type PageChange struct {
	Write   string `json:"write"` // as in POST /comment/:1
	Page    string `json:"page"`
	Changed int    `json:"changed"`
	Same    int    `json:"same"`
}

// A StalePage is a page that changed and was not dropped.
type StalePage struct {
	Page  string `json:"page"`
	Write string `json:"write"` // the last one before the page was computed again
}
