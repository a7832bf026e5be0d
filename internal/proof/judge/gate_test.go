package judge

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestRefused: who refuses a change because of the order of rows names the statement.
func TestRefused(t *testing.T) {
	c := &iikanji.Change{Weakens: []iikanji.Promise{iikanji.RowOrder}, Remedy: &iikanji.Remedy{
		Unsorted: []string{"ward.go:20 listVisits: SELECT * FROM visit", "ward.go:31 listBeds: SELECT * FROM bed"}}}
	want := "it weakens the promise of row-order, which the target's policy does not allow: rows may come in another order at " +
		"ward.go:20 listVisits: SELECT * FROM visit, and at 1 more"
	if got := Refused(c, iikanji.RowOrder); got != want {
		t.Errorf("refused because %s, want %s", got, want)
	}
	if got := Refused(c, iikanji.Durability); strings.Contains(got, "visit") {
		t.Errorf("refused because %s", got)
	}
}
