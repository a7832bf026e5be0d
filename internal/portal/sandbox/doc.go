// Package sandbox runs a program that is not trusted: the benchmarker of a contest that
// somebody else wrote, fed with the answers of a site that a contestant wrote.
//
//  1. [Rules] are what the program may use: addresses, memory, processes, files, disk, CPU
//     time (rules.go).
//  2. [Start] makes a control group with a filter of the addresses (group.go, filter.go) and
//     starts this binary in it, in mount, IPC and UTS namespaces of its own. There it takes its
//     rights away and becomes the program (enter.go, landlock.go, calls.go): a user without a
//     name that nothing else uses, no new privileges, a private /tmp, Landlock, limits, and a
//     list of refused system calls.
//  3. [Box.End] ends every process of the group, also those that left the program's process
//     group and session.
//  4. [Missing] tells what this machine lacks, by trying it.
//
// Addresses are filtered in the kernel by packet, so that requests cost nothing measurable and
// no protocol is missed; names are not resolved, since no resolver can be reached.
package sandbox
