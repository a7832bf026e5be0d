// Package finalize brings a site into the state in which it may be left: logs off, what a
// boot would lose written into files, services ended and started in the orders of a boot, a
// last run above the floor. Each step is a journalled change or a check, and may be repeated: the
// same command goes on after an interruption.
package finalize
