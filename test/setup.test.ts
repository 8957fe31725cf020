/** The set-up script and bin/tireless, as real processes in a checkout of their own, with an npm that reaches no network. */

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

/** What npm ci leaves behind, as far as set-up looks at it. */
const INSTALLS = `mkdir -p node_modules/.bin node_modules/left && ln -s "${process.execPath}" node_modules/.bin/node`
const WITHOUT_NODE = 'mkdir -p node_modules/left'

let scratch: string
let root: string
let programs: string

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'tireless setup ')))
  root = join(scratch, 'a checkout')
  programs = join(scratch, 'programs')
  for (const folder of ['bin', 'scripts', 'src/cli']) mkdirSync(join(root, folder), { recursive: true })
  mkdirSync(programs)
  for (const file of ['bin/tireless', 'scripts/setup.mjs']) cpSync(join(project, file), join(root, file))
  writeFileSync(join(root, 'package.json'), '{"name":"sample","type":"module"}')
  writeFileSync(join(root, 'package-lock.json'), '{"lockfileVersion":3}')
  writeFileSync(join(root, 'src/cli/main.ts'), MAIN)
  program('npm', INSTALLS)
})

afterEach(() => rmSync(scratch, { recursive: true, force: true }))

const MAIN = `const args: string[] = process.argv.slice(2)
console.log(JSON.stringify({ args, cwd: process.cwd(), pid: process.pid, flags: process.execArgv, cache: process.env.NODE_COMPILE_CACHE }))
process.exitCode = Number(args[0] ?? 0)
`

/** A program on the PATH that notes each call. */
function program(name: string, body: string): void {
  const path = join(programs, name)
  writeFileSync(path, `#!/bin/sh\necho "$*" >> "${join(scratch, `${name}.calls`)}"\n${body}\n`)
  chmodSync(path, 0o755)
}

function calls(name: string): readonly string[] {
  const file = join(scratch, `${name}.calls`)
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
}

const environment = (path = `${programs}:/usr/bin:/bin`) => ({ PATH: path, HOME: scratch })

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

function setUp(
  args: readonly string[] = [],
  { flags = [] as readonly string[], path }: { flags?: readonly string[]; path?: string } = {},
): Ended {
  const script = join(root, 'scripts/setup.mjs')
  return spawnSync(process.execPath, [...flags, script, ...args], {
    cwd: scratch,
    env: environment(path),
    encoding: 'utf8',
  })
}

const leftovers = () => readdirSync(root).filter((name) => name.startsWith('.setup-'))

describe('set-up', () => {
  it('installs once with npm ci, then calls npm no more and says nothing', () => {
    const first = setUp()
    assert.equal(first.status, 0, first.stderr)
    assert.match(calls('npm')[0] ?? '', /^ci .*--include=dev/)
    program('npm', 'echo no network; exit 1')
    assert.deepEqual(pick(setUp()), { status: 0, stdout: '', stderr: '' })
    assert.equal(calls('npm').length, 1)
    assert.deepEqual(leftovers(), [])
  })

  it('leaves the lock file as it is, and installs again when it has changed', () => {
    setUp()
    appendFileSync(join(root, 'package-lock.json'), '\n')
    setUp()
    assert.equal(calls('npm').length, 2)
    assert.equal(readFileSync(join(root, 'package-lock.json'), 'utf8'), '{"lockfileVersion":3}\n')
  })

  it('keeps what was installed when npm fails, and shows what npm said', () => {
    setUp()
    writeFileSync(join(root, 'package-lock.json'), '{}')
    program('npm', 'echo the registry is down >&2; exit 7')
    const failed = setUp()
    assert.equal(failed.status, 1)
    assert.match(failed.stderr, /the registry is down/)
    assert.match(failed.stderr, /could not be installed.*; got exit code 7.*; expected .*; do this: /)
    assert.ok(existsSync(join(root, 'node_modules/left')))
    assert.deepEqual(leftovers(), [])
  })

  it('says so when there is no npm', () => {
    const failed = setUp([], { path: join(scratch, 'nothing') })
    assert.equal(failed.status, 1)
    assert.match(failed.stderr, /got no npm on the PATH; .*do this: install Node\.js/)
  })

  it('two at once: both succeed, and the packages of the faster one stay', async () => {
    program(
      'npm',
      `if mkdir "${scratch}/first"; then who=first; until [ "$(wc -l < "${scratch}/npm.calls")" = 2 ]; do sleep 0.02; done
      else who=second; until [ -e "${root}/node_modules/left" ]; do sleep 0.02; done
      fi
      ${INSTALLS} && echo $who > node_modules/left/who`,
    )
    const script = join(root, 'scripts/setup.mjs')
    const run = () => promisify(execFile)(process.execPath, [script], { env: environment() })
    await Promise.all([run(), run()])
    assert.equal(calls('npm').length, 2)
    assert.equal(readFileSync(join(root, 'node_modules/left/who'), 'utf8'), 'first\n')
    assert.deepEqual(leftovers(), [])
    assert.deepEqual(pick(setUp()), { status: 0, stdout: '', stderr: '' })
  })

  it('complains about an old Node where no packaged one came with the packages, each time', () => {
    program('npm', WITHOUT_NODE)
    const flags = ['--import', 'data:text/javascript,Object.defineProperty(process,"version",{value:"v20.19.0"})']
    for (const _ of ['first', 'second']) {
      const refused = setUp([], { flags })
      assert.equal(refused.status, 1)
      assert.match(
        refused.stderr,
        /Node is too old.*; got v20\.19\.0 .*; expected Node 24 or newer; do this: install Node 24/,
      )
    }
    assert.equal(calls('npm').length, 1)
    assert.equal(setUp().status, 0, 'a new Node needs no packaged one')
  })

  it('drops a packaged Node that does not run here, so that it does not hide the machine’s own', () => {
    program(
      'npm',
      'mkdir -p node_modules/.bin && echo not a program > node_modules/.bin/node && chmod +x node_modules/.bin/node',
    )
    assert.equal(setUp().status, 0)
    assert.equal(existsSync(join(root, 'node_modules/.bin/node')), false)
  })
})

