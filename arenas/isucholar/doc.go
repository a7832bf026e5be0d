// Package isucholar is the arena of the final of ISUCON 11: the portal of a
// university. Teachers open courses, announce classes and grade; students register,
// read announcements and hand in files.
package isucholar
