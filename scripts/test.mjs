// The test command: types, lint and all test files, or only the files that are named. A few files of a folder run one
// after the other in one process with an empty home, because loading and compiling the sources costs more than most
// tests. A named file has a process of its own; so has one that changes its process.
//
//   node scripts/test.mjs [--long] [--sources] [--lanes N] [--results FILE] [FILE or GLOB]...
//
// Without names it leaves out the long ones (long-tests.mjs); --long runs only those. --sources: tests start the
// program from its sources, not the bundle. --results: also writes a line of JSON per process.
// Prints a line per process (without a terminal only if something failed) with the beginning of each failure, then
// all failures in full, the notes and the skipped tests; the last line is `N passed, N failed`. Types, types of the
// page and lint count as one test each. A run without tests fails. (`run()` of node:test is not used: it
// delays a file's results until all earlier files are done, and cannot end a file that hangs.)

import { spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  appendFileSync,
  chmodSync,
  constants,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, styleText } from 'node:util'
import { bundledMain } from './bundle-stamp.mjs'
import { LONG_TESTS } from './long-tests.mjs'

/** `npm run crash` kills at every point, which takes longer than any file of `npm test`. */
const FILE_LIMIT_MS = process.env.CRASH_SWEEP === 'full' ? 3_600_000 : 300_000
/** A process outside the group may keep a pipe open; its output is awaited for this time. */
const PIPE_LIMIT_MS = 2_000
const FILES_AT_ONCE = 8
const BEGINNING_LINES = 12
/** Hooks of a whole file, which would apply to all files, and changes of the process or its environment. */
const CHANGES_PROCESS = new RegExp(
  [
    /^(before|after)(Each)?\(/,
    /\bprocess\.(chdir|umask|exitCode|setuid)\b/,
    /\bactAsUser\b/,
    /\bprocess\.env(\.\w+|\[.*\]) = /,
    /\bdelete process\.env\b/,
    /\bmock\.(timers|method|module)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'm',
)
const MIN_MEMORY_BYTES = 4 * 1024 ** 3
/** Not in deeper folders of bench, because the peers contain their own tests. */
const PATTERNS = ['test/**/*.test.ts', 'src/**/*.test.ts', 'bench/*.test.ts', 'bench/*/*.test.ts']
/** Variables of a developer's machine that tests must not see: keys, providers, other homes, git hooks. */
const PRIVATE =
  /^(TIRELESS|GIT|XDG|npm|LC)_|_(API_KEY|BASE_URL)$|^(NO_COLOR|FORCE_COLOR|NODE_USE_ENV_PROXY|NODE_TEST_CONTEXT)$/

const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    sources: { type: 'boolean', default: false },
    // More than the cores, because many files wait for timers and processes.
    lanes: { type: 'string', default: String(availableParallelism() + 2) },
    results: { type: 'string' },
  },
})

const root = fileURLToPath(new URL('..', import.meta.url))
const reporter = fileURLToPath(new URL('reporter.mjs', import.meta.url))
const scratch = mkdtempSync(join(scratchFolder(), 'tireless-'))
// Some tests work as another user, who must reach their files.
chmodSync(scratch, 0o755)
const running = new Set()
/** The set-up has made it. */
let bundled

/**
 * In memory, where there is room: the tests sync thousands of files, and wait for a slow disk longer than they compute.
 * A `TMPDIR` of the developer counts more.
 */
function scratchFolder() {
  const memory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(memory)
    accessSync(memory, constants.W_OK)
    if (process.env.TMPDIR === undefined && bavail * bsize > MIN_MEMORY_BYTES) return memory
  } catch {
    // Not on this system.
  }
  return tmpdir()
}

/** A job returns `{ title, passed, failures: [{name, detail}], skipped: [{name, reason}], notes, ms }`. */
const TSC = 'node_modules/typescript/bin/tsc'
const types = () => runCheck('types', [TSC, '-p', '.'])
/** The page uses the types of a browser, not of Node. */
const webTypes = () => runCheck('types of the page', [TSC, '-p', 'web'])
const lint = () => runCheck('lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'])

