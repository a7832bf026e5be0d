// Package iikanji holds the words that the rooms of iikanji speak to each other.
//
// iikanji makes a web stack fast, and proves it. Its flow, and the word that
// stands at each arrow:
//
//  1. bench loads a [Target] with a scenario that checks every answer and
//     yields a [Run];
//  2. the readers (access log, slow log, host) put [Profile]s beside the Run,
//     each with the [Intake] that proves how much of the run it saw;
//  3. facts asks the services what they are and yields [Fact]s;
//  4. diagnose turns Profiles and Facts into [Finding]s with [Remedy]s;
//  5. a kind of change plans a [Change]: what to do and how to undo it, as data;
//  6. interleaved Runs judge the Change and yield a [Verdict].
//
// This package is data: it imports the standard library only, reads no file,
// asks no clock and waits for nothing. Enums start at Unknown, print as words
// and travel as words in JSON. Times are time.Time and time.Duration (JSON:
// RFC 3339 and integer nanoseconds), sizes are [Bytes].
package iikanji
