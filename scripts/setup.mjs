// Sets up a fresh clone: installs the npm packages of the lock file, which include the right Node, and builds the page.
// Plain JavaScript for Node 18 and newer, because it runs before anything is installed. It prints only to stderr,
// because bin/tireless runs it before commands whose stdout is data.
//
//   node scripts/setup.mjs [--system PROGRAM]...
// The stamp is a copy of the lock file, so that bin/tireless can check it with `cmp`. Packages and stamp are installed
// in a separate folder, which is then renamed: an interrupted set-up keeps the old packages, and neither a concurrent
// set-up nor a running program finds an incomplete folder. (A lock directory would need a rule for a dead holder.)

import { spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import { delimiter, join, sep } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'

const NEEDED = 24
const STAGING = '.setup-'
const ABANDONED_MS = 3_600_000

const root = fileURLToPath(new URL('..', import.meta.url))
const lockFile = join(root, 'package-lock.json')
const modules = join(root, 'node_modules')
const packagedNode = join(modules, '.bin', 'node')
/** bin/tireless builds the same name with `uname -sm`. */
const stamp = join('.tireless', `${os.type()}-${os.machine()}`)

/** What does not work without a system program, by the name of its package. */
const SYSTEM = {
  strace: 'the tests that kill the program at every write and every fsync',
  chromium: 'the browser tests of the page',
  'chromium-headless-shell': 'the browser tests at full speed (with chromium they take twice as long)',
  bubblewrap: 'shell commands of agents (they run in its sandbox), and the sandbox tests',
  pgbouncer: 'the tests of PostgreSQL behind a pooler',
  postgresql: 'the failover drill',
  patroni: 'the failover drill',
  'etcd-server': 'the failover drill',
  'redis-server': 'BullMQ in the bench of queues',
}
/** Programs whose name differs from their package. */
const PROGRAMS = { bubblewrap: 'bwrap', postgresql: 'pg_ctlcluster', 'etcd-server': 'etcd' }

const say = (line) => process.stderr.write(`${line}\n`)

class SetupError extends Error {
  constructor({ what, got, expected, fix }) {
    super(`${what}; got ${got}; expected ${expected}; do this: ${fix}`)
  }
}

// Packages

async function ensurePackages() {
  if (!isReady()) {
    say('tireless: installing packages, only once (a few seconds to a minute) …')
    await install()
    removeUnusablePackagedNode()
  }
  if (!existsSync(packagedNode) && majorOf(process.version) < NEEDED) {
    throw new SetupError({
      what: 'Node is too old, and there is no packaged Node for this system',
      got: `${process.version} on ${os.type()} ${os.machine()}`,
      expected: `Node ${NEEDED} or newer`,
      fix: `install Node ${NEEDED} (nodejs.org, or \`nvm install ${NEEDED}\`) and run the same command again`,
    })
  }
}

function isReady() {
  try {
    return readFileSync(lockFile).equals(readFileSync(join(modules, stamp)))
  } catch {
    return false
  }
}

async function install() {
  removeAbandoned()
  const staging = mkdtempSync(join(root, STAGING))
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
      if (existsSync(join(root, file))) copyFileSync(join(root, file), join(staging, file))
    }
    await npmCi(staging)
    mkdirSync(join(staging, 'node_modules', '.tireless'), { recursive: true })
    copyFileSync(join(staging, 'package-lock.json'), join(staging, 'node_modules', stamp))
    swapIn(staging)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** If a concurrent set-up was faster, its packages stay. */
function swapIn(staging) {
  for (let attempt = 0; !isReady(); attempt++) {
    try {
      if (existsSync(modules)) renameSync(modules, join(staging, `old-${attempt}`))
      return renameSync(join(staging, 'node_modules'), modules)
    } catch (error) {
      if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code) && attempt < 20) continue
      throw new SetupError({
        what: 'the installed packages could not be moved into place',
        got: error.message,
        expected: `${modules} to be an ordinary folder that can be renamed`,
        fix: 'remove that folder (or unmount it) and run the same command again',
      })
    }
  }
}

function removeAbandoned() {
  for (const name of readdirSync(root).filter((name) => name.startsWith(STAGING))) {
    const path = join(root, name)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > ABANDONED_MS) rmSync(path, { recursive: true, force: true })
  }
}

/** Includes development packages regardless of NODE_ENV; ignores the `engines` check of an old Node. */
async function npmCi(cwd) {
  const args = ['ci', '--include=dev', '--include=optional', '--engine-strict=false', '--no-audit', '--no-fund']
  const { code, output } = await run('npm', [...args, '--loglevel=error'], { cwd, env: systemEnvironment() })
  if (code === 0) return
  say(output.trimEnd())
  throw new SetupError({
    what: 'the packages could not be installed (npm ci)',
    got: code === undefined ? 'no npm on the PATH' : `exit code ${code}, output above`,
    expected: 'npm 8 or newer with access to its registry',
    fix:
      code === undefined
        ? 'install Node.js, which brings npm'
        : 'fix the error that npm reports, then run the same command again',
  })
}