async function runCheck(title, args) {
  const { code, output, ms } = await node(args, process.env)
  const failures = code === 0 ? [] : [{ name: title, detail: output.trim() }]
  return { title, passed: code === 0 ? 1 : 0, failures, skipped: [], notes: [], ms }
}

async function testFiles(files, index) {
  const folder = join(scratch, String(index))
  const events = join(folder, 'events')
  for (const name of ['home', 'tmp']) mkdirSync(join(folder, name), { recursive: true })
  const reporting = ['--test-reporter', reporter, '--test-reporter-destination', events]
  const limit = `--test-timeout=${FILE_LIMIT_MS}`
  const together = files.length === 1 ? [] : ['--test', '--test-isolation=none', limit]
  const flags = ['--disable-warning=ExperimentalWarning', ...reporting, ...together]
  const { code, output, ms } = await node([...flags, ...files], environment(folder), files.length)
  const results = readEvents(events)
  // Of several files, one without tests counts as a test with the name of the file.
  const isEmpty = ({ kind, name, file }) => kind === 'passed' && name === file
  const empty = results.length === 0 ? files.slice(0, 1) : results.filter(isEmpty).map(({ file }) => file)
  const tests = results.filter(({ file }) => !empty.includes(file))
  const of = (kind) => tests.filter((event) => event.kind === kind)
  const failures = of('failed')
  const title = files.length === 1 ? files[0] : `${dirname(files[0])} (${files.length} files)`
  if (code !== 0 && failures.length === 0)
    failures.push({ file: results.at(-1)?.file ?? title, name: 'the file itself', detail: `ended with ${code}` })
  else for (const file of empty) failures.push({ file, name: 'the file itself', detail: 'has no test' })
  if (failures.length > 0 && output.trim() !== '') failures.at(-1).detail += `\n\noutput of the file:\n${output.trim()}`
  // After a kill of the file, a server that it started may still write there for a moment.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  const notes = of('note').map(({ detail }) => detail)
  const names = of('passed').map(({ name }) => name)
  return { title, passed: names.length, failures, skipped: of('skipped'), notes, ms, names, folder }
}

/** The last line may be incomplete after a kill. */
function readEvents(path) {
  const lines = readFileSync(path, { encoding: 'utf8', flag: 'a+' }).split('\n')
  return lines.slice(0, -1).map((line) => JSON.parse(line))
}

function environment(folder) {
  const home = join(folder, 'home')
  const kept = Object.entries(process.env).filter(([name]) => !PRIVATE.test(name))
  const cache = join(root, 'node_modules', '.cache', 'compile')
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    TMPDIR: join(folder, 'tmp'),
    TIRELESS_HOME: join(home, '.tireless'),
    LANG: 'C.UTF-8',
    // Prevents the detection of a model server on this machine.
    TIRELESS_MODEL: 'offline/rules',
    NODE_COMPILE_CACHE: cache,
    BUNDLED_MAIN: bundled,
  }
}

/** Uses a separate process group, so that the processes of a hanging file are killed with it. */
function node(args, env, files = 1) {
  return new Promise((done) => {
    const began = performance.now()
    let output = ''
    const child = spawn(process.execPath, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    const limitMs = FILE_LIMIT_MS * files
    const limit = setTimeout(() => {
      output += `\nkilled: not done after ${limitMs / 60_000} minutes`
      killGroup(child)
    }, limitMs)
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('exit', (code, signal) => {
      clearTimeout(limit)
      killGroup(child)
      running.delete(child)
      const end = () => done({ code: signal ?? code, output, ms: performance.now() - began })
      child.on('close', end)
      setTimeout(end, PIPE_LIMIT_MS).unref()
    })
  })
}

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group has already ended.
  }
}

async function inParallel(jobs, width, onDone) {
  const waiting = [...jobs]
  const worker = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) onDone(await job())
  }
  await Promise.all(Array.from({ length: width }, worker))
}

