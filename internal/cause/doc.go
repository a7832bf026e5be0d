// Package cause computes findings from a run and from the state of its
// services: causes with evidence, seconds and remedies. It is pure: no clock, no
// I/O, the same findings for the same input. [Question]s list the counts in tables
// that index advice needs.
//
//  1. An [Input] is the run, its target, its Profiles and the Facts; [ReadSchema]
//     makes a [Schema] of the facts about tables. Each database and each web
//     server gets a view without what belongs to the others of its role
//     (services.go). Rules find services by role and engine, never by name.
//  2. [Schema.Advise] finds the indexes that a workload needs: statements become
//     blocks (shape*.go), blocks are planned with imagined indexes
//     (indexpath.go, indexaccess.go, indexcandidate.go), and the union of the best
//     indexes of each query is reduced to those that are worth their writes
//     (indexadvise.go).
//  3. Each rule makes findings of one or a few codes of that and of the Profiles.
//     A rule is in the file of its first code.
//  4. [All] runs every rule and ranks the findings by seconds of the binding
//     resource.
package cause
