// The build of the app: it checks the syntax of every file here, and installs the
// packages of package-lock.json. These are in a folder beside the source, one for each
// content of the package files, so that they are installed once: the source and copies
// of it have a link to that folder. It is not in the source, which is copied and hashed.
'use strict';

const { spawnSync } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const packageFiles = ['package.json', 'package-lock.json'];
const link = 'node_modules';

for (const file of fs.readdirSync('.')) {
  if (file.endsWith('.js')) {
    check(file);
  }
}
if (!fs.lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) { // else they were installed by hand
  linkTo(path.join(installed(), 'node_modules'));
}

// check compiles a file as a module, without running it.
function check(file) {
  try {
    vm.compileFunction(fs.readFileSync(file, 'utf8'), ['exports', 'require', 'module', '__filename', '__dirname'], { filename: file });
  } catch (err) {
    console.error(err.stack);
    process.exit(1);
  }
}

// installed returns the folder with the packages. It installs them if it is missing.
function installed() {
  const sum = crypto.createHash('sha256');
  for (const file of packageFiles) {
    sum.update(fs.readFileSync(file)).update('\0');
  }
  const all = path.join('..', '.node-packages');
  const folder = path.join(all, sum.digest('hex').slice(0, 16));
  if (fs.existsSync(folder)) {
    return folder;
  }
  fs.mkdirSync(all, { recursive: true });
  const unfinished = fs.mkdtempSync(`${folder}.`);
  try {
    for (const file of packageFiles) {
      fs.copyFileSync(file, path.join(unfinished, file));
    }
    const npm = spawnSync('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--no-update-notifier'],
      { cwd: unfinished, stdio: ['ignore', 2, 2] });
    if (npm.status !== 0) {
      throw npm.error ?? new Error(`npm ci ended with ${npm.signal ?? npm.status}`);
    }
    fs.chmodSync(unfinished, 0o755); // the app may run as another user
    fs.renameSync(unfinished, folder);
  } catch (err) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    if (!fs.existsSync(folder)) { // another build was not first, either
      console.error(`installing the packages: ${err.message}`);
      process.exit(1);
    }
  }
  return folder;
}

// linkTo makes the link, or replaces one that leads elsewhere.
function linkTo(folder) {
  if (fs.lstatSync(link, { throwIfNoEntry: false }) && fs.readlinkSync(link) === folder) {
    return;
  }
  const next = `.${link}.new`;
  fs.rmSync(next, { force: true });
  fs.symlinkSync(folder, next);
  fs.renameSync(next, link);
}
