/**
 * npm run bench -- engine|kernel|sandbox|injection [--quick] [--data DIR]
 *
 * Measures ours and the peers side by side in one run, prints one table of ratios, and leaves it in bench/results as JSON and, where there is
 * something to draw, as a plot. Figures of two machines, or of two runs, are not to be compared; ratios are. `injection` counts instead: what
 * attacks of public data sets come to, and what it costs whoever means well. `--data`: where that data lies.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { measureEngine } from './engine.ts'
import { DATA } from './injection/data.ts'
import { measureInjection } from './injection/injection.ts'
import { injectionReport } from './injection/report.ts'
import { measureKernel } from './kernel/kernel.ts'
import { kernelReport } from './kernel/report.ts'
import { ensurePeers } from './peers/install.ts'
import { plot } from './plot.ts'
import { report } from './report.ts'
import { measureSandbox, sandboxReport } from './sandbox/sandbox.ts'

const USAGE = 'usage: npm run bench -- engine|kernel|sandbox|injection [--quick] [--data DIR]'
const RESULTS = join(import.meta.dirname, 'results')

const say = (line: string): void => console.error(line)

/** Gone with the process. Not in the system's folder for temporary files: that may be memory, where nothing is ever synced. */
function freshFolder(): string {
  mkdirSync(RESULTS, { recursive: true })
  const folder = mkdtempSync(join(RESULTS, 'run-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  return folder
}

async function kernel(quick: boolean): Promise<number> {
  const results = await measureKernel({ quick, folder: freshFolder(), say })
  const json = join(RESULTS, 'kernel.json')
  writeFileSync(json, `${JSON.stringify(results, undefined, 2)}\n`)
  console.log(`\n${kernelReport(results)}\n\n${relative('', json)}`)
  return 0
}

/** Exit 1: a bar is not met. */
async function injection(quick: boolean, data: string): Promise<number> {
  const results = await measureInjection({ quick, folder: freshFolder(), data, say })
  const json = join(RESULTS, 'injection.json')
  writeFileSync(json, `${JSON.stringify(results, undefined, 2)}\n`)
  console.log(`\n${injectionReport(results)}\n\n${relative('', json)}`)
  return results.bars.some(({ pass }) => pass === false) ? 1 : 0
}

async function engine(quick: boolean): Promise<number> {
  const missing = ensurePeers(say)
  if (missing) say(`without the peers: ${missing}`)
  const results = await measureEngine({ quick, folder: freshFolder(), withoutPeers: missing !== undefined, say })
  const [json, picture] = [join(RESULTS, 'engine.json'), join(RESULTS, 'engine.svg')]
  writeFileSync(json, `${JSON.stringify(results, undefined, 2)}\n`)
  writeFileSync(picture, plot(results))
  console.log(`\n${report(results)}\n\n${relative('', json)}\n${relative('', picture)}`)
  return missing ? 1 : 0
}

async function sandbox(quick: boolean): Promise<number> {
  const results = await measureSandbox({ quick, folder: freshFolder(), say })
  const json = join(RESULTS, 'sandbox.json')
  writeFileSync(json, `${JSON.stringify(results, undefined, 2)}\n`)
  console.log(`\n${sandboxReport(results)}\n\n${relative('', json)}`)
  return 0
}

async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { quick: { type: 'boolean', default: false }, data: { type: 'string', default: DATA } },
      allowPositionals: true,
    })
    const [suite] = positionals
    if (positionals.length === 1 && suite === 'engine') return await engine(values.quick)
    if (positionals.length === 1 && suite === 'kernel') return await kernel(values.quick)
    if (positionals.length === 1 && suite === 'sandbox') return await sandbox(values.quick)
    if (positionals.length === 1 && suite === 'injection') return await injection(values.quick, values.data)
    console.error(USAGE)
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error)) throw error
    console.error(`${error.message}\n${USAGE}`)
  }
  return 2
}

process.exitCode = await main(process.argv.slice(2))
