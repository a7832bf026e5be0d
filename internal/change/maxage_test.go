package change

import (
	"errors"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// TestYoungEnough: a change that weakens freshness needs a known age within the policy's limit.
func TestYoungEnough(t *testing.T) {
	stale := &iikanji.Change{Weakens: []iikanji.Promise{iikanji.Freshness}}
	for name, c := range map[string]struct {
		most    time.Duration
		c       *iikanji.Change
		args    map[string]string
		refused bool
	}{
		"no limit":              {0, stale, map[string]string{"valid": "1d"}, false},
		"within":                {time.Second, stale, map[string]string{"valid": "1s"}, false},
		"shorter":               {time.Second, stale, map[string]string{"valid": "100ms"}, false},
		"longer":                {time.Second, stale, map[string]string{"valid": "2s"}, true},
		"days":                  {time.Hour, stale, map[string]string{"expires": "1d"}, true},
		"days within":           {48 * time.Hour, stale, map[string]string{"expires": "1d"}, false},
		"not known":             {time.Second, stale, nil, true},
		"max":                   {time.Second, stale, map[string]string{"expires": "max"}, true},
		"freshness as it is":    {time.Second, &iikanji.Change{Weakens: []iikanji.Promise{iikanji.Durability}}, nil, false},
		"renewed, too old":      {2 * time.Second, stale, map[string]string{"valid": "2s", "stale": "updating"}, true},
		"renewed":               {5 * time.Second, stale, map[string]string{"valid": "2s", "stale": "updating"}, false},
		"renewed, and long":     {10 * time.Second, stale, map[string]string{"valid": "6s", "stale": "updating"}, true},
		"not renewed":           {2 * time.Second, stale, map[string]string{"valid": "2s", "stale": "no"}, false},
		"a fixed folder":        {time.Second, stale, map[string]string{"expires": "365d", "path": "/packs/"}, false},
		"below it":              {time.Second, stale, map[string]string{"expires": "1h", "path": "/packs/fonts/"}, false},
		"a file below it":       {time.Second, stale, map[string]string{"expires": "1h", "path": "= /packs/a.js"}, false},
		"a fixed file":          {time.Second, stale, map[string]string{"expires": "1h", "path": "/app.js"}, false},
		"two of them":           {time.Second, stale, map[string]string{"expires": "1h", "path": "/app.js;/packs/"}, false},
		"one is not fixed":      {time.Second, stale, map[string]string{"expires": "1h", "path": "/packs/;/api/board"}, true},
		"a folder like it":      {time.Second, stale, map[string]string{"expires": "1h", "path": "/packs-of-users/"}, true},
		"out of the folder":     {time.Second, stale, map[string]string{"expires": "1h", "path": "/packs/../api/board"}, true},
		"everything":            {time.Second, stale, map[string]string{"expires": "1h", "path": "/"}, true},
		"the longer of the two": {time.Minute, stale, map[string]string{"valid": "1s", "expires": "1h"}, true},
	} {
		err := youngEnough(iikanji.Policy{MaxAge: c.most, Fixed: []string{"/packs/", "/app.js"}}, c.c, iikanji.Remedy{Args: c.args})
		var age *AgeError
		if errors.As(err, &age) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
