package nginx

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// layouts are configurations in the ways in which people write them, each below a line
// "=== NAME". Those marked [unknown] use modules that a plain nginx does not have.
//
//go:embed testdata/layouts.txt
var layouts string

// leastLayouts is how many there are at least.
const leastLayouts = 60

// TestLayouts: each layout is printed as it was read, to the byte. A directive that is
// added to its http block changes nothing else, and nginx accepts the result if it
// accepts the layout.
func TestLayouts(t *testing.T) {
	tier.Slow(t)
	accepted := 0
	for part := range strings.SplitSeq(layouts, "=== ") {
		name, text, ok := strings.Cut(part, "\n")
		if !ok {
			continue
		}
		dir := t.TempDir()
		text = strings.ReplaceAll(text, "DIR", dir)
		root, err := Parse("nginx.conf", text)
		if err != nil || root.String() != text {
			t.Errorf("%s: printed as\n%s\n%v", name, root, err)
			continue
		}
		for _, d := range root.Items {
			if d.Name() == "http" {
				d.Add(New("server_names_hash_bucket_size", "128"))
			}
		}
		edited := root.String()
		added := strings.Index(edited, "server_names_hash_bucket_size 128;")
		if added < 0 || !strings.HasPrefix(text, strings.TrimRight(edited[:added], " \t\n\r")) || !strings.HasSuffix(text, strings.TrimLeft(edited[added+len("server_names_hash_bucket_size 128;"):], " \t\n\r")) {
			t.Errorf("%s: edited to\n%s", name, edited)
		}
		if strings.HasSuffix(name, " [unknown]") {
			continue
		}
		accepted++
		for what, text := range map[string]string{"as it is": text, "edited": edited} {
			path := filepath.Join(dir, "nginx.conf")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), program, "-t", "-p", dir, "-c", path).CombinedOutput(); err != nil {
				t.Errorf("%s, %s: %v\n%s", name, what, err, out)
			}
		}
	}
	if accepted < leastLayouts {
		t.Errorf("%d layouts", accepted)
	}
}
