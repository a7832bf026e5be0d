// Package topology has the rules about which service runs on which machine, and about the
// network between them. With one machine none of them finds anything.
package topology
