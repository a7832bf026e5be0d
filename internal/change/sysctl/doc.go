// Package sysctl plans settings of the machine, and the limits of one service's
// process.
//
// It sets only the names in settings.go, within bounds: none of them runs a
// program, opens access or can stop the machine. Often the target may not change
// the machine: planning refuses if /proc/sys is outside the folders of the
// target.
//
// Remedy.Args, by act:
//
//	act = sysctl   kernel variables and their values, as net.core.somaxconn = 4096;
//	               Remedy.Target is a service whose DropIn is a file of sysctl.d(5)
//	act = limits   nofile, nproc, core, memlock and their values;
//	               Remedy.Target is the service whose LimitsFile has them
//
// Steps of a plan:
//
//  1. check names, forms and bounds;
//  2. read the present values, and skip those that are equal already;
//  3. edit the file that keeps the values across a restart (lines.go);
//  4. return the file as a Change, with the variables below /proc/sys as files,
//     or with a restart of the service.
package sysctl
