// Package index advises indexes. [ReadSchema] makes a [Schema] of the facts about tables,
// [WorkloadOf] a [Workload] of statements; [Schema.Questions] lists the counts that the
// advice needs, and [Schema.Advise] finds the indexes that the workload needs: statements
// become blocks (shape*.go), blocks are planned with imagined indexes (path.go, access.go,
// candidate.go), and the union of the best indexes of each query is reduced to those that
// are worth their writes (advise.go, gather.go). Indexes that no query needs are in drop.go.
package index