const paint = (style, text) => styleText(style, text, { stream: process.stdout })

function line({ title, passed, failures, skipped, ms }) {
  // Logs of continuous integration are often cut, so failures must not follow hundreds of lines of progress.
  if (!process.stdout.isTTY && failures.length === 0) return
  const mark = failures.length > 0 ? paint('red', 'FAIL') : paint('green', 'ok  ')
  const counts = [
    `${passed}`,
    failures.length && `${failures.length} failed`,
    skipped.length && `${skipped.length} skipped`,
  ]
  console.log(`${mark} ${title}  ${counts.filter(Boolean).join(', ')}  ${paint('dim', `${(ms / 1000).toFixed(1)} s`)}`)
  for (const failure of failures) printFailure(title, failure, BEGINNING_LINES)
}

function printFailure(title, { file = title, name, detail }, maxLines = Infinity) {
  const text = detail.split('\n').slice(0, maxLines).join('\n')
  console.log(`\n${paint('red', 'FAIL')} ${file} › ${name}\n${indented(text)}`)
}

function printSummary(results) {
  for (const { title, failures } of results) for (const failure of failures) printFailure(title, failure)
  for (const { title, notes } of results) for (const note of notes) console.log(`${title}: ${note}`)
  const skipped = results.flatMap((result) => result.skipped)
  if (skipped.length > 0) console.log('')
  for (const { file, name, detail } of skipped) console.log(`skipped ${file} › ${name}: ${detail}`)
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  const failed = results.reduce((sum, result) => sum + result.failures.length, 0)
  console.log(`\n${passed} passed, ${failed} failed`)
  return failed
}

const indented = (text) => text.replace(/^(?=.)/gm, '  ')

function findFiles() {
  if (options.long) return LONG_TESTS
  const isChosen = patterns.length > 0
  const matching = (isChosen ? patterns : PATTERNS).flatMap((pattern) => globSync(pattern, { cwd: root }).sort())
  const found = matching.map((file) => file.replaceAll(sep, '/'))
  return isChosen ? found : found.filter((file) => !LONG_TESTS.includes(file))
}

function report(result) {
  line(result)
  if (options.results !== undefined) appendFileSync(options.results, `${JSON.stringify(result)}\n`)
}

/** Contract: the files in groups of those that share a process. */
function sharingProcess(files) {
  const groups = []
  for (const file of files) {
    const group = groups.at(-1)
    const isAlone = CHANGES_PROCESS.test(readFileSync(join(root, file), 'utf8'))
    const fits = group && !group.isAlone && !isAlone && group.files.length < FILES_AT_ONCE
    if (fits && dirname(group.files[0]) === dirname(file)) group.files.push(file)
    else groups.push({ files: [file], isAlone })
  }
  return groups.map(({ files: together }) => together)
}

async function main() {
  const programs = ['strace', 'chromium', 'chromium-headless-shell', 'bubblewrap', 'pgbouncer']
  spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs'), ...programs.flatMap((name) => ['--system', name])], {
    stdio: 'inherit',
  })
  bundled = options.sources ? undefined : bundledMain()
  const files = findFiles()
  const isChosen = options.long || patterns.length > 0
  const groups = isChosen ? files.map((file) => [file]) : sharingProcess(files)
  const checks = isChosen ? [] : [types, ...(existsSync(join(root, 'web')) ? [webTypes] : []), lint]
  const results = []
  await inParallel(
    [...checks, ...groups.map((group, i) => () => testFiles(group, i))],
    Number(options.lanes),
    (result) => {
      results.push(result)
      report(result)
    },
  )
  if (files.length === 0)
    results.push({
      title: 'tests',
      passed: 0,
      failures: [{ name: 'files', detail: 'none found' }],
      skipped: [],
      notes: [],
    })
  return printSummary(results) === 0 ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const child of running) killGroup(child)
    process.exit(1)
  })
}
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
process.exitCode = await main()