const notLinux = process.platform !== 'linux' && 'needs Linux'
const notRoot = process.getuid?.() !== 0 && 'needs root'

describe('set-up of a system program', () => {
  beforeEach(() => setUp())

  it('says nothing when it is there', () => {
    program('strace', '')
    assert.deepEqual(pick(setUp(['--system', 'strace'], { path: programs })), { status: 0, stdout: '', stderr: '' })
  })

  it('names what is off and goes on when nobody can install it', () => {
    const { status, stderr } = setUp(['--system', 'strace'], { path: programs })
    assert.equal(status, 0)
    assert.match(stderr, /^strace is missing\. These do not work: the tests that kill .*\n$/)
  })

  it('gives the one command when there is a package manager it may not use by itself', { skip: notLinux }, () => {
    program('pacman', '')
    const { status, stderr } = setUp(['--system', 'strace'], { path: programs })
    assert.equal(status, 0)
    assert.match(stderr, /To install it: (sudo )?pacman -S --noconfirm strace\n$/)
    assert.deepEqual(calls('pacman'), [])
  })

  it('installs it as root without a terminal, after an update', {
    skip: notLinux || notRoot,
  }, () => {
    program(
      'apt-get',
      `case "$*" in *install*) echo '#!/bin/sh' > "${programs}/strace"; /bin/chmod +x "${programs}/strace" ;; esac`,
    )
    const { status, stderr } = setUp(['--system', 'strace'], { path: programs })
    assert.equal(status, 0)
    assert.deepEqual(calls('apt-get'), ['-q update', '-q install -y --no-install-recommends strace'])
    assert.doesNotMatch(stderr, /missing/)
  })

  it('knows a program whose package has another name', { skip: notLinux }, () => {
    program('bwrap', '')
    assert.deepEqual(pick(setUp(['--system', 'bubblewrap'], { path: programs })), { status: 0, stdout: '', stderr: '' })
    rmSync(join(programs, 'bwrap'))
    program('pacman', '')
    const { stderr } = setUp(['--system', 'bubblewrap'], { path: programs })
    assert.match(
      stderr,
      /bubblewrap is missing\. These do not work: shell commands of agents.*pacman -S --noconfirm bubblewrap\n$/,
    )
  })

  it('refuses a program it does not know', () => {
    const { status, stderr } = setUp(['--system', 'frobnicate'])
    assert.equal(status, 1)
    assert.match(stderr, /got frobnicate; expected one of: strace/)
  })
})

describe('bin/tireless', () => {
  const tireless = (path: string, args: readonly string[] = []): Ended & { pid: number } =>
    spawnSync(path, args, { cwd: scratch, env: environment(), encoding: 'utf8' })

  it('runs from another folder through symbolic links, with its arguments, exit code and no process in between', () => {
    setUp()
    mkdirSync(join(scratch, 'links'))
    symlinkSync('../a checkout/bin/tireless', join(scratch, 'links', 'first'))
    symlinkSync(join(scratch, 'links', 'first'), join(scratch, 'links', 'my tireless'))
    const { status, stdout, stderr, pid } = tireless(join(scratch, 'links', 'my tireless'), ['3', 'two words', '*'])
    assert.equal(stderr, '')
    const told = JSON.parse(stdout)
    assert.deepEqual(told.args, ['3', 'two words', '*'])
    assert.equal(status, 3)
    assert.equal(told.cwd, scratch)
    assert.equal(told.pid, pid)
    assert.deepEqual(told.flags, ['--disable-warning=ExperimentalWarning'])
    assert.ok(told.cache.startsWith(join(root, 'node_modules/.cache/')))
  })

  it('sets itself up first, with stdout for the command alone', () => {
    symlinkSync(process.execPath, join(programs, 'node'))
    const first = tireless(join(root, 'bin/tireless'))
    assert.equal(first.status, 0, first.stderr)
    assert.deepEqual(JSON.parse(first.stdout).args, [])
    assert.match(first.stderr, /installing packages/)
    program('npm', 'exit 1')
    assert.equal(tireless(join(root, 'bin/tireless')).stderr, '')
    assert.equal(calls('npm').length, 1)
  })

  it('starts nothing when set-up fails', () => {
    symlinkSync(process.execPath, join(programs, 'node'))
    program('npm', 'exit 1')
    const { status, stdout, stderr } = tireless(join(root, 'bin/tireless'))
    assert.equal(status, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /could not be installed/)
  })

  it('complains about an old Node on the PATH where there is no packaged one', () => {
    setUp()
    rmSync(join(root, 'node_modules/.bin/node'))
    program('node', 'echo v20.19.0')
    const { status, stderr } = tireless(join(root, 'bin/tireless'))
    assert.equal(status, 1)
    assert.match(stderr, /Node is too old; got v20\.19\.0; expected 24 or newer; do this: /)
  })
})

function pick({ status, stdout, stderr }: Ended): Ended {
  return { status, stdout, stderr }
}