/** npm must not run with the Node from the packages that it replaces. */
function systemEnvironment() {
  const own = join(modules, '.bin')
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !`${folder}${sep}`.startsWith(own + sep))
  return { ...process.env, PATH: path.join(delimiter) }
}

/** A packaged Node for another C library cannot run, and would hide the system's Node, because npm puts it first. */
function removeUnusablePackagedNode() {
  if (!existsSync(packagedNode)) return
  const { status, stdout } = spawnSync(packagedNode, ['--version'], { encoding: 'utf8', shell: isWindows })
  if (status !== 0 || majorOf(stdout) < NEEDED) rmSync(packagedNode)
}

const majorOf = (version) => Number.parseInt(version.replace('v', ''), 10)

// The page

/** A failed build is only reported, because everything else works without the page. */
async function ensurePage() {
  const script = join(root, 'scripts', 'web.mjs')
  if (!existsSync(script)) return
  const { hasPage, isBuilt } = await import('./web-stamp.mjs')
  if (!hasPage() || isBuilt()) return
  say('tireless: building the page …')
  const { code, output } = await run(existsSync(packagedNode) ? packagedNode : process.execPath, [script], {
    cwd: root,
  })
  if (code === 0) return
  say(output.trimEnd())
  say('The page in the browser is not available. To try again: npm run build:web')
}

// The bundle

/** A failed build is only reported, because everything works without the bundle, more slowly. */
async function ensureBundle() {
  const script = join(root, 'scripts', 'bundle.mjs')
  if (!existsSync(script) || !existsSync(packagedNode)) return
  const { code, output } = await run(packagedNode, [script], { cwd: root })
  if (code !== 0) say(`${output.trimEnd()}\nThe command line was not bundled; it starts more slowly.`)
}

// Programs of the system

async function ensureProgram(name) {
  const off = SYSTEM[name]
  if (off === undefined) {
    const known = Object.keys(SYSTEM).join(', ')
    throw new SetupError({
      what: '--system',
      got: String(name),
      expected: `one of: ${known}`,
      fix: 'name one of those',
    })
  }
  const isInstalled = () => onPath(PROGRAMS[name] ?? name)
  if (isInstalled()) return
  const declined = join(modules, '.tireless', `without-${name}`)
  const command = commandFor(name)
  const terminal = process.stdin.isTTY && process.stderr.isTTY
  if (command && terminal && !existsSync(declined)) {
    if (await confirm(`${name} is missing. Without it, these do not work: ${off}. Run \`${command}\` now?`)) {
      spawnSync(command, { shell: true, stdio: ['inherit', 2, 2] })
    } else writeFileSync(declined, '')
  } else if (!terminal && isRoot && onPath('apt-get')) {
    await aptInstall(name)
  }
  if (!isInstalled())
    say(`${name} is missing. These do not work: ${off}.${command ? ` To install it: ${command}` : ''}`)
}

async function aptInstall(name) {
  say(`tireless: installing ${name} …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]]) {
    const { code, output } = await run('apt-get', ['-q', ...args], { env, timeout: 300_000 })
    if (code !== 0) say(output.trimEnd())
  }
}

/** Contract: undefined without a known package manager, or if the program does not exist for this system. */
function commandFor(name) {
  if (os.type() !== 'Linux') return undefined
  const managers = {
    'apt-get': 'install -y',
    dnf: 'install -y',
    apk: 'add',
    pacman: '-S --noconfirm',
    zypper: 'install -y',
  }
  const manager = Object.keys(managers).find(onPath)
  return manager && `${isRoot ? '' : 'sudo '}${manager} ${managers[manager]} ${name}`
}

async function confirm(question) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}

/** Servers are in a folder that only the PATH of root contains. */
function onPath(program) {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

// Processes

const isWindows = os.type() === 'Windows_NT'
const isRoot = process.getuid?.() === 0

/** Contract: never rejects; `code` is undefined if the program is missing. Signals to us also stop the program. */
function run(program, args, options) {
  return new Promise((done) => {
    let output = ''
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], shell: isWindows })
    const stop = (signal) => child.kill(signal)
    const end = (code) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeListener(signal, stop)
      done({ code, output })
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes))
    child.on('error', (error) => {
      output += error.message
      end(undefined)
    })
    child.on('close', (code, signal) => end(signal ?? code))
  })
}

try {
  await ensurePackages()
  await ensurePage()
  await ensureBundle()
  const programs = process.argv.slice(2).filter((arg) => arg !== '--system')
  for (const program of programs) await ensureProgram(program)
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  say(`tireless: ${error.message}`)
  process.exitCode = 1
}
