// Package workers plans how many processes and threads an app server runs: gunicorn,
// uvicorn, puma, unicorn, programs of Node.js with cluster, and pm2.
//
// Remedy.Target is the app's service. Args, one or both:
//
//	workers   processes that answer requests
//	threads   threads of each of them
//
// Steps of a plan:
//
//  1. read from the running process how many there are and which place decides
//     (package appserver);
//  2. check the price: the memory of further processes, and the connections of all
//     threads to the databases;
//  3. look for state that the app keeps in the memory of its process. Sessions there
//     and a connection that threads would share are refused. Other state weakens
//     promises (promise.Processes);
//  4. edit the place that decides: a variable in the service's EnvFile, the
//     configuration file, or the command line in its ArgsFile;
//  5. return whole files as a Change with a restart.
//
// The number of processes is read back from the children of the restarted process.
package workers
