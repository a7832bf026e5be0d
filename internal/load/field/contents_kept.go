package field

import (
	"context"
	"encoding/json"
)

// Contents are the contents of all tables at rest, as digests.
type Contents struct {
	sums   map[string]string
	moving []string // tables to which the site writes without load
}

// Tables is the number of tables.
func (c Contents) Tables() int { return len(c.sums) }

// keptContents are Contents as a file has them over a reboot.
type keptContents struct {
	Sums   map[string]string `json:"sums"`
	Moving []string          `json:"moving,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (c Contents) MarshalJSON() ([]byte, error) { return json.Marshal(keptContents{c.sums, c.moving}) }

// UnmarshalJSON implements json.Unmarshaler.
func (c *Contents) UnmarshalJSON(text []byte) error {
	var k keptContents
	err := json.Unmarshal(text, &k)
	c.sums, c.moving = k.Sums, k.Moving
	return err
}

// ContentsAtRest reads the contents of all tables until two readings are the same.
func (f *Field) ContentsAtRest(ctx context.Context) (Contents, error) {
	sums, moving, err := f.settled(ctx)
	return Contents{sums, moving}, err
}

// SameContents compares the contents of all tables with those of before, except for tables
// that were moving, and returns remarks for the user.
func (f *Field) SameContents(ctx context.Context, before Contents) (says []string, same bool, err error) {
	return f.sameContents(ctx, before.sums, before.moving)
}
