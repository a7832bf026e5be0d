// Package summary turns a history into what a report or a page shows: the
// headline, the runs with their places in the search, the trials with their
// verdicts and evidence, where the time goes before and after, and what remains.
//
//  1. Load reads a whole history into a [Summary].
//  2. Of reads one run with everything that was saved beside it into a [Detail].
//  3. Compare lists the differences of two Details.
//
// A Summary is data, with a version in its JSON form. It holds no secrets and no
// folder of the machine it was made on: paths of the site are relative to the
// site's own folder if it has one. All text is as hostile as the logs it came from;
// the code that prints it escapes it.
package summary
