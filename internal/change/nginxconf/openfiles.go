package nginxconf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// openFileCache keeps descriptors of files open that are sent often.
type openFileCache struct {
	Max      int  `arg:"max" range:"1,262144" default:"10000" help:"how many descriptors"`
	Inactive span `arg:"inactive" default:"60s" help:"after which time without a request a file is closed"`
	Valid    span `arg:"valid" default:"1s" help:"after which time a file is checked for changes"`
}

// Validate is called by change.Decode.
func (a *openFileCache) Validate() error {
	return errors.Join(wholeSeconds("inactive", a.Inactive), wholeSeconds("valid", a.Valid))
}

func (a *openFileCache) edit(t *task) error {
	http, err := t.HTTP()
	if err != nil {
		return err
	}
	around := []*nginx.Directive{http}
	t.Ensure(around, "open_file_cache", "max="+strconv.Itoa(a.Max), "inactive="+string(a.Inactive))
	t.EnsureValue(around, "open_file_cache_valid", string(a.Valid))
	t.Weaken(promise.Nginx.Of("open_file_cache", "off", "max="+strconv.Itoa(a.Max))...)
	t.Says = "keep descriptors of files open, and check the files for changes after " + string(a.Valid)
	return nil
}

// wholeSeconds refuses a time that the open file cache cannot have: zero, or
// milliseconds.
func wholeSeconds(name string, s span) error {
	if s.zero() || strings.HasSuffix(string(s), "ms") {
		return fmt.Errorf("%s %q: want a time, as 60s", name, s)
	}
	return nil
}
