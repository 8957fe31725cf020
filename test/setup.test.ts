/**
 * The set-up script and bin/tireless as real processes in a separate checkout, with a fake npm that needs no network.
 */

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const project = fileURLToPath(new URL('..', import.meta.url))

/** The parts of a result of npm ci that set-up looks at. */
const INSTALL_PACKAGES = `mkdir -p node_modules/.bin node_modules/left &&
  ln -s "${process.execPath}" node_modules/.bin/node`
const INSTALL_WITHOUT_NODE = 'mkdir -p node_modules/left'

let tempFolder: string
let root: string
let programs: string

beforeEach(() => {
  tempFolder = realpathSync(mkdtempSync(join(tmpdir(), 'tireless setup ')))
  root = join(tempFolder, 'a checkout')
  programs = join(tempFolder, 'programs')
  for (const folder of ['bin', 'scripts', 'src/cli']) mkdirSync(join(root, folder), { recursive: true })
  mkdirSync(programs)
  for (const file of ['bin/tireless', 'scripts/setup.mjs']) cpSync(join(project, file), join(root, file))
  writeFileSync(join(root, 'package.json'), '{"name":"sample","type":"module"}')
  writeFileSync(join(root, 'package-lock.json'), '{"lockfileVersion":3}')
  writeFileSync(join(root, 'src/cli/main.ts'), MAIN)
  writeProgram('npm', INSTALL_PACKAGES)
})

afterEach(() => rmSync(tempFolder, { recursive: true, force: true }))

const MAIN = `const args: string[] = process.argv.slice(2)
const { execArgv: flags, pid, env } = process
const cache = env.NODE_COMPILE_CACHE
console.log(JSON.stringify({ args, cwd: process.cwd(), pid, flags, cache }))
process.exitCode = Number(args[0] ?? 0)
`

/** Writes a program into the PATH that records each of its calls. */
function writeProgram(name: string, body: string): void {
  const path = join(programs, name)
  writeFileSync(path, `#!/bin/sh\necho "$*" >> "${join(tempFolder, `${name}.calls`)}"\n${body}\n`)
  chmodSync(path, 0o755)
}

function callsOf(name: string): readonly string[] {
  const file = join(tempFolder, `${name}.calls`)
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
}

const environment = (path = `${programs}:/usr/bin:/bin`) => ({ PATH: path, HOME: tempFolder })

interface ProcessResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

function runSetup(
  args: readonly string[] = [],
  { flags = [] as readonly string[], path }: { flags?: readonly string[]; path?: string } = {},
): ProcessResult {
  const script = join(root, 'scripts/setup.mjs')
  return spawnSync(process.execPath, [...flags, script, ...args], {
    cwd: tempFolder,
    env: environment(path),
    encoding: 'utf8',
  })
}

const leftovers = () => readdirSync(root).filter((name) => name.startsWith('.setup-'))

