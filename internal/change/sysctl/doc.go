// Package sysctl plans settings of the machine itself, and the limits of one
// service's process.
//
// It sets only what settings.go lists, within bounds: nothing there runs a
// program, opens a door or can stop the machine. A machine is often not the
// target's to change: where /proc/sys is outside the folders of the target,
// planning refuses.
//
// Remedy.Args, by the act that they ask for:
//
//	act = sysctl   kernel variables and their values, as net.core.somaxconn = 4096;
//	               Remedy.Target is a service whose DropIn is a file of sysctl.d(5)
//	act = limits   nofile, nproc, core, memlock and their values;
//	               Remedy.Target is the service whose LimitsFile has them
//
// Steps of a plan:
//
//  1. check names, forms and bounds;
//  2. read what is set now, and leave out what is set so already;
//  3. edit the file that keeps it over a restart (lines.go);
//  4. return the file, with the variables below /proc/sys as files as well, or
//     with a restart of the service, as a Change.
package sysctl
