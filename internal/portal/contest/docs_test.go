package contest

import (
	"os"
	"strings"
	"testing"
)

// TestPage: the contest files of the operators' page are valid.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/portal.md")
	if err != nil {
		t.Fatal(err)
	}
	var files []*Contest
	for part := range strings.SplitSeq(string(page), "```toml\n") {
		file, _, _ := strings.Cut(part, "```")
		if !strings.HasPrefix(file, "name = ") {
			continue // a part of a file
		}
		c, err := Parse("cup.toml", []byte(file))
		if err != nil || c.Round("final") == nil {
			t.Fatalf("%v:\n%s", err, file)
		}
		files = append(files, c)
	}
	if len(files) != 2 || files[0].Round("final").Queue.Budget("agent").Runs != 40 || files[1].Registration.Teams != 100 || files[1].Registration.Reserved != 5 {
		t.Errorf("the page has %d contest files", len(files))
	}
}