describe('set-up', () => {
  it('installs once with npm ci; the next time it calls no npm and prints nothing', () => {
    const first = runSetup()
    assert.equal(first.status, 0, first.stderr)
    assert.match(callsOf('npm')[0] ?? '', /^ci .*--include=dev/)
    writeProgram('npm', 'echo no network; exit 1')
    assert.deepEqual(withoutPid(runSetup()), { status: 0, stdout: '', stderr: '' })
    assert.equal(callsOf('npm').length, 1)
    assert.deepEqual(leftovers(), [])
  })

  it('keeps the lock file as it is, and installs again when it has changed', () => {
    runSetup()
    appendFileSync(join(root, 'package-lock.json'), '\n')
    runSetup()
    assert.equal(callsOf('npm').length, 2)
    assert.equal(readFileSync(join(root, 'package-lock.json'), 'utf8'), '{"lockfileVersion":3}\n')
  })

  it('keeps the installed packages if npm fails, and shows the output of npm', () => {
    runSetup()
    writeFileSync(join(root, 'package-lock.json'), '{}')
    writeProgram('npm', 'echo the registry is down >&2; exit 7')
    const failed = runSetup()
    assert.equal(failed.status, 1)
    assert.match(failed.stderr, /the registry is down/)
    assert.match(failed.stderr, /could not be installed.*; got exit code 7.*; expected .*; do this: /)
    assert.ok(existsSync(join(root, 'node_modules/left')))
    assert.deepEqual(leftovers(), [])
  })

  it('reports a missing npm', () => {
    const failed = runSetup([], { path: join(tempFolder, 'nothing') })
    assert.equal(failed.status, 1)
    assert.match(failed.stderr, /got no npm on the PATH; .*do this: install Node\.js/)
  })

  it('two at once both succeed, and the packages of the faster one stay', async () => {
    writeProgram(
      'npm',
      `if mkdir "${tempFolder}/first"; then who=first
          until [ "$(wc -l < "${tempFolder}/npm.calls")" = 2 ]; do sleep 0.02; done
      else who=second; until [ -e "${root}/node_modules/left" ]; do sleep 0.02; done
      fi
      ${INSTALL_PACKAGES} && echo $who > node_modules/left/who`,
    )
    const script = join(root, 'scripts/setup.mjs')
    const run = () => promisify(execFile)(process.execPath, [script], { env: environment() })
    await Promise.all([run(), run()])
    assert.equal(callsOf('npm').length, 2)
    assert.equal(readFileSync(join(root, 'node_modules/left/who'), 'utf8'), 'first\n')
    assert.deepEqual(leftovers(), [])
    assert.deepEqual(withoutPid(runSetup()), { status: 0, stdout: '', stderr: '' })
  })

  it('reports an old Node each time if the packages bring none', () => {
    writeProgram('npm', INSTALL_WITHOUT_NODE)
    const flags = ['--import', 'data:text/javascript,Object.defineProperty(process,"version",{value:"v20.19.0"})']
    for (const _ of ['first', 'second']) {
      const refused = runSetup([], { flags })
      assert.equal(refused.status, 1)
      assert.match(
        refused.stderr,
        /Node is too old.*; got v20\.19\.0 .*; expected Node 24 or newer; do this: install Node 24/,
      )
    }
    assert.equal(callsOf('npm').length, 1)
    assert.equal(runSetup().status, 0, 'a new Node needs no packaged one')
  })

  it('removes a packaged Node that does not run here, so that it does not hide the installed one', () => {
    writeProgram(
      'npm',
      'mkdir -p node_modules/.bin && echo not a program > node_modules/.bin/node && chmod +x node_modules/.bin/node',
    )
    assert.equal(runSetup().status, 0)
    assert.equal(existsSync(join(root, 'node_modules/.bin/node')), false)
  })
})

const notLinux = process.platform !== 'linux' && 'needs Linux'
const notRoot = process.getuid?.() !== 0 && 'needs root'

