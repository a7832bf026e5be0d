// Package gocode plans changes of a service's Go source from code levers:
// analyzers with suggested fixes (package lever).
//
// A remedy names its place by codes, file and function, not by lines, so that it is
// found again after other edits. All fixes of the named levers in the function are
// one change.
//
// Steps of a plan:
//
//  1. read the live schema: levers need unique keys and types of columns (schema.go);
//  2. copy the source beside itself, and run the levers on the copy, one after the
//     other, each on what the former have left (rewrite.go);
//  3. build the copy, run go vet on it (build.go), and the app's own tests;
//  4. return whole files as a Change with a restart, which builds the source.
//
// Source that the levers made and that does not build is a defect of iikanji, not
// of the site: a DefectError.
package gocode
