// Package parameter plans values of the parameters of a command: settings that it reads
// from its environment, declared below [[bench.parameter]] of iikanji.toml.
//
// Remedy.Target is "bench". Args:
//
//	set.NAME   the value of the parameter NAME
//
// Steps of a plan:
//
//  1. refuse a parameter that is not declared, and a value outside of its bounds;
//  2. write the file of chosen values with this one; other lines stay as they are;
//  3. return the file as a Change. Nothing restarts: each run starts the command anew.
//
// What a parameter means is the user's: it weakens no promise that iikanji knows, and the
// checks of the runs decide whether its answers are right.
package parameter
