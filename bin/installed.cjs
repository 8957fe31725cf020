#!/usr/bin/env node
// `tireless` of the installed package (in a checkout: bin/tireless). CommonJS, and syntax of old: on a Node that cannot run the
// program it still has to say so.

const needed = require('../package.json').engines.node.replace('>=', '')
const upgraded = findUpgraded()

if (upgraded) {
  require(upgraded)
} else if (isOlder(process.versions.node, needed)) {
  console.error(
    `tireless: Node is too old; got ${process.version}; expected ${needed} or newer; do this: install a newer Node (nodejs.org) and run the same command again`,
  )
  process.exitCode = 1
} else {
  cacheCompiledCode()
  keepSqliteQuiet()
  void import('../lib/cli/main.js')
}

/** The start file of the version that `tireless upgrade` selected. If it is gone, this version runs. */
function findUpgraded() {
  try {
    // Inside, because a very old Node does not know these names.
    const { existsSync, readFileSync } = require('node:fs')
    const { join } = require('node:path')
    const versions = join(__dirname, '..', 'versions')
    const { folder } = JSON.parse(readFileSync(join(versions, 'current.json'), 'utf8'))
    if (typeof folder !== 'string' || !/^[\w][\w.+-]*$/.test(folder)) return undefined
    const start = join(versions, folder, 'node_modules', 'tireless', 'bin', 'tireless.cjs')
    return existsSync(start) ? start : undefined
  } catch (_) {
    return undefined
  }
}

function isOlder(version, floor) {
  const parts = version.split('.').map(Number)
  const floors = floor.split('.').map(Number)
  const i = floors.findIndex((least, at) => parts[at] !== least)
  return i >= 0 && parts[i] < floors[i]
}

/** In a folder that nobody else can write to, or not at all: what lies in the cache is run. (Node's own default is in /tmp.) */
function cacheCompiledCode() {
  const { lstatSync, mkdirSync } = require('node:fs')
  const { enableCompileCache } = require('node:module')
  try {
    const folder = require('node:path').join(userCache(), 'tireless', 'compiled')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(folder)
    if (process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)) enableCompileCache(folder)
  } catch {
    // Without a cache it starts a little later.
  }
}

function userCache() {
  const { join } = require('node:path')
  const home = require('node:os').homedir()
  if (process.platform === 'win32') return process.env.LOCALAPPDATA || join(home, 'AppData', 'Local')
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches')
  return process.env.XDG_CACHE_HOME || join(home, '.cache')
}

/** Some versions of Node warn that their SQLite is experimental; every other warning is shown as ever. */
function keepSqliteQuiet() {
  const shown = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning' && warning.message.includes('SQLite')) return
    for (const show of shown) show.call(process, warning)
  })
}