describe('set-up of a system program', () => {
  beforeEach(() => runSetup())

  it('prints nothing if it is installed', () => {
    writeProgram('strace', '')
    assert.deepEqual(withoutPid(runSetup(['--system', 'strace'], { path: programs })), {
      status: 0,
      stdout: '',
      stderr: '',
    })
  })

  it('without a package manager it names what is disabled, and exits with 0', () => {
    const { status, stderr } = runSetup(['--system', 'strace'], { path: programs })
    assert.equal(status, 0)
    assert.match(stderr, /^strace is missing\. These do not work: the tests that kill .*\n$/)
  })

  it('prints the install command for a package manager that it may not run itself', { skip: notLinux }, () => {
    writeProgram('pacman', '')
    const { status, stderr } = runSetup(['--system', 'strace'], { path: programs })
    assert.equal(status, 0)
    assert.match(stderr, /To install it: (sudo )?pacman -S --noconfirm strace\n$/)
    assert.deepEqual(callsOf('pacman'), [])
  })

  it('installs it as root without a terminal, after an update', {
    skip: notLinux || notRoot,
  }, () => {
    writeProgram(
      'apt-get',
      `case "$*" in *install*) echo '#!/bin/sh' > "${programs}/strace"; /bin/chmod +x "${programs}/strace" ;; esac`,
    )
    const { status, stderr } = runSetup(['--system', 'strace'], { path: programs })
    assert.equal(status, 0)
    assert.deepEqual(callsOf('apt-get'), ['-q update', '-q install -y --no-install-recommends strace'])
    assert.doesNotMatch(stderr, /missing/)
  })

  it('finds a program whose package has another name', { skip: notLinux }, () => {
    writeProgram('bwrap', '')
    assert.deepEqual(withoutPid(runSetup(['--system', 'bubblewrap'], { path: programs })), {
      status: 0,
      stdout: '',
      stderr: '',
    })
    rmSync(join(programs, 'bwrap'))
    writeProgram('pacman', '')
    const { stderr } = runSetup(['--system', 'bubblewrap'], { path: programs })
    assert.match(
      stderr,
      /bubblewrap is missing\. These do not work: shell commands of agents.*pacman -S --noconfirm bubblewrap\n$/,
    )
  })

  it('refuses an unknown program', () => {
    const { status, stderr } = runSetup(['--system', 'frobnicate'])
    assert.equal(status, 1)
    assert.match(stderr, /got frobnicate; expected one of: strace/)
  })
})

describe('bin/tireless', () => {
  const tireless = (path: string, args: readonly string[] = []): ProcessResult & { pid: number } =>
    spawnSync(path, args, { cwd: tempFolder, env: environment(), encoding: 'utf8' })

  it('runs through symbolic links, passes arguments and exit code, and adds no process', () => {
    runSetup()
    mkdirSync(join(tempFolder, 'links'))
    symlinkSync('../a checkout/bin/tireless', join(tempFolder, 'links', 'first'))
    symlinkSync(join(tempFolder, 'links', 'first'), join(tempFolder, 'links', 'my tireless'))
    const { status, stdout, stderr, pid } = tireless(join(tempFolder, 'links', 'my tireless'), ['3', 'two words', '*'])
    assert.equal(stderr, '')
    const printed = JSON.parse(stdout)
    assert.deepEqual(printed.args, ['3', 'two words', '*'])
    assert.equal(status, 3)
    assert.equal(printed.cwd, tempFolder)
    assert.equal(printed.pid, pid)
    assert.deepEqual(printed.flags, ['--disable-warning=ExperimentalWarning'])
    assert.ok(printed.cache.startsWith(join(root, 'node_modules/.cache/')))
  })

  it("sets itself up first, and prints only the command's output to stdout", () => {
    symlinkSync(process.execPath, join(programs, 'node'))
    const first = tireless(join(root, 'bin/tireless'))
    assert.equal(first.status, 0, first.stderr)
    assert.deepEqual(JSON.parse(first.stdout).args, [])
    assert.match(first.stderr, /installing packages/)
    writeProgram('npm', 'exit 1')
    assert.equal(tireless(join(root, 'bin/tireless')).stderr, '')
    assert.equal(callsOf('npm').length, 1)
  })

  it('starts nothing if set-up fails', () => {
    symlinkSync(process.execPath, join(programs, 'node'))
    writeProgram('npm', 'exit 1')
    const { status, stdout, stderr } = tireless(join(root, 'bin/tireless'))
    assert.equal(status, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /could not be installed/)
  })

  it('reports an old Node on the PATH if there is no packaged one', () => {
    runSetup()
    rmSync(join(root, 'node_modules/.bin/node'))
    writeProgram('node', 'echo v20.19.0')
    const { status, stderr } = tireless(join(root, 'bin/tireless'))
    assert.equal(status, 1)
    assert.match(stderr, /Node is too old; got v20\.19\.0; expected 24\.16 or newer; do this: /)
  })
})

function withoutPid({ status, stdout, stderr }: ProcessResult): ProcessResult {
  return { status, stdout, stderr }
}
