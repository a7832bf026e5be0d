package xsuportal

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
)

// times are those of one contest. The target's clock must agree with the benchmarker's: the
// checks allow no skew.
type times struct{ open, start, freeze, end time.Time }

// Of the load, the registration takes a sixth (10 s of 60), and what is behind the freeze
// another one. A shorter load leaves more to the registration, which does not get shorter
// with it: a third, up to mostRegistration.
const (
	shares           = 6
	mostRegistration = 6 * time.Second
	leastPhase       = 3 * time.Second // at a higher speed
)

// contestTimes are those of a contest that begins at a time and takes as long as the load. At
// a higher speed the registration and the time to the freeze are no longer than the contest's
// are at this speed, or leastPhase.
func (ct *contest) contestTimes(begin time.Time, load time.Duration) times {
	share := (load / shares).Truncate(time.Microsecond)
	registration, freeze := max(share, min((load/3).Truncate(time.Microsecond), mostRegistration)), load-share
	if ct.speed > 1 {
		registration = min(registration, max(ct.span(loadTime/shares), leastPhase))
		freeze = min(freeze, registration+max(ct.span(loadTime-2*loadTime/shares), leastPhase))
	}
	return times{begin, begin.Add(registration), begin.Add(freeze), begin.Add(load)}
}

// testTimes are those of the contest of the checks, whose phases take two windows each.
func testTimes(begin time.Time, window time.Duration) times {
	return times{begin.Add(window), begin.Add(2 * window), begin.Add(3 * window), begin.Add(4 * window)}
}

// nextSecond is the next whole second that is not too near.
func nextSecond(now time.Time) time.Time {
	const near = 200 * time.Millisecond
	return now.Add(near).Truncate(time.Second).Add(time.Second)
}

// message is the form in which initialize takes the times.
func (t times) message() *resources.Contest {
	return &resources.Contest{
		RegistrationOpenAt: timestamppb.New(t.open), ContestStartsAt: timestamppb.New(t.start),
		ContestFreezesAt: timestamppb.New(t.freeze), ContestEndsAt: timestamppb.New(t.end),
	}
}

// same reports whether an answer has these times.
func (t times) same(c *resources.Contest) bool {
	return c.GetRegistrationOpenAt().AsTime().Equal(t.open) && c.GetContestStartsAt().AsTime().Equal(t.start) &&
		c.GetContestFreezesAt().AsTime().Equal(t.freeze) && c.GetContestEndsAt().AsTime().Equal(t.end)
}

// hidden reports whether, at a time, teams other than its own do not see a result that was
// marked at another time.
func (t times) hidden(markedAt, now time.Time) bool {
	return now.Before(t.end) && !markedAt.Before(t.freeze)
}
