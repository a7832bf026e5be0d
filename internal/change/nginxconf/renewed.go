package nginxconf

import (
	"regexp"
	"strconv"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
)

// renewedZone matches the cache of answers that are renewed in the background, with the
// seconds for which nginx takes one as valid.
var renewedZone = regexp.MustCompile(`\bkeys_zone=` + zone + `_renewed_(\d+)s:`)

var _ change.AnswerKeeper = Kind{}

// KeptUntil implements change.AnswerKeeper. An answer that nginx renews in the background is
// sent once more after a pause, for as long as its slice of time lasts.
func (Kind) KeptUntil(s *change.Site, svc change.Service, moment time.Time) (until time.Time, err error) {
	if svc.Engine != iikanji.EngineNginx || svc.Config == "" {
		return until, nil
	}
	conf, err := nginxedit.LoadOn(s, svc)
	if err != nil {
		return until, err
	}
	for _, found := range renewedZone.FindAllStringSubmatch(conf.Flat(), -1) {
		seconds, err := strconv.Atoi(found[1])
		if err != nil {
			continue // no zone of this package: its numbers are short
		}
		length := renewedSlice(time.Duration(seconds+1) * time.Second).Length
		if end := moment.Truncate(length).Add(length); end.After(until) {
			until = end
		}
	}
	return until, nil
}
