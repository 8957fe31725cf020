/**
 * npm run bench -- engine|kernel|queue|http|sandbox|waiting|residents|viewers|injection [--quick|--smoke]
 * [--out DIR] [--data DIR] [--profile DIR], npm run bench -- compare|baseline RESULT.json [--baseline FILE]
 *
 * Measures Tireless and its peers in one run, prints a table, and writes the results to bench/results as JSON, some
 * also as a plot. Times of different machines or runs cannot be compared; ratios can: `compare` compares the ratios of
 * a run with the stored baseline, `baseline` stores them. `injection` counts instead: successful attacks, and questions
 * in ordinary tasks. `--data`: folder of the public attack data. `--profile`: folder for CPU profiles of the kernel
 * (`http`). `--smoke`: runs a suite in seconds, without meaningful times.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { TirelessError } from '../src/domain/error.ts'
import { BASELINE, compareWithBaseline, storeBaseline } from './compare.ts'
import { ensurePeers, hasPeers } from './peers/install.ts'
import type { Scale, SuiteOptions, SuiteResults } from './suite.ts'

const USAGE = `usage: npm run bench -- engine|kernel|queue|http|sandbox|waiting|residents|viewers|injection
                           [--quick|--smoke] [--out DIR] [--data DIR] [--profile DIR]
       npm run bench -- compare|baseline RESULT.json [--baseline FILE]`

interface Outcome {
  readonly results: SuiteResults
  readonly text: string
  readonly picture?: string
  /** Why the run failed although it completed. */
  readonly failure?: string | undefined
}

interface MainOptions extends SuiteOptions {
  readonly data: string
  readonly profile: string | undefined
}

/** Each suite loads its own code, so that a broken suite does not affect the others. */
const SUITES: Readonly<Record<string, (options: MainOptions) => Promise<Outcome>>> = {
  async engine(options) {
    const [{ measureEngine }, { plot }, { report }] = await Promise.all([
      import('./engine.ts'),
      import('./plot.ts'),
      import('./report.ts'),
    ])
    const missing = missingPeers(options)
    if (missing) options.say(`without peers: ${missing}`)
    const results = await measureEngine({ ...options, withoutPeers: missing !== undefined })
    const failure = options.scale === 'smoke' ? undefined : missing
    return { results, text: report(results), picture: plot(results), failure }
  },
  async kernel(options) {
    const [{ measureKernel }, { kernelReport }] = await Promise.all([
      import('./kernel/kernel.ts'),
      import('./kernel/report.ts'),
    ])
    const results = await measureKernel(options)
    return { results, text: kernelReport(results) }
  },
  async queue(options) {
    const [{ measureQueue }, { queueReport }] = await Promise.all([
      import('./queue/queue.ts'),
      import('./queue/report.ts'),
    ])
    const missing = missingPeers(options)
    if (missing) options.say(`without peers: ${missing}`)
    const results = await measureQueue({ ...options, withoutPeers: missing !== undefined })
    return { results, text: queueReport(results), failure: options.scale === 'smoke' ? undefined : missing }
  },
  async http(options) {
    const [{ measureHttp }, { httpReport }] = await Promise.all([import('./http/http.ts'), import('./http/report.ts')])
    const results = await measureHttp(options)
    return { results, text: httpReport(results) }
  },
  async sandbox(options) {
    const { measureSandbox, sandboxReport } = await import('./sandbox/sandbox.ts')
    const results = await measureSandbox(options)
    return { results, text: sandboxReport(results) }
  },
  async waiting(options) {
    const { measureWaiting, waitingReport } = await import('./waiting/waiting.ts')
    const results = await measureWaiting(options)
    return { results, text: waitingReport(results), failure: failureOf(results) }
  },
  async residents(options) {
    const { measureResidents, residentsReport } = await import('./residents/residents.ts')
    const results = await measureResidents(options)
    return { results, text: residentsReport(results), failure: failureOf(results) }
  },
  async viewers(options) {
    const { measureViewers, viewersReport } = await import('./viewers/viewers.ts')
    const results = await measureViewers(options)
    return { results, text: viewersReport(results), failure: failureOf(results) }
  },
  async injection(options) {
    const [{ measureInjection }, { injectionReport }] = await Promise.all([
      import('./injection/injection.ts'),
      import('./injection/report.ts'),
    ])
    const results = await measureInjection(options)
    const missed = results.bars.filter(({ pass }) => pass === false).map(({ what }) => what)
    const failure = missed.length === 0 ? undefined : `not met: ${missed.join('; ')}`
    return { results, text: injectionReport(results), failure }
  },
}

