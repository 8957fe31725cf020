// Makes a fresh clone ready: the npm packages of the lock file, with them the Node that the project needs, and the page.
// Plain JavaScript for Node 18 and up, because it runs before anything is installed. It speaks on stderr only:
// bin/tireless runs it in front of commands whose stdout is data.
//
//   node scripts/setup.mjs [--system PROGRAM]...
//
// The stamp is a copy of the lock file, so that bin/tireless can check it with `cmp`. Packages are installed, stamp and
// all, in a folder of their own and swapped in by rename: an interrupted set-up leaves the old packages whole, two at
// once cannot meet half-way, and a program that is running never finds the folder half empty. (A lock directory was the
// alternative: it needs an opinion on when its holder is dead.)

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
/** bin/tireless spells the same name with `uname -sm`. */
const stamp = join('.tireless', `${os.type()}-${os.machine()}`)

/** What is off without a program of the system, by the name of its package, which is mostly the program's, too. */
const SYSTEM = {
  strace: 'the tests that kill the program at every write and every fsync',
  chromium: 'the tests of the page in a browser',
  bubblewrap: 'commands of agents (bash), which run in its sandbox, and the tests of it',
}
const PROGRAMS = { bubblewrap: 'bwrap' }

const say = (line) => process.stderr.write(`${line}\n`)

class Complaint extends Error {
  constructor({ what, got, expected, fix }) {
    super(`${what}; got ${got}; expected ${expected}; do this: ${fix}`)
  }
}

// Packages

async function ensurePackages() {
  if (!isReady()) {
    say('tireless: installing its packages, once (a few seconds to a minute) …')
    await install()
    dropPackagedNodeThatCannotRun()
  }
  if (!existsSync(packagedNode) && majorOf(process.version) < NEEDED) {
    throw new Complaint({
      what: 'Node is too old, and there is no packaged one for this system',
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

/** Where another set-up was faster, its packages stay and ours go. */
function swapIn(staging) {
  for (let attempt = 0; !isReady(); attempt++) {
    try {
      if (existsSync(modules)) renameSync(modules, join(staging, `old-${attempt}`))
      return renameSync(join(staging, 'node_modules'), modules)
    } catch (error) {
      if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code) && attempt < 20) continue
      throw new Complaint({
        what: 'the installed packages cannot be put in place',
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

/** Development packages whatever NODE_ENV says; an old Node's complaints about `engines` are not the user's concern. */
async function npmCi(cwd) {
  const args = ['ci', '--include=dev', '--include=optional', '--engine-strict=false', '--no-audit', '--no-fund']
  const { code, output } = await run('npm', [...args, '--loglevel=error'], { cwd, env: systemEnvironment() })
  if (code === 0) return
  say(output.trimEnd())
  throw new Complaint({
    what: 'the packages could not be installed (npm ci)',
    got: code === undefined ? 'no npm on the PATH' : `exit code ${code}, output above`,
    expected: 'npm 8 or newer that reaches its registry',
    fix:
      code === undefined ? 'install Node.js, which brings npm' : 'mend what npm names, then run the same command again',
  })
}

/** npm must not run on the Node of the packages it is about to replace. */
function systemEnvironment() {
  const own = join(modules, '.bin')
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !`${folder}${sep}`.startsWith(own + sep))
  return { ...process.env, PATH: path.join(delimiter) }
}

/** A packaged Node for another C library would hide the machine's own one, because npm puts its folder first on the PATH. */
function dropPackagedNodeThatCannotRun() {
  if (!existsSync(packagedNode)) return
  const { status, stdout } = spawnSync(packagedNode, ['--version'], { encoding: 'utf8', shell: isWindows })
  if (status !== 0 || majorOf(stdout) < NEEDED) rmSync(packagedNode)
}

const majorOf = (version) => Number.parseInt(version.replace('v', ''), 10)

// The page

/** Without it everything else works, so that what cannot be built is said and no more. */
async function ensurePage() {
  const script = join(root, 'scripts', 'web.mjs')
  if (!existsSync(script)) return
  const { hasPage, isBuilt } = await import('./web-stamp.mjs')
  if (!hasPage() || isBuilt()) return
  say('tireless: building its page …')
  const { code, output } = await run(existsSync(packagedNode) ? packagedNode : process.execPath, [script], {
    cwd: root,
  })
  if (code === 0) return
  say(output.trimEnd())
  say('off: the page in the browser. To try again: npm run build:web')
}

// Programs of the system

async function ensureProgram(name) {
  const off = SYSTEM[name]
  if (off === undefined) {
    const known = Object.keys(SYSTEM).join(', ')
    throw new Complaint({ what: '--system', got: String(name), expected: `one of: ${known}`, fix: 'name one of those' })
  }
  const isThere = () => onPath(PROGRAMS[name] ?? name)
  if (isThere()) return
  const declined = join(modules, '.tireless', `without-${name}`)
  const command = commandFor(name)
  const terminal = process.stdin.isTTY && process.stderr.isTTY
  if (command && terminal && !existsSync(declined)) {
    if (await agreed(`${name} is missing; without it these are off: ${off}. Run \`${command}\` now?`)) {
      spawnSync(command, { shell: true, stdio: ['inherit', 2, 2] })
    } else writeFileSync(declined, '')
  } else if (!terminal && isRoot && onPath('apt-get')) {
    await aptInstall(name)
  }
  if (!isThere()) say(`${name} is missing; off: ${off}${command ? `. To have them: ${command}` : ''}`)
}

async function aptInstall(name) {
  say(`tireless: installing ${name} …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]]) {
    const { code, output } = await run('apt-get', ['-q', ...args], { env, timeout: 300_000 })
    if (code !== 0) say(output.trimEnd())
  }
}

/** Undefined where this system has no such program, or no package manager that we know. */
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

async function agreed(question) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
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

/** Never rejects: no code where the program is not there; stopping us stops it. */
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
  const programs = process.argv.slice(2).filter((arg) => arg !== '--system')
  for (const program of programs) await ensureProgram(program)
} catch (error) {
  if (!(error instanceof Complaint)) throw error
  say(`tireless: ${error.message}`)
  process.exitCode = 1
}
