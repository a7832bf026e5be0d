package contest

import (
	"os"
	"strings"
	"testing"
)

// TestPage: the contest file of the operators' page is valid.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/portal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```toml\n")
	file, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("the page has no contest file")
	}
	c, err := Parse("cup.toml", []byte(file))
	if err != nil || c.Round("final") == nil || c.Round("final").Queue.Budget("agent").Runs != 40 {
		t.Errorf("%+v, %v", c, err)
	}
}
