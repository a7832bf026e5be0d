// Package measurement has the rules about the measurement itself.
package measurement
