// Package iikanji holds the data types that the packages of iikanji exchange.
//
// iikanji makes a web stack faster and measures the gain. Its steps, with the
// type that each one produces:
//
//  1. bench loads a [Target] with a scenario that checks every answer and
//     yields a [Run];
//  2. the readers (access log, slow log, host) add [Profile]s to the Run,
//     each with the [Intake] that proves how much of the run it covers;
//  3. facts reads the state and configuration of the services and yields [Fact]s;
//  4. diagnose turns Profiles and Facts into [Finding]s with [Remedy]s;
//  5. a kind of change plans a [Change]: what to do and how to undo it, as data;
//  6. interleaved Runs measure the Change and yield a [Verdict].
//
// This package is data: it imports the standard library only, reads no file
// and no clock, and never blocks. Enums start at Unknown; they are printed, and
// encoded in JSON, as words. Times are time.Time and time.Duration (JSON:
// RFC 3339 and integer nanoseconds), sizes are [Bytes].
package iikanji
