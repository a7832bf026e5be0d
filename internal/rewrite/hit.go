package rewrite

import (
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// A Hit is one place in the source of an application.
type Hit struct {
	Code       string      `json:"code"`
	File       string      `json:"file"` // absolute
	Line       int         `json:"line"`
	Col        int         `json:"col"`
	Func       string      `json:"func"`                 // enclosing function: "getIsuList", "(*Handler).Show"
	Statements []string    `json:"statements,omitempty"` // SQL texts, placeholders as in the source
	What       string      `json:"what"`
	How        string      `json:"how"`
	Proof      Proof       `json:"proof"`
	Promise    Promise     `json:"promise,omitempty"`
	Variants   []goapp.Fix `json:"fixes,omitempty"`  // empty for hints
	Reason     *Reason     `json:"reason,omitempty"` // why there is no fix; nil where there is one
	Drops      float64     `json:"drops,omitempty"`  // share of the work that a constant leaves out; 0 for others
	// Capacity: the place is a constant with which the number of what exists is compared, and
	// more is refused.
	Capacity bool `json:"capacity,omitempty"`
	// Pool: the place is the most connections that the app opens to a database.
	Pool bool `json:"pool,omitempty"`
	// Waits is how long a sleep or an interval takes; 0 if unknown, and for other places.
	Waits time.Duration `json:"waits_ns,omitempty"`
}

// A Problem is a package that could not be analysed, or only in part.
type Problem struct {
	Package string `json:"package"`
	Text    string `json:"text"`
}

// A Result is what Run found.
type Result struct {
	Hits []Hit `json:"hits"`
	// Statements are those that the packages send, as far as their text is known.
	Statements []Statement       `json:"-"`
	Loops      []Loop            `json:"-"` // over the rows of one statement that send another one
	Problems   []Problem         `json:"problems,omitempty"`
	Functions  int               `json:"functions"`
	Lines      int               `json:"lines"`
	Files      map[string][]byte `json:"-"` // the files of all hits' packages, as read
	// Packages are the loaded packages with their syntax and types, sound or not.
	Packages []*packages.Package `json:"-"`
}
