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
		"the longer of the two": {time.Minute, stale, map[string]string{"valid": "1s", "expires": "1h"}, true},
	} {
		err := youngEnough(c.most, c.c, iikanji.Remedy{Args: c.args})
		var age *AgeError
		if errors.As(err, &age) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
