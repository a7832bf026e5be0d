package arenatest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Browse opens a page in a real browser and returns the DOM after its scripts ran.
// The profile is new every time. With a folder in the environment variable
// SCREENSHOTS it also writes a picture, for inspection by hand.
func Browse(t *testing.T, address string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var errors bytes.Buffer
	flags := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1200,1400",
		"--user-data-dir=" + t.TempDir(), "--virtual-time-budget=4000"}
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		file := dir + "/" + strings.ReplaceAll(t.Name(), "/", "_") + ".png"
		if err := exec.CommandContext(ctx, "chromium", append(flags, "--screenshot="+file, address)...).Run(); err != nil {
			t.Fatalf("taking a screenshot: %v", err)
		}
	}
	cmd := exec.CommandContext(ctx, "chromium", append(flags, "--dump-dom", address)...)
	cmd.Stderr = &errors
	cmd.WaitDelay = 5 * time.Second
	page, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium (Debian's package chromium): %v\n%s", err, errors.String())
	}
	return string(page)
}
