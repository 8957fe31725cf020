/** The package as users get it: built, packed, installed in an empty folder, run there. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { documentedPrograms, LIBRARY_PROGRAM, PAGE_PROGRAM, TYPED_PROGRAM } from './support/user-programs.ts'

const ROOT = join(import.meta.dirname, '..')
const UNREACHABLE =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTCACHED|CERT|\b40[37]\b/

interface ProgramResult {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

const tempFolder = mkdtempSync(join(tmpdir(), 'tireless-package-'))
const built = join(tempFolder, 'built')
const consumer = join(tempFolder, 'consumer')
const home = join(tempFolder, 'home')
const installed = join(consumer, 'node_modules', 'tireless')
let installedByNpm = false
/**
 * npm looks for its global settings beside the Node that runs it. With the Node of the checkout it would miss those of
 * the machine (proxy, certificates).
 */
let npmSettings: Record<string, string> = {}

/** Runs in the consumer's folder, with an empty home and the Node of this test first on the PATH. */
function run(program: string, ...args: string[]): Promise<ProgramResult> {
  return runOn(`${dirname(process.execPath)}${delimiter}${process.env.PATH}`, program, ...args)
}

function runOn(PATH: string, program: string, ...args: string[]): Promise<ProgramResult> {
  const env = { ...process.env, ...npmSettings, HOME: home, PATH }
  for (const name of ['TIRELESS_HOME', 'NODE_COMPILE_CACHE', 'XDG_CACHE_HOME', 'NODE_OPTIONS'])
    Reflect.deleteProperty(env, name)
  return new Promise((resolve) =>
    execFile(program, args, { cwd: consumer, env }, (error, stdout, stderr) =>
      resolve({ exit: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    ),
  )
}

async function runOrFail(program: string, ...args: string[]): Promise<string> {
  const { exit, stdout, stderr } = await run(program, ...args)
  assert.equal(exit, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

before(async () => {
  for (const folder of [consumer, home]) mkdirSync(folder)
  npmSettings = await npmSettingsOfMachine()
  await runOrFail(process.execPath, join(ROOT, 'scripts/build.mjs'), built)
  const tarball = (await runOrFail('npm', 'pack', built, '--pack-destination', tempFolder, '--silent')).trim()
  writeFileSync(join(consumer, 'package.json'), '{"name":"consumer","private":true,"type":"module"}')
  const npmFlags = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0', '--fetch-timeout=20000']
  const { exit, stderr } = await run('npm', 'install', ...npmFlags, join(tempFolder, tarball))
  installedByNpm = exit === 0
  if (installedByNpm) return
  assert.match(stderr, UNREACHABLE, stderr)
  await installByHand(join(tempFolder, tarball))
})
after(() => rmSync(tempFolder, { recursive: true, force: true }))

async function npmSettingsOfMachine(): Promise<Record<string, string>> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const machine = folders.filter((folder) => !folder.includes('node_modules')).join(delimiter)
  const { exit, stdout } = await runOn(machine, 'npm', 'config', 'get', 'globalconfig')
  return exit === 0 ? { NPM_CONFIG_GLOBALCONFIG: stdout.trim() } : {}
}

/** Without a registry the package is unpacked by hand and linked to the checkout's copies of its dependencies. */
async function installByHand(tarball: string): Promise<void> {
  const { dependencies } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
  const scopes = Object.keys(dependencies).flatMap((name) => (name.startsWith('@') ? [dirname(name)] : []))
  for (const folder of [...scopes, '.bin', 'tireless'])
    mkdirSync(join(consumer, 'node_modules', folder), { recursive: true })
  await runOrFail('tar', '-xzf', tarball, '--strip-components=1', '-C', installed)
  for (const name of Object.keys(dependencies))
    symlinkSync(join(ROOT, 'node_modules', name), join(consumer, 'node_modules', name))
  symlinkSync('../tireless/bin/tireless.cjs', join(consumer, 'node_modules/.bin/tireless'))
}

describe('the built package', () => {
  test('contains compiled code with types, and no file of the checkout', () => {
    const manifest = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
    const checkout = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    assert.deepEqual(
      {
        name: manifest.name,
        version: manifest.version,
        license: manifest.license,
        type: manifest.type,
        engines: manifest.engines,
      },
      { name: 'tireless', version: checkout.version, license: 'MIT', type: 'module', engines: checkout.engines },
    )
    const { '@types/node': types } = checkout.devDependencies
    assert.deepEqual(manifest.dependencies, { ...checkout.dependencies, '@types/node': types })
    for (const key of ['private', 'scripts', 'devDependencies', 'optionalDependencies'])
      assert.ok(!(key in manifest), key)
    const files = globSync('**', { cwd: built }).filter((file) => statSync(join(built, file)).isFile())
    const isCode = (file: string): boolean => /^lib\/.*\.(js|d\.ts)$/.test(file) && !file.includes('.test.')
    const otherFiles = files.filter(
      (file) =>
        !isCode(file) &&
        !/^agents\/[\w-]+\/(agent\.yaml|role\.md|self\.md|behaviours\/\w+\.md)$/.test(file) &&
        !/^lib\/prompts\/([\w-]+\/)?[\w.-]+\.md$/.test(file) &&
        !/^web\/dist\/(index\.html|icon(-\w+)?\.svg|assets\/.*\.(js|css))$/.test(file),
    )
    assert.deepEqual(otherFiles.toSorted(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/tireless.cjs',
      'package.json',
    ])
    const sourceNames = files.filter(
      (file) => file.startsWith('lib/') && /['"]\.{1,2}\/[^'"]*\.ts['"]/.test(readFileSync(join(built, file), 'utf8')),
    )
    assert.deepEqual(sourceNames, [], 'every import names a file of the package')
  })

  test('refuses to build into a folder with other files', async () => {
    const precious = join(consumer, 'precious.txt')
    writeFileSync(precious, 'mine')
    const refused = await run(process.execPath, join(ROOT, 'scripts/build.mjs'), consumer)
    assert.deepEqual({ exit: refused.exit, content: readFileSync(precious, 'utf8') }, { exit: 1, content: 'mine' })
    assert.match(refused.stderr, /precious\.txt.*do this: name another folder/)
    rmSync(precious)
  })

  test('on an old Node it says what to do and exits with 1', async (t) => {
    const olderNode = await findOlderNode()
    if (!olderNode) return t.skip('there is no older Node on this machine')
    const result = await run(olderNode.path, join(built, 'bin/tireless.cjs'), 'run', 'x')
    assert.deepEqual({ exit: result.exit, stdout: result.stdout }, { exit: 1, stdout: '' })
    assert.match(result.stderr, /^tireless: Node is too old; got v[\d.]+; expected 24\.\d+ or newer; do this: .*\n$/)
    assert.ok(result.stderr.includes(olderNode.version))
  })

  test('imported on an old Node it says what to do', async (t) => {
    const olderNode = await findOlderNode()
    if (!olderNode) return t.skip('there is no older Node on this machine')
    writeFileSync(join(consumer, 'old.js'), "import { runTask } from 'tireless'\nrunTask('x')\n")
    const { exit, stderr } = await run(olderNode.path, 'old.js')
    assert.equal(exit, 1)
    assert.match(stderr, /Error: tireless: Node is too old; got v[\d.]+; expected 24\.\d+ or newer; do this: install/)
  })
})

async function findOlderNode(): Promise<{ path: string; version: string } | undefined> {
  const folders = ['/usr/bin', '/usr/local/bin', ...(process.env.PATH ?? '').split(delimiter)]
  for (const path of folders.map((folder) => join(folder, 'node')).filter(existsSync)) {
    const version = (await run(path, '--version')).stdout.trim()
    if (/^v(1\d|2[0-3])\./.test(version)) return { path, version }
  }
  return undefined
}

describe('the installed package', () => {
  test('npm installs it from its tarball with its dependencies, and no development packages', (t) => {
    if (!installedByNpm)
      return t.skip('the registry cannot be reached; the other tests link the packages of the checkout')
    const lock = JSON.parse(readFileSync(join(consumer, 'package-lock.json'), 'utf8'))
    const names = Object.keys(lock.packages).map((path) => path.replace('node_modules/', ''))
    for (const name of ['tireless', 'commander', 'hono', 'yaml', 'zod', '@ai-sdk/openai-compatible'])
      assert.ok(names.includes(name), name)
    assert.ok(!names.some((name) => /^node-|typescript|biome/.test(name)))
  })

  test('npx tireless runs a task, stores it in the home, and keeps a private compile cache', async () => {
    const task = 'Create hello.md with the text "Good morning". Then show hello.md.'
    const done = await run('npx', 'tireless', 'run', task, '--json')
    assert.equal(done.exit, 0, done.stderr)
    const { status, answer, workspace } = JSON.parse(done.stdout)
    assert.equal(status, 'done')
    assert.match(answer, /Good morning/)
    assert.ok(workspace.startsWith(join(home, '.tireless')))
    assert.equal(readFileSync(join(workspace, 'hello.md'), 'utf8'), 'Good morning')
    assert.doesNotMatch(done.stderr, /Warning/)
    const queue = JSON.parse(await runOrFail('npx', 'tireless', 'queue', 'list', '--json'))
    assert.deepEqual(
      queue.items.map((item: { status: string }) => item.status),
      ['done'],
    )
    const cache = join(home, '.cache', 'tireless', 'compiled')
    assert.equal(statSync(cache).mode & 0o777, 0o700)
    assert.ok(globSync('**', { cwd: cache }).length > 10)
  })

  test('a compile cache that others may write to is not used, and commands still work', async () => {
    const cache = join(home, '.cache', 'tireless', 'compiled')
    rmSync(cache, { recursive: true, force: true })
    mkdirSync(cache, { recursive: true })
    chmodSync(cache, 0o777)
    assert.equal((await run('npx', 'tireless', 'fly')).exit, 2)
    assert.equal((await run('npx', 'tireless', 'queue', 'show', 'nobody')).exit, 1)
    assert.deepEqual(readdirSync(cache), [])
  })

  test('serves the page with all of its assets', async () => {
    writeFileSync(join(consumer, 'page.js'), PAGE_PROGRAM)
    assert.match(
      await runOrFail(process.execPath, 'page.js'),
      /^200 text\/html.*\n(200 text\/(javascript|css).*immutable\n)+$/,
    )
  })

  test('works as a library: createApp, definePlugin, defineTool, runTask, and tireless/testing', async () => {
    writeFileSync(join(consumer, 'program.js'), LIBRARY_PROGRAM)
    assert.equal(await runOrFail(process.execPath, 'program.js'), 'done good morning []\n')
  })

  test('has types that compile under strict options, as do the programs in the documents', async () => {
    const programs: Record<string, string> = { 'consumer.ts': TYPED_PROGRAM, ...documentedPrograms() }
    assert.ok('README.md-2.ts' in programs)
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(consumer, name), text)
    const options = {
      ...{ module: 'nodenext', target: 'es2024', lib: ['es2024'], strict: true, noEmit: true, skipLibCheck: false },
      ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, verbatimModuleSyntax: true },
    }
    const compile = async (files: readonly string[], compilerOptions: object): Promise<void> => {
      writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      await runOrFail(process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json')
    }
    await compile(Object.keys(programs), options)
    // As a user begins: with the compiler's defaults.
    await compile(['consumer.ts'], { module: 'nodenext', strict: true, noEmit: true })
  })
})
