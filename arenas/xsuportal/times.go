package xsuportal

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
)

// times are those of one contest. The target's clock must agree with the benchmarker's: the
// checks allow no skew.
type times struct{ open, start, freeze, end time.Time }

// Shares of the load at which the contest starts and freezes: 10 s and 50 s of 60.
const (
	startShare  = 10.0 / 60
	freezeShare = 50.0 / 60
)

// contestTimes are those of a contest that begins at a time and takes as long as the load.
func contestTimes(begin time.Time, load time.Duration) times {
	at := func(share float64) time.Time {
		return begin.Add(time.Duration(share * float64(load)).Truncate(time.Microsecond))
	}
	return times{begin, at(startShare), at(freezeShare), at(1)}
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
