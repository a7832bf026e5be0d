package bench

import "time"

// A clock counts nanoseconds from the start of a run, monotonic. Reading it
// costs half of time.Now.
type clock struct{ base time.Time }

func (c *clock) now() int64 { return int64(time.Since(c.base)) }

// at converts a time that came from time.Now.
func (c *clock) at(t time.Time) int64 { return int64(t.Sub(c.base)) }

// time converts back.
func (c *clock) time(ns int64) time.Time { return c.base.Add(time.Duration(ns)) }