/** In a smoke run only bars that count are left. */
function failureOf({ scale, bars }: SuiteResults): string | undefined {
  const missed = scale === 'smoke' ? bars.filter(({ pass }) => pass === false) : []
  return missed.length === 0 ? undefined : `not met: ${missed.map(({ what }) => what).join('; ')}`
}

/** A smoke run uses installed peers and installs none. */
function missingPeers({ scale, say }: SuiteOptions): string | undefined {
  if (scale !== 'smoke') return ensurePeers(say)
  return hasPeers()
    ? undefined
    : 'they are not installed, and a smoke run does not install them; run: npm run bench -- engine --quick'
}

const say = (line: string): void => console.error(line)

/** Removed when the process exits. Not in the system's temporary folder, which may be in memory and never synced. */
function freshFolder(parent: string): string {
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'run-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  return folder
}

interface RunOptions {
  readonly scale: Scale
  readonly out: string
  readonly data: string
  readonly profile: string | undefined
}

/** Contract: returns 1 if the suite failed or a bar that does not depend on time is not met. */
async function runSuite(name: string, { scale, out, ...options }: RunOptions): Promise<number> {
  const measure = SUITES[name]
  if (!measure) return usage()
  const { results, text, picture, failure } = await measure({ ...options, scale, say, folder: freshFolder(out) })
  // A smoke run does not overwrite measured results.
  const file = join(out, scale === 'smoke' ? `${name}-smoke` : name)
  writeFileSync(`${file}.json`, `${JSON.stringify(results, undefined, 2)}\n`)
  if (picture !== undefined) writeFileSync(`${file}.svg`, picture)
  const files = [`${file}.json`, ...(picture === undefined ? [] : [`${file}.svg`])].map((path) => relative('', path))
  console.log(`\n${text}\n\n${files.join('\n')}`)
  if (failure !== undefined) console.error(failure)
  return failure === undefined ? 0 : 1
}

function compare(path: string, baseline: string): number {
  const { text, ok } = compareWithBaseline(path, baseline)
  console.log(text)
  return ok ? 0 : 1
}

function usage(why = ''): number {
  console.error(`${why}${USAGE}`)
  return 2
}

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  smoke: { type: 'boolean', default: false },
  out: { type: 'string', default: join(import.meta.dirname, 'results') },
  data: { type: 'string', default: join(import.meta.dirname, '../../shared/data') },
  profile: { type: 'string' },
  baseline: { type: 'string', default: BASELINE },
} as const

async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const { quick, smoke, out, data, profile, baseline } = values
    const [command = '', path, ...more] = positionals
    if (more.length > 0 || (quick && smoke)) return usage()
    if (path === undefined)
      return await runSuite(command, { scale: smoke ? 'smoke' : quick ? 'quick' : 'full', out, data, profile })
    if (command === 'compare') return compare(path, baseline)
    if (command !== 'baseline') return usage()
    console.log(`stored in ${relative('', baseline)}: ${storeBaseline(path, baseline)}`)
    return 0
  } catch (error) {
    if (error instanceof TypeError && 'code' in error) return usage(`${error.message}\n`)
    console.error(error instanceof TirelessError ? error.message : error)
    return error instanceof TirelessError && error.code === 'usage' ? 2 : 1
  }
}

process.exitCode = await main(process.argv.slice(2))
