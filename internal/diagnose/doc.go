// Package diagnose turns what a run showed and what services say of themselves
// into findings: causes with proof, seconds and cures. It is pure: no clock, no
// I/O, the same findings for the same input. It does not change anything and
// does not ask anybody; what it would need to know it lists as [Question]s.
//
//  1. An [Input] is the run, its Profiles and the Facts; [ReadSchema] makes a
//     [Schema] of the facts about tables.
//  2. [Schema.Advise] finds the indexes that a workload wants: statements become
//     blocks (shape*.go), blocks are planned with imagined indexes
//     (indexpath.go, indexplan.go, indexcandidate.go), the union of what each
//     query likes best is taken down to what is worth its writes (indexadvise.go).
//  3. Each rule, one file each, named by its code, makes Findings of that and of
//     the Profiles.
//  4. [All] runs every rule and ranks what they found by seconds of the binding
//     resource.
package diagnose
