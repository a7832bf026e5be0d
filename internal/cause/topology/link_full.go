package topology

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// fullLink is the share of a link's speed from which on it is the limit.
	fullLink = 0.8
	// mostAgain is the share of packets that were sent again from which on a link loses what
	// it carries, and leastPackets how many make a share.
	mostAgain    = 0.02
	leastPackets = 5000
)

var linkFull = cause.Declare(cause.PerRun, findLinkFull,
	cause.Cause{Code: "NET101", Title: "link full", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "a network interface carried nearly all it can, or lost packets",
		Remedies: []cause.Way{cause.Person}})

// findLinkFull reports links that carried nearly what they can, and links that lost much.
func findLinkFull(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for f, l := range fact.TopicLink.In(v.Input.Facts) {
		sec := l.Wall.Seconds()
		if sec <= 0 {
			continue
		}
		most, way := float64(l.In), "in"
		if l.Out > l.In {
			most, way = float64(l.Out), "out"
		}
		row := iikanji.Evidence{Source: "link", Text: fmt.Sprintf("%s of %s: %s in, %s out in %.0f s; %d dropped, %d segments of the machine sent again",
			f.Key, f.Target, l.In, l.Out, sec, l.Drops, l.Retransmits)}
		found := iikanji.Finding{Code: "NET101", Where: f.Key + " on " + f.Target, Evidence: []iikanji.Evidence{row}}
		switch again := float64(l.Retransmits) / float64(max(l.OutPackets, 1)); {
		case l.Speed > 0 && most >= fullLink*l.Speed*sec:
			found.Claim = fmt.Sprintf("%s of %s is full: %.0f of %.0f Mbit/s %s", f.Key, f.Target, most/sec*8/1e6, l.Speed*8/1e6, way)
			found.Gain = cause.Between(sec, 0.1, 0.5)
		case l.OutPackets >= leastPackets && again >= mostAgain:
			found.Claim = fmt.Sprintf("%.1f %% of what %s sent was lost and sent again", 100*again, f.Target)
			found.Gain = cause.Between(sec, 0, 0.3)
		default:
			continue
		}
		found.Remedies = []iikanji.Remedy{iikanji.ByPerson("host:"+f.Target, "send less over it: compress answers, keep static files on the front, select fewer columns; or put both ends on one machine")}
		out = append(out, found)
	}
	return out
}
